"""Proposed fixes of single findings, for other programs to apply."""

import os
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from catalog.model.finding import Finding
from pipeline.authoring.fixes.draft import Draft
from pipeline.authoring.fixes.registry import FIXES
from pipeline.authoring.lint import Judgement


class Replacement(NamedTuple):
    """Lines of a SKILL.md, and those to write in their place."""

    first: int  # from 1
    removed: int  # lines
    text: str  # with line ends


def proposals(judgement: Judgement) -> Iterator[tuple[Finding, Replacement | None]]:
    """Yield each finding with its safe fix, if that changes lines of the text."""
    file = judgement.on_disk
    folder = Path(os.path.realpath(file.parent)).name if file else ""
    draft = Draft(judgement.text.encode("utf-8", "surrogateescape"), folder)
    for finding in judgement.findings:
        fix = FIXES[finding.code].safe if finding.code in FIXES else None
        after = fix(draft, finding) if fix and file and judgement.text else None
        yield finding, _replacement(draft, after) if after else None


def _replacement(before: Draft, after: Draft) -> Replacement | None:
    """Return the one replacement between the lines that both begin and end with."""
    old, new = (
        [line + end for line, end in zip(draft.source.lines, draft.source.ends, strict=True)]
        for draft in (before, after)
    )
    start = _equal(old, new)
    end = _equal(old[start:][::-1], new[start:][::-1])
    if old == new:
        return None
    text = "".join(new[start : len(new) - end])
    return Replacement(start + 1, len(old) - end - start, text)


def _equal(old: list[str], new: list[str]) -> int:
    """Return how many lines at the start are equal."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    return sum(1 for _ in pairs)
