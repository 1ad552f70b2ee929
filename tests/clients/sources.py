"""Ways in which published skills come to a folder that a client reads."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tests.clients.client import MISNAMED, Client
from tests.clients.running import Catalog
from tests.support.waiting import wait_for

NO_LINKS = "it follows no link to a folder"


class Source(ABC):
    """Way in which published skills come to a folder."""

    title: ClassVar[str]
    """Command or folder, for people."""

    @abstractmethod
    def fill(self, catalog: Catalog, wanted: Path) -> Path:
        """Return a folder with all skills: the wanted one, or another that has them already."""

    def refresh(self, catalog: Catalog, folder: Path) -> None:
        """Wait until the folder has the skills as they are now: the service keeps it."""
        wait_for(lambda: catalog.is_shown_in(folder))


class Data(Source):
    """Folder of published skills."""

    title = "`<data>/skills/`"

    def fill(self, catalog: Catalog, wanted: Path) -> Path:
        """Return the folder itself."""
        return catalog.data / "skills"


class Link(Source):
    """Links that `skilldrop link` keeps."""

    title = "`skilldrop link`"

    def fill(self, catalog: Catalog, wanted: Path) -> Path:
        """Make the links."""
        return _linked(catalog, wanted)


class Copy(Source):
    """Copies that `skilldrop link --copy` keeps."""

    title = "`skilldrop link --copy`"

    def fill(self, catalog: Catalog, wanted: Path) -> Path:
        """Make the copies."""
        return _linked(catalog, wanted, "--copy")


def _linked(catalog: Catalog, folder: Path, *options: str) -> Path:
    """Let a folder be kept, and return it as soon as it has all skills that a model may see."""
    folder.mkdir(parents=True)
    catalog.run("link", *options, "--index", "default", str(folder))
    wait_for(lambda: catalog.is_shown_in(folder))
    return folder


class Export(Source):
    """Copies that `skilldrop export` makes once."""

    title = "`skilldrop export`"

    def fill(self, catalog: Catalog, wanted: Path) -> Path:
        """Export all skills."""
        catalog.run("export", str(wanted))
        return wanted

    def refresh(self, catalog: Catalog, folder: Path) -> None:
        """Export again what has changed."""
        catalog.run("export", str(folder))


DATA, LINK, COPY, EXPORT = Data(), Link(), Copy(), Export()
KEPT: tuple[Source, ...] = (DATA, LINK, COPY)
"""Sources that stay up to date."""

ALL: tuple[Source, ...] = (*KEPT, EXPORT)


class FolderClient(Client):
    """Client that reads the skills of a folder."""

    source: ClassVar[Source]
    folder: ClassVar[str] = "skills"
    """Folder of skills in the client's home."""

    follows_links: ClassVar[bool] = True
    """Whether it loads a skill whose folder is a link to another place."""

    reads: ClassVar[str] = "the folder that it names"
    """Files whose bytes are compared, for people."""

    given: Path
    """Folder with the skills of the source."""

    @property
    def finds_nothing(self) -> bool:
        """Whether the source has only links, which it does not follow."""
        return self.source is LINK and not self.follows_links

    def install(self) -> None:
        """Fill the folder."""
        self.given = self.source.fill(self.catalog, self.home / self.folder)

    def update(self) -> None:
        """Bring the folder up to date."""
        self.source.refresh(self.catalog, self.given)

    def refused(self) -> Mapping[str, str]:
        """Return the skills that this client cannot have from its source, with the rule."""
        if self.finds_nothing:
            return dict.fromkeys(self.catalog.skills(), NO_LINKS)
        return {
            key: rule
            for key, rule in self.missing.items()
            if key not in MISNAMED or (self.given / key).exists()  # else it has the skill's name
        }


def from_each(
    client: type[FolderClient], sources: tuple[Source, ...] = KEPT
) -> tuple[type[FolderClient], ...]:
    """Return a class for a client and each source."""
    return tuple(
        type(
            f"{client.__name__}From{type(source).__name__}",
            (client,),
            {"__doc__": client.__doc__, "source": source, "route": source.title},
        )
        for source in sources
    )
