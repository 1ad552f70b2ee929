"""Conversion of a folder in an older layout: the values that a dialect's plan takes and returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from catalog.model.finding import Finding


@dataclass(frozen=True, slots=True)
class Old:
    """What a folder holds, as far as it decides what is to be done."""

    folder: str  # its name
    document: str  # SKILL.md, or the variant that was found
    skill_md: bytes
    files: frozenset[str]  # paths
    folders: frozenset[str]  # names of the folders directly in it
    texts: Mapping[str, str]  # of the files that the conversion reads, where there is one


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done; nothing where the folder is a package already, or cannot become one."""

    steps: tuple[str, ...] = ()  # in words, in order
    moves: Mapping[str, str] = field(default_factory=dict)  # path → path
    writes: Mapping[str, bytes] = field(default_factory=dict)  # path → content, after the moves
    folders: tuple[str, ...] = ()  # to be made
    findings: tuple[Finding, ...] = ()
    refused: bool = False

    @property
    def changes_something(self) -> bool:
        """Whether a step does more than to say why something stays."""
        return bool(self.moves or self.writes or self.folders)


@dataclass(frozen=True, slots=True)
class Conversion:
    """How older layouts become packages of a dialect."""

    reads: frozenset[str]  # paths of the files, beside SKILL.md, whose text the plan needs
    plan: Callable[[Old], Plan]  # never raises; of its own result it changes nothing


NO_OLDER_LAYOUTS = Conversion(frozenset(), lambda _: Plan())
