"""Settings that scans need, without the library that validates settings.

Most catalogs are scanned with no other settings than their directories, and a scan that finds
nothing new takes little longer than the import of the models of all settings.
"""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from catalog.model.quota import Quota
from catalog.model.selection import LinkedDirectory
from catalog.model.skill import RootSpec
from catalog.prompt_index.builder import IndexSpec
from catalog.prompt_index.history import USUAL, IndexRetention
from catalog.writing.retention import HistoryRetention, Retention
from pipeline.config.data_paths import DATA, DataPaths
from pipeline.roots.local.folder import Limits
from pipeline.validation import defaults

if TYPE_CHECKING:
    from pipeline.hooks.hook import Hook
    from pipeline.mirrors.mirror import Mirror

WATCHED = Path("watched")
"""Only root, by default."""
VERSIONS_PER_HOUR = 120
"""Most versions of a skill in an hour, by default."""
QUOTA = Quota(VERSIONS_PER_HOUR, free_bytes=512 * 2**20)
"""Limits of publication, by default."""
Publish: TypeAlias = Literal["copy", "in-place"]


class ScanSettings(DataPaths):
    """Settings that scans need: the defaults, which `Settings` overrides with the given ones."""

    if TYPE_CHECKING:  # fields of the subclasses
        watched: Path
        publish: Publish
        settle_quiet: float
        settle_longest: float

    @property
    def mirrors_folder(self) -> Path:
        """Folder of the mirrors of repositories."""
        return self.data / "mirrors"

    @property
    def outcomes_folder(self) -> Path:
        """Folder where runtimes put outcome files."""
        return self.data / "outcomes"

    @property
    def root_specs(self) -> tuple[RootSpec, ...]:
        """Roots in their order; without `[[roots]]` only `watched`."""
        return (RootSpec(str(self.watched), profiles=defaults.PROFILES),)

    @property
    def git_roots(self) -> "tuple[tuple[Mirror, float], ...]":
        """Mirrors of the roots that are repositories, with the seconds between two pulls."""
        return ()

    @property
    def index_specs(self) -> tuple[IndexSpec, ...]:
        """Indexes in their order."""
        return (IndexSpec(),)

    @property
    def active_hooks(self) -> "tuple[Hook, ...]":
        """Hooks in their order."""
        return ()

    @property
    def linked_directories(self) -> tuple[LinkedDirectory, ...]:
        """Further directories of skills."""
        return ()

    @property
    def folder_limits(self) -> Limits:
        """Limits of each skill folder."""
        return Limits()

    @property
    def quota(self) -> Quota:
        """Limits of publication."""
        return QUOTA

    @property
    def history_retention(self) -> HistoryRetention:
        """Retention of history rows."""
        return HistoryRetention()

    @property
    def package_retention(self) -> Retention:
        """Retention of published versions."""
        return Retention()

    @property
    def shares_files(self) -> bool:
        """Whether versions share equal files by hard links."""
        return False

    @property
    def index_retention(self) -> IndexRetention:
        """Retention of index publications."""
        return USUAL

    def check_apart(self) -> None:
        """Raise ValueError if directories lie inside one another."""
        roots = [Path(root.path).resolve() for root in self.root_specs if not root.origin]
        for one, other in combinations(roots, 2):
            if one == other:
                raise ValueError(f"the root {one} is configured twice; remove one of them")
            if inner := _inner(one, other):
                raise ValueError(
                    f"the root {inner} is inside another root; keep only one of {one} and {other}"
                )
        for root in roots:
            if _inner(root, self.data):
                raise ValueError(
                    f"the data directory {self.data} and the root {root} are inside "
                    "one another; move the data directory elsewhere"
                )
            if _inner(root, self.outcomes_folder):
                raise ValueError(
                    f"the outcomes directory {self.outcomes_folder} and the root {root} are "
                    "inside one another; move the outcomes directory elsewhere"
                )

    def check_link(self, link: LinkedDirectory) -> None:
        """Raise ValueError if these settings do not allow links in a directory."""
        path = Path(link.path)
        if self.publish == "in-place":
            raise ValueError(
                f"{path} can have no skills with publish = in-place, which publishes none; set "
                "publish to copy"
            )
        if _inner(path, self.data):
            raise ValueError(
                f"the directory of links {path} and the data directory {self.data} are "
                "inside one another; agents can be pointed at "
                f"{self.skills_folder} without [[links]]"
            )
        for root in self.root_specs:
            if _inner(path, Path(root.path).resolve()):
                raise ValueError(
                    f"the directory of links {path} and the root {root.path} are inside "
                    "one another; a scan would find each skill twice"
                )
        names = [index.name for index in self.index_specs]
        if link.index is not None and link.index not in names:
            raise ValueError(
                f"the links in {path} have the filter of the index {link.index}, but the "
                f"indexes are: {', '.join(names)}"
            )


@dataclass(frozen=True)
class UsualSettings(ScanSettings):
    """Settings that are all at their defaults but for directories."""

    watched: Path = WATCHED
    data: Path = DATA
    usage: bool = True
    publish: Publish = "copy"
    settle_quiet: float = 1.0
    settle_longest: float = 300.0


def _inner(one: Path, other: Path) -> Path | None:
    """Return the directory that equals or lies inside the other one; None if they are disjoint."""
    if one.is_relative_to(other):
        return one
    return other if other.is_relative_to(one) else None
