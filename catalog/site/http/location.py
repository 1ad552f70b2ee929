"""Locations of the catalog, the packages and the published indexes, as the site finds them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from datasette.database import Database

from catalog.database import migrations
from catalog.site.http.slots import Slots

PLUGIN = "skilldrop"
"""Our name in Datasette's plugin configuration."""


@dataclass(frozen=True, slots=True)
class CatalogLocation:
    """One catalog as Datasette serves it, with the folders that belong to it."""

    database: Database
    packages: Path
    indexes: Path
    archives: Slots = field(default_factory=lambda: Slots(2, 5))
    """For large archives, each of which is a file while it is sent."""
    hashing: Slots = field(default_factory=lambda: Slots(1, 60))
    """For the digests of all archives, which are all made at the first request."""
    tables: Slots = field(default_factory=lambda: Slots(2, 5))
    """For tables and queries, which may keep a thread busy for seconds."""

    @property
    def catalog(self) -> Path:
        """The catalog's file."""
        return Path(self.database.path)


def find(datasette: Any) -> CatalogLocation | None:
    """Return the catalog among the databases that are served; None where there is none.

    The plugin configuration may name the `database`, and the folders `packages` and `indexes`;
    without it they are looked for beside the database's file, where the service keeps them.
    """
    found = _FOUND.get(datasette)
    if not found and (found := _look(datasette)):
        _FOUND[datasette] = found
    return found


def below(datasette: Any, path: str) -> str | None:
    """Return what of a path follows the catalog's own, such as a table; None for other paths."""
    found = find(datasette)
    database, _, rest = path.removeprefix(datasette.setting("base_url")).strip("/").partition("/")
    return rest if found and database == found.database.name else None


def path(datasette: Any, scope: Any) -> str:
    """Return the path of a request as routes see it: raw, and without the prefix of a proxy."""
    raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    base = datasette.setting("base_url")
    return f"/{raw[len(base) :]}" if base != "/" and raw.startswith(base) else str(raw)


_FOUND: WeakKeyDictionary[Any, CatalogLocation] = WeakKeyDictionary()


def _look(datasette: Any) -> CatalogLocation | None:
    said = datasette.plugin_config(PLUGIN) or {}
    for name, database in datasette.databases.items():
        if name == said.get("database", name) and _is_catalog(database):
            beside = Path(database.path).absolute().parent
            return CatalogLocation(
                database,
                Path(said.get("packages", beside / "packages")),
                Path(said.get("indexes", beside / "index")),
            )
    return None


def _is_catalog(database: Database) -> bool:
    """Tell by the application id in the header of an SQLite file, without opening it as one."""
    if database.is_memory or not database.path:
        return False
    try:
        with open(database.path, "rb") as file:
            return file.read(72)[68:] == migrations.APPLICATION_ID.to_bytes(4)
    except OSError:
        return False
