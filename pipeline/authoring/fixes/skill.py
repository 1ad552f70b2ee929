"""Fix of one skill: its SKILL.md is mended, judged again, and only then written."""

import difflib
import os
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from catalog.model.finding import Finding
from pipeline.authoring.atomic_replace import write_whole
from pipeline.authoring.fixes.draft import Draft
from pipeline.authoring.fixes.registry import FIXES, RENAMED
from pipeline.authoring.lint import Judgement
from pipeline.roots.names import SKILL_MD

Judge: TypeAlias = Callable[[bytes], Judgement]
"""Judges a skill as if its SKILL.md had these bytes."""

_MOST_STEPS = 200
_ORDER = {code: number for number, code in enumerate(FIXES)}


@dataclass(frozen=True, slots=True)
class FixedSkill:
    """Fixed content of a SKILL.md that was not written yet."""

    file: Path
    before: bytes
    after: bytes
    fixed: int  # findings
    is_renamed: bool  # to SKILL.md

    def write(self) -> None:
        """Write the file whole, unless it has changed meanwhile. Raises OSError."""
        if self.file.read_bytes() != self.before:
            return
        if self.after != self.before:
            write_whole(self.file, self.after)
        if self.is_renamed:
            os.rename(self.file, self.file.with_name(SKILL_MD))

    def diff(self, path: str) -> Iterator[str]:
        """Yield the lines of a unified diff; `path` is that of the folder."""
        old, new = f"{path}/{self.file.name}", f"{path}/{SKILL_MD}"
        if self.is_renamed:
            yield from (f"rename from {old}", f"rename to {new}")
        before, after = (
            data.decode("utf-8", "backslashreplace").splitlines()
            for data in (self.before, self.after)
        )
        if before == after and self.before != self.after:
            yield f"{old}: bytes change that a diff of lines does not show"
        yield from difflib.unified_diff(
            before, after, old, new if self.is_renamed else old, lineterm=""
        )


def fixed(judgement: Judgement, judge: Judge, *, unsafe: bool = False) -> FixedSkill | None:
    """Return the fixed SKILL.md of a judged folder; None if nothing can be fixed.

    Only codes among the findings of the judgement are mended. Raises OSError.
    """
    codes = {finding.code for finding in judgement.findings}
    is_renamed = RENAMED in codes and _may_rename(judgement)
    if not is_renamed and codes.isdisjoint(FIXES):
        return None
    if (file := _file(judgement)) is None:
        return None
    before = file.read_bytes()
    folder = Path(os.path.realpath(file.parent)).name
    after, steps = mended(before, folder, codes, judge, unsafe=unsafe)
    if after == before and not is_renamed:
        return None
    return FixedSkill(file, before, after, steps + is_renamed, is_renamed)


def mended(
    data: bytes, folder: str, codes: Container[str], judge: Judge, *, unsafe: bool = False
) -> tuple[bytes, int]:
    """Return the bytes of a SKILL.md after all fixes of some codes, and the number of fixes.

    `folder` is the name of its folder. A fix is accepted if the file then has fewer findings of
    its code, and no more of any other. A file that needs too many stays as it is: half of them
    would leave work to a second run.
    """
    draft, current, steps = Draft(data, folder), judge(data), 0
    while step := _step(draft, current, judge, codes, unsafe=unsafe):
        if steps == _MOST_STEPS:
            return data, 0
        draft, current, steps = *step, steps + 1
    return draft.data, steps


def _step(
    draft: Draft, current: Judgement, judge: Judge, codes: Container[str], *, unsafe: bool
) -> tuple[Draft, Judgement] | None:
    """Return the draft after one accepted fix, with its judgement; None if there is none."""
    findings = [f for f in current.findings if f.code in codes and f.code in FIXES]
    for finding in sorted(findings, key=lambda f: (_ORDER[f.code], f.line or 0)):
        for candidate in _candidates(draft, finding, unsafe=unsafe):
            judged = judge(candidate.data)
            if _is_better(finding, current, judged):
                return candidate, judged
    return None


def _candidates(draft: Draft, finding: Finding, *, unsafe: bool) -> Iterator[Draft]:
    fixes = FIXES[finding.code]
    for fix in (fixes.safe, fixes.unsafe if unsafe else None):
        if fix and (candidate := fix(draft, finding)) and candidate.data != draft.data:
            yield candidate


def _is_better(finding: Finding, old: Judgement, new: Judgement) -> bool:
    before, after = _counts(old), _counts(new)
    return after[finding.code] < before[finding.code] and not after - before


def _counts(judgement: Judgement) -> Counter[str]:
    return Counter(finding.code for finding in judgement.findings)


def _file(judgement: Judgement) -> Path | None:
    """Return the SKILL.md of a judgement; None in an archive, or for a link."""
    file = judgement.on_disk
    return file if file and file.is_file() and not file.is_symlink() else None


def _may_rename(judgement: Judgement) -> bool:
    file = _file(judgement)
    if file is None or file.name == SKILL_MD:
        return False
    target = file.with_name(SKILL_MD)
    return not os.path.lexists(target) or target.samefile(file)
