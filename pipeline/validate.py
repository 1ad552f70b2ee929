"""Judges skill folders for their authors, without any catalog."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from catalog.record import Acceptance, Finding, Json, RootSpec, SkillRecord
from pipeline import disk, scan
from pipeline.disk import Limits, Stray


@dataclass(frozen=True, slots=True)
class Judgement:
    """What there is to say of one skill folder, or of something that is not quite one."""

    path: Path  # as the author named it
    name: str | None
    spec_valid: bool
    loadable: bool
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {"path": str(self.path), "name": self.name, "spec_valid": self.spec_valid,
                "loadable": self.loadable, "findings": [f.as_json() for f in self.findings]}


def judge_path(path: Path, *, acceptance: Acceptance = "lenient",
               profiles: Sequence[str] = ("spec",), limits: Limits | None = None
               ) -> Iterator[Judgement]:
    """Yield a judgement of every skill at or below a path: a folder, a tree, or a SKILL.md.

    Raises RootUnreadable where the path cannot be listed.
    """
    limits = limits or Limits()
    if path.name.lower() == "skill.md" and not path.is_dir():
        path = path.parent
    top = path.absolute()
    root, under = (top.parent, disk.text_path(top.name)) if disk.is_skill_folder(top) else (top, "")
    spec = RootSpec(str(root), acceptance=acceptance, profiles=tuple(profiles))
    for found in disk.walk(root, under, limits):
        shown = _as_named(path, root, found.path)
        if isinstance(found, Stray):
            yield Judgement(shown, None, False, False, (found.finding,))
        elif judged := scan.judge_folder(spec, found, limits):
            verdict = judged.verdict
            yield Judgement(
                shown, verdict.name, isinstance(verdict, SkillRecord) and verdict.spec_valid,
                isinstance(verdict, SkillRecord), verdict.findings)


def _as_named(path: Path, root: Path, found: str) -> Path:
    """Return a found folder's path in the words of the path that was asked for."""
    absolute = root / found
    return path / absolute.relative_to(path.absolute())
