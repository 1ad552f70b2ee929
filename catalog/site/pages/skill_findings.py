"""Findings of a skill on its page: each once, by rule, dangerous ones first."""

from collections.abc import Sequence
from typing import NamedTuple

from catalog.database.sql import Row
from catalog.text import humanize

SAFETY = "safety"
"""Profile of the findings about content that could deceive or do harm."""
MOST_CLAUSES = 2
"""Kinds of danger that one sentence names."""


class Group(NamedTuple):
    """Findings of one rule."""

    code: str
    severity: str
    is_danger: bool
    rows: list[Row]
    fix: str  # if it is the same for all; else each row has its own


def groups(findings: Sequence[Row]) -> list[Group]:
    """Return the findings by rule: dangerous, other safety, errors, warnings, then the others."""
    by_code: dict[tuple[str, str], list[Row]] = {}
    for row in findings:
        by_code.setdefault((row["code"], row["severity"]), []).append(row)
    result = [
        Group(
            code,
            severity,
            code in _DANGERS,
            rows,
            rows[0]["fix"] if len({row["fix"] for row in rows}) == 1 else "",
        )
        for (code, severity), rows in by_code.items()
    ]
    return sorted(result, key=_rank)


def _rank(group: Group) -> tuple[bool, bool, int]:
    is_safety = group.rows[0]["profile"] == SAFETY and group.severity != "info"
    return not group.is_danger, not is_safety, _ORDER.index(group.severity)


def danger(findings: Sequence[Row]) -> str:
    """Return one sentence about the dangerous content of a skill; empty if it has none."""
    rows = [row for row in findings if row["code"] in _DANGERS]
    if not rows:
        return ""
    clauses = list(dict.fromkeys(_DANGERS[row["code"]] for row in rows))
    rest = len(clauses) - MOST_CLAUSES
    named = clauses[:MOST_CLAUSES] + ([f"{rest} more kinds of danger"] if rest > 0 else [])
    listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return f"Contains {listed}: {humanize.count(len(rows), 'finding')}."


_ORDER = ("error", "warning", "info")
_DANGERS = {
    "instruction-override": "instructions that override the agent",
    "hidden-from-user": "instructions to hide something from the user",
    "data-sent-away": "commands that send data away",
    "credentials-read": "commands that read credentials",
    "payload-encoded": "encoded commands",
    "download-run": "commands that download and run a program unread",
    "download-locked": "a download that no scanner can read",
    "destructive-command": "commands that delete a folder, a disk or a system",
    "protection-disabled": "commands that switch a protection off",
    "tag-characters": "an invisible message",
    "bidi-characters": "text that is displayed in another order",
    "invisible-characters": "invisible characters",
    "secret": "a key or password",
}
"""Dangerous content by the code of its findings, as the object of a sentence."""
