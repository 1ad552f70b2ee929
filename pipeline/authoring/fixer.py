"""Fixer that applies fixes to skills."""

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_IMODE

from catalog.filesystem.operations import replaced
from catalog.model.finding import Finding
from catalog.model.paths import text_path
from catalog.model.values import Acceptance
from catalog.text.visible import visible
from pipeline.authoring.code_fixes import FIXES, RENAMED, Draft
from pipeline.authoring.lint import Judgement, judge_paths, judge_text
from pipeline.config.selection import CodeSelection
from pipeline.roots.file_kinds import SKILL_MD

_MOST_STEPS = 200
_ORDER = {code: number for number, code in enumerate(FIXES)}


@dataclass(frozen=True, slots=True)
class FixedSkill:
    """Fixed content of a SKILL.md that was not written yet."""

    file: Path
    before: bytes
    after: bytes
    fixed: tuple[Finding, ...]
    is_renamed: bool  # to SKILL.md

    def write(self) -> None:
        """Write the whole file, unless it has changed since it was read. Raises OSError."""
        if self.file.read_bytes() != self.before:
            return
        if self.after != self.before:
            with replaced(self.file, S_IMODE(self.file.stat().st_mode)) as target:
                target.write(self.after)
        if self.is_renamed:
            os.rename(self.file, self.file.with_name(SKILL_MD))


@dataclass(slots=True)
class Fixer:
    """Options of fixing, with the count and the problems so far."""

    acceptance: Acceptance
    select: CodeSelection
    fixed: int = 0  # findings
    problems: list[str] = field(default_factory=list)  # sentences about files that cannot be fixed

    def fix(self, judged: Iterable[Judgement]) -> Iterator[Judgement]:
        """Fix each skill, and yield its judgement after that."""
        for judgement in judged:
            skill = self.draft(judgement)
            if skill is None:
                yield judgement
                continue
            try:
                skill.write()
            except OSError as error:
                self._note(skill.file, "was not fixed", error)
                yield judgement
                continue
            self.fixed += len(skill.fixed)
            file = skill.file.with_name(SKILL_MD) if skill.is_renamed else skill.file
            yield from judge_paths([file], acceptance=self.acceptance, select=self.select, cores=1)

    def marked(self, judged: Iterable[Judgement]) -> Iterator[Judgement]:
        """Yield each judgement with the findings that `fix` would mend."""
        for judgement in judged:
            skill = self.draft(judgement)
            yield replace(judgement, fixable=skill.fixed) if skill else judgement

    def draft(self, judgement: Judgement) -> FixedSkill | None:
        """Return a fixed skill that is not written yet; None if nothing can be fixed.

        Only codes among the findings of the judgement are fixed.
        """
        file = judgement.on_disk
        if not file or not file.is_file() or file.is_symlink():
            return None  # in an archive, or a link
        found = [finding for finding in judgement.findings if finding.code in FIXES]
        fixed = [f for f in judgement.findings if f.code == RENAMED and _may_rename(file)]
        is_renamed = bool(fixed)
        if not (found or fixed):
            return None
        try:
            before = file.read_bytes()
            draft = Draft.of(before, _folder(file))
            if any(FIXES[finding.code](draft, finding) for finding in found):  # which is cheap
                draft, left = self._mended(file, draft, judgement, {each.code for each in found})
                known = {(finding.code, finding.message) for finding in left.findings}
                fixed += (f for f in found if (f.code, f.message) not in known)
        except OSError as error:
            self._note(file, "cannot be read", error)
            return None
        if draft.data == before and not is_renamed:
            return None
        return FixedSkill(file, before, draft.data, tuple(fixed), is_renamed)

    def _mended(
        self, file: Path, start: Draft, judgement: Judgement, codes: Container[str]
    ) -> tuple[Draft, Judgement]:
        """Return a SKILL.md after all fixes of some codes, and its judgement.

        A file that needs too many stays as it is: half of them would leave work to a second run.
        """
        draft, current = start, judgement
        for _ in range(_MOST_STEPS + 1):
            step = self._step(file, draft, current, codes)
            if step is None:
                return draft, current
            draft, current = step
        return start, judgement

    def _step(
        self, file: Path, draft: Draft, current: Judgement, codes: Container[str]
    ) -> tuple[Draft, Judgement] | None:
        """Return the draft after one accepted fix, with its judgement; None if there is none.

        A fix is accepted if less of its code is left, and no more of any other; info counts half.
        """
        findings = [f for f in current.findings if f.code in codes and f.code in FIXES]
        before = _weights(current)
        for finding in sorted(findings, key=lambda f: (_ORDER[f.code], f.line or 0)):
            candidate = FIXES[finding.code](draft, finding)
            if candidate is None or candidate.data == draft.data:
                continue
            judged = judge_text(
                candidate.data, file, acceptance=self.acceptance, select=self.select
            )
            after = _weights(judged)
            if after[finding.code] < before[finding.code] and not after - before:
                return candidate, judged
        return None

    def _note(self, file: Path, problem: str, error: OSError) -> None:
        name = visible(text_path(str(file)))
        self.problems.append(f"{name} {problem}: {error.strerror or error}.")


def _weights(judged: Judgement) -> Counter[str]:
    weights = Counter[str]()
    for finding in judged.findings:
        weights[finding.code] += 1 if finding.severity == "info" else 2
    return weights


def _folder(file: Path) -> str:
    return Path(os.path.realpath(file.parent)).name


def _may_rename(file: Path) -> bool:
    if file.name == SKILL_MD:
        return False
    target = file.with_name(SKILL_MD)
    return not os.path.lexists(target) or target.samefile(file)
