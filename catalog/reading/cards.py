"""Rows of skills for lists: what a card says about each."""

import json
from collections.abc import Sequence
from typing import Any

from catalog.database.queries import Database
from catalog.database.sql import Row, to_json
from catalog.model.publication_findings import NAME_CONFUSABLE
from catalog.reading import dangers
from catalog.text.humanize import count

LOOKS_ALIKE = f"SELECT 1 FROM findings WHERE skill = s.id AND code = '{NAME_CONFUSABLE.code}'"
"""Whether a skill `s` has a name that looks like another one, as a subquery."""
IS_NEWEST = "(s.digest IS NULL OR s.seen_digest IS NULL OR s.seen_digest = s.digest)"
"""Whether the folder of a skill `s` holds the content of its current version, in SQL."""
_TONES = {"danger": "bad", "warning": "odd", "info": ""}
_WORDS = {"danger": "danger", "warning": "safety warning", "info": "safety note"}


def of(db: Database, skills: Sequence[int]) -> list[Row]:
    """Return the rows of these skills, in their order.

    Each has `tools` and `hosts` as lists, and its findings about safety as the `safety` of a
    badge: text, explained and tone; None without findings.
    """
    return [
        row
        | {name: json.loads(row[name]) for name in ("tools", "hosts")}
        | {
            "safety": _safety(
                json.loads(row["safety"]),
                agents_get_other=row["status"] == "active" and not row["is_newest"],
            )
        }
        for row in db.query(_CARDS, {"ids": to_json(list(skills))})
    ]


def _safety(findings: Sequence[Row], *, agents_get_other: bool) -> dict[str, Any] | None:
    if not findings:
        return None
    grades = [dangers.grade(finding) for finding in findings]
    worst = min(grades, key=dangers.GRADES.index)
    codes = dict.fromkeys(row["code"] for row in findings if dangers.grade(row) == worst)
    named = ", ".join(code.replace("-", " ") for code in codes)
    return {
        "text": count(grades.count(worst), _WORDS[worst])
        + (" in new content" if agents_get_other else ""),
        "explained": (
            f"Found in the newest content of its folder; agents get an earlier version: {named}"
            if agents_get_other
            else f"Found when its files were checked for safety: {named}"
        ),
        "tone": _TONES[worst],
    }


_CARDS = f"""
    SELECT s.id, s.skill_id, s.name, s.description, s.status, s.status_reason, s.level, s.license,
           s.estimated_tokens, s.last_changed, s.has_scripts,
           iif(s.namespace IS NULL AND s.author IS NULL
               AND (SELECT count(*) FROM roots WHERE configured) = 1, NULL, s.publisher)
               AS publisher,
           {IS_NEWEST} AS is_newest, EXISTS ({LOOKS_ALIKE}) AS looks_alike,
           s.tools, s.hosts,
           (SELECT json_group_array(json_object('severity', severity, 'code', code)) FROM findings
            WHERE skill = s.id AND profile = 'safety') AS safety
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    ORDER BY wanted.key
"""
