"""Catalog among the databases of Datasette, and questions to Datasette 0.65 and 1.0 alike."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from datasette.utils import tilde_decode

from catalog.database.connection import is_ours
from catalog.usage import database as usage_database
from catalog.usage.database import ReadCounter

PLUGIN = "skilldrop"
"""Name of the site in Datasette's plugin configuration."""


@dataclass(frozen=True, slots=True)
class CatalogLocation:
    """Served catalog, with its folders."""

    database: Any  # of Datasette
    packages: Path
    indexes: Path
    counter: ReadCounter | None = None
    """Counter of reads; None if this site does not count them."""
    archive_hashes: dict[str, str] = field(default_factory=dict)
    """SHA-256 of archives by the digest of the skill, which determines it; "" where there is none.

    Without them, each installer would wait until all packages are archived again.
    """

    @property
    def catalog(self) -> Path:
        """The catalog's file."""
        return Path(self.database.path)

    def state(self) -> tuple[object, ...]:
        """Return a value that is another one after every commit, every read and every minute."""
        facts: list[object] = [int(time.time() / 60)]
        for file in (self.catalog, usage_database.path_of(self.catalog)):
            for path in (f"{file}", f"{file}-wal"):
                with suppress(OSError):
                    stat = os.stat(path)
                    facts += [path, stat.st_mtime_ns, stat.st_size]
        return tuple(facts)


def find(datasette: Any) -> CatalogLocation | None:
    """Return the catalog among the served databases; None without one.

    The plugin configuration may name the `database`, and the folders `packages` and `indexes`.
    By default the folders are beside the database's file, where the service keeps them. Reads are
    counted with `count_reads`.
    """
    location = _LOCATIONS.get(datasette)
    if not location and (location := _search(datasette)):
        _LOCATIONS[datasette] = location
    return location


def table_of(datasette: Any, path: str) -> str | None:
    """Return the name of the table at a path of `path`, as Datasette decodes it.

    It is empty for the page of the catalog itself, and None outside the catalog.
    """
    location = find(datasette)
    database, _, rest = path.strip("/").partition("/")
    if not location or _decoded(database) != location.database.name:
        return None
    return _decoded(rest.partition("/")[0])


def _decoded(name: str) -> str:
    """Return a name in a path, decoded and without the format after a dot."""
    return str(tilde_decode(name.partition(".")[0]))


def path(datasette: Any, scope: Any) -> str:
    """Return the path of a request as routes see it: raw, and without the prefix of a proxy."""
    raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    base = datasette.setting("base_url")
    return f"/{raw[len(base) :]}" if base != "/" and raw.startswith(base) else str(raw)


def setting(datasette: Any, key: str, default: Any) -> Any:
    """Return a setting of the site in Datasette's plugin configuration."""
    return (datasette.plugin_config(PLUGIN) or {}).get(key, default)


_LOCATIONS: WeakKeyDictionary[Any, CatalogLocation] = WeakKeyDictionary()


def _search(datasette: Any) -> CatalogLocation | None:
    config = datasette.plugin_config(PLUGIN) or {}
    for name, database in datasette.databases.items():
        if name == config.get("database", name) and _is_catalog(database):
            file = Path(database.path).absolute()
            return CatalogLocation(
                database,
                Path(config.get("packages", file.with_name("packages"))),
                Path(config.get("indexes", file.with_name("index"))),
                counter=ReadCounter(usage_database.path_of(file))
                if config.get("count_reads", False)
                else None,
            )
    return None


def _is_catalog(database: Any) -> bool:
    """Check the application id in the file's header, without opening it as a database."""
    return not database.is_memory and bool(database.path) and is_ours(Path(database.path))


async def may_see(datasette: Any, actor: Any, database: str, query: str | None = None) -> bool:
    """Return whether an actor may see a database, or a canned query of it."""
    if hasattr(datasette, "allowed"):  # 1.0
        from datasette.resources import DatabaseResource, QueryResource

        resource = QueryResource(database, query) if query else DatabaseResource(database)
        action = "view-query" if query else "view-database"
        return bool(await datasette.allowed(action=action, resource=resource, actor=actor))
    permissions: list[Any] = [("view-database", database), "view-instance"]
    if query:
        permissions.insert(0, ("view-query", (database, query)))
    is_visible, _ = await datasette.check_visibility(actor, permissions=permissions)
    return bool(is_visible)


def queries(datasette: Any, database: str) -> dict[str, dict[str, Any]]:
    """Return the canned queries of a database as they are configured, by name."""
    if hasattr(datasette, "metadata"):
        return datasette.metadata("queries", database=database) or {}
    return _configured(datasette, database).get("queries") or {}


def main_columns(datasette: Any, database: str, table: str) -> list[str]:
    """Return the default columns of a table; empty unless they are configured."""
    if hasattr(datasette, "metadata"):
        return datasette.metadata("main_columns", database=database, table=table) or []
    tables = _configured(datasette, database).get("tables") or {}
    return (tables.get(table) or {}).get("main_columns") or []


def _configured(datasette: Any, database: str) -> dict[str, Any]:
    return (datasette.config.get("databases") or {}).get(database) or {}
