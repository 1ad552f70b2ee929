"""Validation of skills for their authors, without a catalog."""

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
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.partial_read import read_partially
from pipeline.roots.local.tree_walk import Archive, LooseFinding
from pipeline.roots.local.walk import DEFAULT_LIMITS
from pipeline.roots.names import is_skill_md
from pipeline.roots.snapshot import PartialSnapshot
from pipeline.sync.engines import pool
from pipeline.validation.codes import FOLDER_UNREADABLE, INTERNAL_ERROR
from pipeline.validation.verdict import examine

log = logging.getLogger(__name__)

_TRIES = 3  # readings of a folder that keeps changing
_PATHS = 256  # most paths into which a tree is divided …
_PATHS_IN_A_PIECE = 16  # … and paths per piece of work


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict and findings for one skill folder, or for something that is not quite one."""

    path: str  # as given by the author, as text
    name: str | None  # None if it is no skill
    spec_valid: bool
    loadable: bool
    findings: tuple[Finding, ...]
    document: str | None = None  # name of its SKILL.md …
    text: str = ""  # … and its text, if a finding has a line

    def place(self, finding: Finding) -> str:
        """Return the path of the file that a finding is about, or of the folder."""
        return self._inside(finding.path)

    def file(self, finding: Finding) -> str:
        """Return the path of the file that a finding is about; for the folder, its SKILL.md."""
        return self._inside(finding.path or self.document)

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "path": self.path,
            "name": self.name,
            "spec_valid": self.spec_valid,
            "loadable": self.loadable,
            "findings": [finding.as_json() for finding in self.findings],
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
    folder without nested skills. Skills are judged during iteration, by default on every core, in
    an order that does not depend on `cores`. Raises RootUnreadable at once for a path of another
    kind, and during iteration for a path that cannot be listed.
    """
    targets = [_target(path) for path in paths]
    return _judgements(targets, _Judge(acceptance, tuple(profiles), limits), cores)


@dataclass(frozen=True, slots=True)
class _Target:
    """Place to search for skills."""

    name: str  # path as given by the author
    root: Path
    under: str  # relative to the root
    alone: bool  # only this folder, without nested skills

    def paths(self) -> list[str]:
        """Return paths that together make up the target, enough to keep all cores busy."""
        if self.alone:
            return [self.under]
        return local_walk.taken_apart(self.root, [self.under], _PATHS) or [self.under]

    def entries(self, path: str, limits: Limits) -> Iterator[Folder | LooseFinding]:
        """Yield the skill folders at or below a path, and findings outside of them."""
        if self.alone:
            folder = reader.look(self.root, path, limits)
            yield from [folder] if folder else []
            return
        for entry in local_walk.walk(self.root, path, limits):
            if isinstance(entry, Archive):
                yield from _in_archive(entry)
            else:
                yield entry

    def full_name(self, path: str) -> str:
        """Return a path of the root in the form that the author used."""
        if self.under.endswith("!"):
            return f"{self.name}{path[len(self.under) - 1 :]}"
        below = path[len(self.under) :].lstrip("/")
        if self.name in (".", "/"):
            return f"{self.name}{below}".removeprefix("." if below else "")
        return f"{self.name}/{below}" if below else self.name


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
            name = model_paths.text_path(str(path))
            return _Target(name, file.parent, f"{model_paths.text_path(file.name)}!", alone)
        name = model_paths.text_path(str(path))
        raise RootUnreadable(f"{name} is neither a folder, an archive nor a SKILL.md.")
    # Links are resolved: a skill has the name of its real folder.
    folder, name = Path(os.path.realpath(path)), model_paths.text_path(str(path))
    if reader.is_skill_folder(folder):
        return _Target(name, folder.parent, model_paths.text_path(folder.name), alone)
    return _Target(name, folder, "", False)


_Step: TypeAlias = tuple[_Target, str]  # a target and a path in it
_Result: TypeAlias = tuple[str, Judgement | None]  # the real path, which identifies a skill


@dataclass(frozen=True, slots=True)
class _Judge:
    """Options for judging skills, sent to every process."""

    acceptance: Acceptance
    profiles: tuple[str, ...]
    limits: Limits

    def judge(self, steps: Sequence[_Step]) -> list[list[_Result]]:
        """Return the results at each of the paths."""
        return [
            [
                (f"{target.root}/{entry.path}", self._judgement(target, entry))
                for entry in target.entries(path, self.limits)
            ]
            for target, path in steps
        ]

    def _judgement(self, target: _Target, entry: Folder | LooseFinding) -> Judgement | None:
        """Judge an entry; None if it has vanished meanwhile."""
        path = target.full_name(entry.path)
        if isinstance(entry, LooseFinding):
            return Judgement(path, None, False, False, (entry.finding,))
        folder: Folder | None = entry
        for _ in range(_TRIES):
            if folder is None:
                return None
            if judgement := self._of_folder(target, folder, path):
                return judgement
            folder = reader.look(target.root, entry.path, self.limits)
        changing = FOLDER_UNREADABLE.at(
            "The folder kept changing while it was read.",
            fix="Validate it again when nothing writes to it.",
        )
        return self._rejected(entry, path, changing)

    def _of_folder(self, target: _Target, folder: Folder, path: str) -> Judgement | None:
        """Judge a folder; None if it has changed meanwhile."""
        try:
            snapshot = read_partially(target.root, folder, self.limits)
            return self._of_snapshot(target, folder, snapshot, path) if snapshot else None
        except Exception as error:  # an internal error must not stop the other folders
            log.debug("%s", path, exc_info=True)
            finding = INTERNAL_ERROR.at(f"{type(error).__name__}: {error}")
            return self._rejected(folder, path, finding)

    def _of_snapshot(
        self, target: _Target, folder: Folder, snapshot: PartialSnapshot, path: str
    ) -> Judgement:
        name = snapshot.skill_md_name
        parsed = parse(snapshot.skill_md, name) if name else None
        examined = examine(
            snapshot,
            parsed,
            Place(str(target.root), folder.path, "project"),
            acceptance=self.acceptance,
            profiles=profiles_named(self.profiles),
            dialects=DIALECTS,
        )
        has_lines = any(finding.line for finding in examined.findings)
        return Judgement(
            path,
            examined.name,
            examined.spec_valid,
            examined.description is not None,
            examined.findings,
            folder.skill_md_name,
            parsed.text if parsed and has_lines else "",
        )

    def _rejected(self, folder: Folder, path: str, finding: Finding) -> Judgement:
        return Judgement(path, folder.path.rpartition("/")[2], False, False, (finding,))


def _judgements(
    targets: Sequence[_Target], judge: _Judge, cores: int | None
) -> Iterator[Judgement]:
    planned = [(target, target.paths()) for target in targets]
    steps = [(target, path) for target, paths in planned for path in paths]
    pieces = [
        steps[start : start + _PATHS_IN_A_PIECE]
        for start in range(0, len(steps), _PATHS_IN_A_PIECE)
    ]
    results = chain.from_iterable(pool.in_order(judge.judge, pieces, cores))
    judged: set[str] = set()  # real paths
    for target, paths in planned:
        is_empty = True
        for results_at_path in islice(results, len(paths)):
            is_empty = is_empty and not results_at_path
            for real_path, judgement in results_at_path:
                if judgement and real_path not in judged:
                    judged.add(real_path)
                    yield judgement
        if is_empty:
            yield Judgement(
                target.full_name(target.under), None, False, False, (SKILL_MD_MISSING.at(),)
            )
