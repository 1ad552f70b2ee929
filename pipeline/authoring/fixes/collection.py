"""Fixes of many skills as they are judged."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.model.paths import text_path
from catalog.model.values import Acceptance
from catalog.text.display import visible
from pipeline.authoring.lint import Judgement, judge_paths, judge_text
from pipeline.authoring.selection import Selection
from pipeline.roots.names import SKILL_MD

if TYPE_CHECKING:
    from pipeline.authoring.fixes.skill import FixedSkill


@dataclass(slots=True)
class Fixer:
    """Options of fixing, and the counts and problems so far."""

    acceptance: Acceptance
    select: Selection
    unsafe: bool = False
    fixed: int = 0  # findings
    skills: int = 0
    problems: list[str] = field(default_factory=list)  # sentences about files that cannot be fixed

    def fix(
        self,
        judged: Iterable[Judgement],
        reported: Callable[[Judgement], Judgement] = lambda judgement: judgement,
    ) -> Iterator[Judgement]:
        """Fix each skill, and yield its judgement after that.

        `reported` takes away the findings that are known.
        """
        for judgement in judged:
            skill = self.draft(judgement)
            if skill is None:
                yield judgement
                continue
            try:
                skill.write()
            except OSError as error:
                self.fixed, self.skills = self.fixed - skill.fixed, self.skills - 1
                self._note(skill.file, "was not fixed", error)
                yield judgement
                continue
            file = skill.file.with_name(SKILL_MD) if skill.is_renamed else skill.file
            yield from map(
                reported,
                judge_paths([file], acceptance=self.acceptance, select=self.select, cores=1),
            )

    def mend(self, data: bytes, file: Path) -> tuple[bytes, Judgement]:
        """Return the bytes of a SKILL.md after all fixes, and their judgement; write nothing."""
        from pipeline.authoring.fixes.skill import mended  # most runs only validate

        judge = partial(judge_text, file=file, acceptance=self.acceptance, select=self.select)
        folder = Path(os.path.realpath(file.parent)).name
        codes = {finding.code for finding in judge(data).findings}
        after, fixed_here = mended(data, folder, codes, judge, unsafe=self.unsafe)
        self.fixed += fixed_here
        return after, judge(after)

    def draft(self, judgement: Judgement) -> "FixedSkill | None":
        """Return a fixed skill that is not written yet; None if nothing can be fixed."""
        from pipeline.authoring.fixes.skill import fixed  # most runs only validate

        if (file := judgement.on_disk) is None:
            return None
        judge = partial(judge_text, file=file, acceptance=self.acceptance, select=self.select)
        try:
            skill = fixed(judgement, judge, unsafe=self.unsafe)
        except OSError as error:
            self._note(file, "cannot be read", error)
            return None
        if skill:
            self.fixed, self.skills = self.fixed + skill.fixed, self.skills + 1
        return skill

    def _note(self, file: Path, problem: str, error: OSError) -> None:
        name = visible(text_path(str(file)))
        self.problems.append(f"{name} {problem}: {error.strerror or error}.")
