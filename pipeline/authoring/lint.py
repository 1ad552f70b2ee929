"""Validation of skill folders for their authors, without a catalog."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

from catalog.model import paths as model_paths
from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.paths import is_archive
from catalog.model.skill import Place
from catalog.model.values import Acceptance, Json
from pipeline.dialects.registry import DIALECTS, profiles_named
from pipeline.parsing.document import parse
from pipeline.roots import reader
from pipeline.roots.archives.codes import ARCHIVE_UNREADABLE
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.codes import SKILL_MD_MISSING
from pipeline.roots.local import walk as local_walk
from pipeline.roots.local.descent import Archive, LooseFinding
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.partial_read import read_partially
from pipeline.roots.local.walk import DEFAULT_LIMITS
from pipeline.roots.names import is_skill_md
from pipeline.roots.snapshot import PartialSnapshot
from pipeline.sync.engines import pool
from pipeline.validation.codes import FOLDER_UNREADABLE, INTERNAL_ERROR
from pipeline.validation.verdict import examine

log = logging.getLogger(__name__)

_TRIES = 3  # how often a folder is read that changes under our eyes
_PATHS = 256  # a tree is taken apart into so many paths, if it can be …
_PATHS_IN_A_PIECE = 16  # … which are judged by so many at once


@dataclass(frozen=True, slots=True)
class Judgement:
    """What there is to say of one skill folder, or of something that is not quite one."""

    path: str  # as the author named it; as text, like all our paths
    name: str | None  # None of what is no skill
    spec_valid: bool
    loadable: bool
    findings: tuple[Finding, ...]
    document: str | None = None  # the name of its SKILL.md …
    text: str = ""  # … and what that says, where a finding names a line of it

    def place(self, found: Finding) -> str:
        """Return the path of the file that a finding speaks of, or of the folder."""
        return self._inside(found.path)

    def file(self, found: Finding) -> str:
        """Return the path of a file even where a finding speaks of the folder: its SKILL.md."""
        return self._inside(found.path or self.document)

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "path": self.path,
            "name": self.name,
            "spec_valid": self.spec_valid,
            "loadable": self.loadable,
            "findings": [f.as_json() for f in self.findings],
        }

    def _inside(self, path: str | None) -> str:
        if not path:
            return self.path
        return path if self.path == "." else f"{self.path}/{path}"


def judge_paths(
    paths: Iterable[Path],
    *,
    acceptance: Acceptance = "lenient",
    profiles: Sequence[str] = ("spec",),
    limits: Limits = DEFAULT_LIMITS,
    cores: int | None = None,
) -> Iterator[Judgement]:
    """Return the judgement of every skill at or below the paths, each skill once.

    A path is a skill folder, a tree of them, an archive, or a SKILL.md, which stands for its
    folder without the skills inside it. They are judged while one iterates, on every core unless
    told otherwise, and come in the same order however many there are. Raises RootUnreadable for
    a path that is none of these, at once, and where one cannot be listed, when its turn comes.
    """
    targets = [_target(path) for path in paths]
    return _judgements(targets, _Judge(acceptance, tuple(profiles), limits), cores)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where to look for skills."""

    named: str  # as the author named it
    root: Path
    under: str  # relative to the root
    alone: bool  # whether only this one folder was meant

    def paths(self) -> list[str]:
        """Return paths that together are the target, so many that all cores have work."""
        if self.alone:
            return [self.under]
        return local_walk.taken_apart(self.root, [self.under], _PATHS) or [self.under]

    def found(self, path: str, limits: Limits) -> Iterator[Folder | LooseFinding]:
        if self.alone:
            folder = reader.look(self.root, path, limits)
            yield from [folder] if folder else []
            return
        for found in local_walk.walk(self.root, path, limits):
            if isinstance(found, Archive):
                yield from _in_archive(found)
            else:
                yield found

    def as_named(self, path: str) -> str:
        """Return a path below the root in the words of the author."""
        if self.under.endswith("!"):
            return f"{self.named}{path[len(self.under) - 1 :]}"
        below = path[len(self.under) :].lstrip("/")
        if self.named in (".", "/"):
            return f"{self.named}{below}".removeprefix("." if below else "")
        return f"{self.named}/{below}" if below else self.named


def _in_archive(archive: Archive) -> Iterator[Folder | LooseFinding]:
    try:
        with open_archive(archive) as folders:
            yield from folders
    except OSError as error:
        yield LooseFinding(
            archive.path,
            ARCHIVE_UNREADABLE.at(f"The archive cannot be read: {error.strerror or error}."),
        )


