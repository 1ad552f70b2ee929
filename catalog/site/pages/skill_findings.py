"""Findings of a skill on its page: each once, by rule, dangerous ones first."""

from collections.abc import Sequence
from typing import NamedTuple

from catalog.database.sql import Row
from catalog.reading import dangers, finding_pages

SAFETY = "safety"
"""Profile of the findings about content that could deceive or do harm."""


class Group(NamedTuple):
    """Findings of one rule."""

    code: str
    grade: str  # of dangers.GRADES
    problem: str  # one sentence that holds for all
    rows: list[Row]
    fix: str  # if it is the same for all; else each row has its own


def groups(findings: Sequence[Row]) -> list[Group]:
    """Return the findings by rule: dangerous, other safety, errors, warnings, then the others."""
    by_code: dict[tuple[str, str], list[Row]] = {}
    for row in findings:
        by_code.setdefault((row["code"], dangers.grade(row)), []).append(row)
    result = [
        Group(
            code,
            grade,
            _problem(code),
            rows,
            rows[0]["fix"] if len({row["fix"] for row in rows}) == 1 else "",
        )
        for (code, grade), rows in by_code.items()
    ]
    return sorted(result, key=_rank)


def _problem(code: str) -> str:
    explanation = finding_pages.explanation(code)
    words = explanation.problem if explanation else code.replace("-", " ")
    return words[:1].upper() + words[1:]


def _rank(group: Group) -> tuple[bool, bool, int]:
    is_safety = group.rows[0]["profile"] == SAFETY and group.grade != "info"
    return group.grade != "danger", not is_safety, dangers.GRADES.index(group.grade)
