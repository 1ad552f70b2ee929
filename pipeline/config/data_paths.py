"""Paths in the data directory."""

from pathlib import Path
from typing import TYPE_CHECKING

from catalog.usage import database as usage_database

DATA = Path("var")
"""Data directory, by default."""


def real_path(path: str | Path) -> Path:
    """Return the real path, which a later change of directory does not affect.

    Raises RuntimeError for an unknown user, or a loop of links.
    """
    return Path(path).expanduser().resolve()


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
        """Folder of links to the skills, which agents can be pointed at."""
        return self.data / "skills"