def _target(path: Path) -> _Target:
    alone = is_skill_md(path.name)
    if alone:
        path = path.parent
    elif not path.is_dir():
        if path.is_file() and is_archive(path.name):
            file = Path(os.path.realpath(path))
            named = model_paths.text_path(str(path))
            return _Target(named, file.parent, f"{model_paths.text_path(file.name)}!", alone)
        name = model_paths.text_path(str(path))
        raise RootUnreadable(f"{name} is neither a folder, an archive nor a SKILL.md.")
    # A skill has the name of the folder in which it really lies.
    folder, named = Path(os.path.realpath(path)), model_paths.text_path(str(path))
    if reader.is_skill_folder(folder):
        return _Target(named, folder.parent, model_paths.text_path(folder.name), alone)
    return _Target(named, folder, "", False)


_Step: TypeAlias = tuple[_Target, str]  # a target and a path in it
_Told: TypeAlias = tuple[str, Judgement | None]  # where it lies tells a skill from others


@dataclass(frozen=True, slots=True)
class _Judge:
    """How skills are judged, in whichever process."""

    acceptance: Acceptance
    profiles: tuple[str, ...]
    limits: Limits

    def each(self, steps: Sequence[_Step]) -> list[list[_Told]]:
        """Return what there is to say of what lies at each of these paths."""
        return [
            [
                (f"{target.root}/{found.path}", self._told(target, found))
                for found in target.found(path, self.limits)
            ]
            for target, path in steps
        ]

    def _told(self, target: _Target, found: Folder | LooseFinding) -> Judgement | None:
        """Judge what was found; None where it has vanished meanwhile."""
        named = target.as_named(found.path)
        if isinstance(found, LooseFinding):
            return Judgement(named, None, False, False, (found.finding,))
        current: Folder | None = found
        for _ in range(_TRIES):
            if current is None:
                return None
            if judged := self._judged(target, current, named):
                return judged
            current = reader.look(target.root, found.path, self.limits)
        restless = FOLDER_UNREADABLE.at(
            "The folder kept changing while it was read.",
            fix="Validate it again when nothing writes to it.",
        )
        return self._rejected(found, named, restless)

    def _judged(self, target: _Target, folder: Folder, named: str) -> Judgement | None:
        """Judge a folder; None where it has changed meanwhile."""
        try:
            look = read_partially(target.root, folder, self.limits)
            return self._summed_up(target, folder, look, named) if look else None
        except Exception as error:  # an internal error must not stop the other folders
            log.debug("%s", named, exc_info=True)
            bug = INTERNAL_ERROR.at(f"{type(error).__name__}: {error}")
            return self._rejected(folder, named, bug)

    def _summed_up(
        self, target: _Target, folder: Folder, look: PartialSnapshot, named: str
    ) -> Judgement:
        name = look.skill_md_name
        parsed = parse(look.skill_md, name) if name else None
        examined = examine(
            look,
            parsed,
            Place(str(target.root), folder.path, "project"),
            acceptance=self.acceptance,
            profiles=profiles_named(self.profiles),
            dialects=DIALECTS,
        )
        is_shown = parsed and any(found.line for found in examined.findings)
        return Judgement(
            named,
            examined.name,
            examined.spec_valid,
            examined.description is not None,
            examined.findings,
            folder.skill_md_name,
            parsed.text if parsed and is_shown else "",
        )

    def _rejected(self, folder: Folder, named: str, why: Finding) -> Judgement:
        return Judgement(named, folder.path.rpartition("/")[2], False, False, (why,))


def _judgements(
    targets: Sequence[_Target], judge: _Judge, cores: int | None
) -> Iterator[Judgement]:
    planned = [(target, target.paths()) for target in targets]
    steps = [(target, path) for target, paths in planned for path in paths]
    pieces = [
        steps[start : start + _PATHS_IN_A_PIECE]
        for start in range(0, len(steps), _PATHS_IN_A_PIECE)
    ]
    told = chain.from_iterable(pool.in_order(judge.each, pieces, cores))
    seen: set[str] = set()
    for target, paths in planned:
        nothing_found = True
        for found in islice(told, len(paths)):
            nothing_found = nothing_found and not found
            for place, judgement in found:
                if judgement and place not in seen:
                    seen.add(place)
                    yield judgement
        if nothing_found:
            yield Judgement(
                target.as_named(target.under), None, False, False, (SKILL_MD_MISSING.at(),)
            )
