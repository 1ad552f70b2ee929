"""Judges skill folders for their authors, without any catalog."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from catalog.errors import RootUnreadable
from catalog.record import Acceptance, Finding, Json, RootSpec, SkillRecord, Verdict
from pipeline import disk, scan
from pipeline.disk import DEFAULT_LIMITS, Folder, Limits, Stray
from pipeline.findings.registry import finding
from pipeline.names import is_skill_md
from pipeline.raw_text import decode

_ARCHIVES = (".zip", ".skill", ".tar.gz", ".tgz")
_TRIES = 3  # how often a folder is read that changes under our eyes


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
        return {"path": self.path, "name": self.name, "spec_valid": self.spec_valid,
                "loadable": self.loadable, "findings": [f.as_json() for f in self.findings]}

    def _inside(self, path: str | None) -> str:
        if not path:
            return self.path
        return path if self.path == "." else f"{self.path}/{path}"


def judge_paths(paths: Iterable[Path], *, acceptance: Acceptance = "lenient",
                profiles: Sequence[str] = ("spec",), limits: Limits = DEFAULT_LIMITS,
                ) -> Iterator[Judgement]:
    """Return the judgement of every skill at or below the paths, each skill once.

    A path is a skill folder, a tree of them, or a SKILL.md, which stands for its folder without
    the skills inside it. They are judged while one iterates. Raises RootUnreadable for a path
    that is none of these, at once, and where one cannot be listed, when its turn comes.
    """
    targets = [_target(path) for path in paths]
    return _judgements(targets, acceptance, tuple(profiles), limits)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where to look for skills."""

    named: Path  # as the author named it
    root: str
    under: str  # relative to the root
    alone: bool  # whether only this one folder was meant

    def found(self, limits: Limits) -> Iterable[Folder | Stray]:
        if not self.alone:
            return disk.walk(Path(self.root), self.under, limits)
        folder = disk.look(Path(self.root), self.under, limits)
        return [folder] if folder else []

    def as_named(self, path: str) -> str:
        """Return a path below the root in the words of the author."""
        below = path[len(self.under):].lstrip("/")
        return disk.text_path(str(self.named / disk.os_path(below)))


def _target(path: Path) -> _Target:
    alone = is_skill_md(path.name)
    if alone:
        path = path.parent
    elif not path.is_dir():
        name = disk.text_path(str(path))
        if path.name.lower().endswith(_ARCHIVES):
            raise RootUnreadable(f"{name} is an archive: unpack it, and name the folder.")
        raise RootUnreadable(f"{name} is neither a folder nor a SKILL.md.")
    # A skill has the name of the folder in which it really lies.
    folder = Path(os.path.realpath(path))
    if disk.is_skill_folder(folder):
        return _Target(path, str(folder.parent), disk.text_path(folder.name), alone)
    return _Target(path, str(folder), "", False)


def _judgements(targets: Iterable[_Target], acceptance: Acceptance, profiles: tuple[str, ...],
                limits: Limits) -> Iterator[Judgement]:
    seen: set[str] = set()
    for target in targets:
        nothing_found = True
        root = RootSpec(target.root, acceptance=acceptance, profiles=profiles)
        for found in target.found(limits):
            nothing_found = False
            place = f"{target.root}/{found.path}"
            if place in seen:
                continue
            seen.add(place)
            named = target.as_named(found.path)
            if isinstance(found, Stray):
                yield Judgement(named, None, False, False, (found.finding,))
            elif judgement := _judgement(root, found, limits, named):
                yield judgement
        if nothing_found:
            yield Judgement(target.as_named(target.under), None, False, False,
                            (finding("skill-md-missing"),))


def _judgement(root: RootSpec, folder: Folder, limits: Limits, named: str) -> Judgement | None:
    """Judge a folder; None where it has vanished meanwhile."""
    current: Folder | None = folder
    for _ in range(_TRIES):
        if current is None:
            return None
        if judged := scan.judge_folder(root, current, limits):
            return _summed_up(root, current, limits, named, judged.verdict)
        current = disk.look(Path(root.path), folder.path, limits)
    restless = finding("folder-unreadable", "The folder kept changing while it was read.",
                       fix="Validate it again when nothing writes to it.")
    return Judgement(named, folder.path.rpartition("/")[2], False, False, (restless,))


def _summed_up(
    root: RootSpec, folder: Folder, limits: Limits, named: str, verdict: Verdict
) -> Judgement:
    accepted = verdict if isinstance(verdict, SkillRecord) else None
    text = ""
    if any(found.line for found in verdict.findings):
        text = accepted.skill_md_content if accepted else _text(root, folder, limits)
    return Judgement(
        named, verdict.name, bool(accepted and accepted.spec_valid), bool(accepted),
        verdict.findings, folder.skill_md_name, text,
    )


def _text(root: RootSpec, folder: Folder, limits: Limits) -> str:
    """Read SKILL.md once more: of a rejected folder nobody has kept it."""
    snapshot = disk.read(Path(root.path), folder, limits)
    return decode(snapshot.skill_md)[0] if snapshot else ""
