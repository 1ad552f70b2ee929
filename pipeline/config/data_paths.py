"""Paths in the data directory."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

DATA = Path("var")
"""Data directory, by default."""


def is_path(value: object) -> TypeGuard[str | Path]:
    """Return whether a value of a setting names a path."""
    return isinstance(value, str | Path) and bool(str(value))


def real_path(path: str | Path) -> Path:
    """Return the real path, which a later change of directory does not affect.

    Raises RuntimeError for an unknown user, or a loop of links.
    """
    return Path(path).expanduser().resolve()


def followed_path(path: str | Path) -> Path:
    """Return the absolute path with its links kept, because their targets may change.

    Raises RuntimeError like `real_path`.
    """
    return real_path(path) if ".." in Path(path).parts else Path(path).expanduser().absolute()


class DataPaths:
    """Paths in the data directory, for settings and for readers of the catalog alone."""

    if TYPE_CHECKING:  # fields of the subclasses, in their order
        data: Path
        usage: bool

    @property
    def catalog_path(self) -> Path:
        """Database file of the catalog."""
        return self.data / "catalog.db"

    @property
    def usage_path(self) -> Path | None:
        """Database of reads; None if they are not counted."""
        from catalog.usage import database as usage_database  # few commands need it

        return usage_database.path_of(self.catalog_path) if self.usage else None

    @property
    def tokens_path(self) -> Path:
        """File with the tokens of the site's readers."""
        from catalog.filesystem import token_file  # few commands need it

        return self.catalog_path.with_name(token_file.NAME)

    @property
    def index_folder(self) -> Path:
        """Folder of the published prompt indexes."""
        return self.data / "index"

    @property
    def packages_folder(self) -> Path:
        """Folder of the published packages."""
        return self.data / "packages"

    @property
    def skills_folder(self) -> Path:
        """Folder of the published skills, which agents are pointed at."""
        return self.data / "skills"
