"""Conversion of a folder in an older layout: input and result of a dialect's plan."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from catalog.model.finding import Finding


@dataclass(frozen=True, slots=True)
class OldLayout:
    """Content of a folder, as far as the plan depends on it."""

    folder: str  # its name
    document: str  # SKILL.md, or the variant that was found
    skill_md: bytes
    files: frozenset[str]  # paths
    folders: frozenset[str]  # names of the folders directly in it
    texts: Mapping[str, str]  # by the paths of the files that the conversion reads, if present


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned changes; none if the folder is a package already or cannot become one."""

    steps: tuple[str, ...] = ()  # described in words, in order
    moves: Mapping[str, str] = field(default_factory=dict)  # path → path
    writes: Mapping[str, bytes] = field(default_factory=dict)  # path → content, after the moves
    folders: tuple[str, ...] = ()  # to create
    findings: tuple[Finding, ...] = ()
    refused: bool = False

    @property
    def changes_something(self) -> bool:
        """Whether a step changes files, rather than only explain why something stays."""
        return bool(self.moves or self.writes or self.folders)


@dataclass(frozen=True, slots=True)
class Conversion:
    """Conversion of older layouts to packages of a dialect."""

    reads: frozenset[str]  # paths of the files, beside SKILL.md, whose text the plan needs
    stand_ins: frozenset[str]  # names of the files of which one alone may stand for SKILL.md
    plan: Callable[[OldLayout], Plan]  # never raises; its plan for a converted folder is empty


NO_OLDER_LAYOUTS = Conversion(frozenset(), frozenset(), lambda _: Plan())
