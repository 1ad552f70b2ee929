"""Parts of a skill's page: findings by rule, files as a tree, and why indexes leave it out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from catalog.database.sql import Row
from catalog.reading import dangers, finding_pages

SAFETY = "safety"
"""Profile of the findings about content that could deceive or do harm."""


class Group(NamedTuple):
    """Findings of one rule."""

    code: str
    grade: str  # of dangers.GRADES
    problem: str  # one sentence for all
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


@dataclass(frozen=True, slots=True)
class TreeLine:
    """Line of a tree: a file, or a folder with the total size of its files."""

    depth: int
    name: str
    path: str
    size: int
    file: Mapping[str, Any] | None = None


def grow(files: Sequence[Mapping[str, Any]]) -> list[TreeLine]:
    """Return the lines of a tree: SKILL.md, then files before folders, each by name."""
    return list(_lines(files, "", 0))


def _lines(files: Sequence[Mapping[str, Any]], folder: str, depth: int) -> Iterator[TreeLine]:
    subfolders: dict[str, list[Mapping[str, Any]]] = {}
    direct = []
    for file in files:
        name, _, rest = file["path"][len(folder) :].partition("/")
        if rest:
            subfolders.setdefault(name, []).append(file)
        else:
            direct.append(file)
    for file in sorted(direct, key=lambda file: (file["kind"] != "skill_md", file["path"])):
        yield TreeLine(depth, file["path"][len(folder) :], file["path"], file["size"], file)
    for name, contents in sorted(subfolders.items()):
        path = f"{folder}{name}/"
        yield TreeLine(depth, name, path, sum(file["size"] for file in contents))
        yield from _lines(contents, path, depth + 1)


def why_not(state: Mapping[str, Any]) -> tuple[str, str]:
    """Return the reason why an index does not show a skill in full, and the fix; or empty texts."""
    if state["state"]:
        reason = state["reason"] or ""
        return f"{reason[:1].upper()}{reason[1:].removesuffix('.')}." if reason else "", ""
    match state["left_out"]:
        case "hidden":
            return (
                "SKILL.md declares disable-model-invocation, which hides the skill from agents.",
                "Remove disable-model-invocation from SKILL.md if agents may start the skill.",
            )
        case "filtered":
            return (
                "The filter of this index excludes the skill.",
                "Change the levels, tags or names of the index in skilldrop.toml.",
            )
        case "over_budget":
            return (
                f"Skills of higher rank use the budget of {state['budget']:,} {state['unit']}.",
                "Raise the budget, or the priority of the skill.",
            )
    return "", ""
