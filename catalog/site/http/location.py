"""Locations of the catalog, its packages and its published indexes."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from datasette.database import Database
from datasette.utils import tilde_encode

from catalog.database import schema_version
from catalog.site.http.quick_reader import QuickReader
from catalog.site.http.slots import Slots
from catalog.usage import database as usage_database
from catalog.usage.counter import ReadCounter

PLUGIN = "skilldrop"
"""Name of the site in Datasette's plugin configuration."""


@dataclass(frozen=True, slots=True)
class CatalogLocation:
    """Served catalog, with its folders and the limits on costly requests."""

    database: Database
    quick: QuickReader
    packages: Path
    indexes: Path
    archives: Slots = field(default_factory=lambda: Slots(2, 5))
    """Limit on large archives, each of which is a file while it is sent."""
    hashing: Slots = field(default_factory=lambda: Slots(1, 60))
    """Limit on hashing archives; the first request hashes all of them."""
    tables: Slots = field(default_factory=lambda: Slots(2, 5))
    """Limit on tables and queries, which may keep a thread busy for seconds."""
    archive_hashes: dict[str, str] = field(default_factory=dict)
    """SHA-256 of archives, by the digest of the skill, which determines it."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Reasons for leaving skills out of the discovery index, by skill_id; each is logged once."""
    header: list[Any] = field(default_factory=list)
    """Health in the header of pages, with the time it was looked up; see `header_health`."""
    counter: ReadCounter | None = None
    """Counter of reads; None if this site does not count them."""
    built_indexes: dict[Hashable, Any] = field(default_factory=dict)
    """Prompt indexes with locations on the site, by their settings; the last used is the last."""

    @property
    def catalog(self) -> Path:
        """The catalog's file."""
        return Path(self.database.path)


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


def below(datasette: Any, path: str) -> str | None:
    """Return the part of a path below the catalog, such as a table; None for other paths."""
    location = find(datasette)
    database, _, rest = path.removeprefix(datasette.setting("base_url")).strip("/").partition("/")
    return rest if location and is_catalog(location, database) else None


def is_catalog(location: CatalogLocation, name: str) -> bool:
    """Whether a name in a path is that of the catalog; other spellings are redirected before."""
    return bool(name == tilde_encode(location.database.name))


def path(datasette: Any, scope: Any) -> str:
    """Return the path of a request as routes see it: raw, and without the prefix of a proxy."""
    raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    base = datasette.setting("base_url")
    return f"/{raw[len(base) :]}" if base != "/" and raw.startswith(base) else str(raw)


_LOCATIONS: WeakKeyDictionary[Any, CatalogLocation] = WeakKeyDictionary()


def _search(datasette: Any) -> CatalogLocation | None:
    config = datasette.plugin_config(PLUGIN) or {}
    for name, database in datasette.databases.items():
        if name == config.get("database", name) and _is_catalog(database):
            file = Path(database.path).absolute()
            return CatalogLocation(
                database,
                QuickReader(database),
                Path(config.get("packages", file.with_name("packages"))),
                Path(config.get("indexes", file.with_name("index"))),
                counter=ReadCounter(usage_database.path_of(file))
                if config.get("count_reads", False)
                else None,
            )
    return None


def setting(datasette: Any, key: str, default: Any) -> Any:
    """Return a setting of the site in Datasette's plugin configuration."""
    return (datasette.plugin_config(PLUGIN) or {}).get(key, default)


def _is_catalog(database: Database) -> bool:
    """Check the application id in the file's header, without opening it as a database."""
    if database.is_memory or not database.path:
        return False
    try:
        with open(database.path, "rb") as file:
            return file.read(72)[68:] == schema_version.APPLICATION_ID.to_bytes(4)
    except OSError:
        return False
