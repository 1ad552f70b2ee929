"""Rows of skills for lists: what a card says about each."""

import json
from collections.abc import Sequence
from typing import Any

from catalog.database.queries import Database
from catalog.database.sql import Row, to_json
from catalog.model.publication_findings import NAME_CONFUSABLE
from catalog.text.humanize import count

LOOKS_ALIKE = f"SELECT 1 FROM findings WHERE skill = s.id AND code = '{NAME_CONFUSABLE.code}'"
"""Whether a skill `s` has a name that looks like another one, as a subquery."""
_TONES = {"error": "bad", "warning": "odd", "info": ""}
_WORDS = {"error": "danger", "warning": "warning", "info": "note"}


def of(db: Database, skills: Sequence[int]) -> list[Row]:
    """Return the rows of these skills, in their order.

    Each has `tools` and `hosts` as lists, and its findings about safety as the `safety` of a
    badge: text, explained and tone; None without findings.
    """
    return [
        row
        | {name: json.loads(row[name]) for name in ("tools", "hosts")}
        | {"safety": _safety(json.loads(row["safety"]))}
        for row in db.query(_CARDS, {"ids": to_json(list(skills))})
    ]


def _safety(findings: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    if not findings:
        return None
    severities = [severity for severity, _ in findings]
    worst = next(severity for severity in _TONES if severity in severities)
    codes = ", ".join(dict.fromkeys(code.replace("-", " ") for _, code in findings))
    return {
        "text": count(severities.count(worst), f"safety {_WORDS[worst]}"),
        "explained": f"Found when its files were checked for safety: {codes}",
        "tone": _TONES[worst],
    }


_CARDS = f"""
    SELECT s.id, s.skill_id, s.name, s.description, s.status, s.status_reason, s.level, s.license,
           s.estimated_tokens, s.last_changed, s.has_scripts,
           iif(s.namespace IS NULL AND s.author IS NULL
               AND (SELECT count(*) FROM roots WHERE configured) = 1, NULL, s.publisher)
               AS publisher,
           EXISTS ({LOOKS_ALIKE}) AS looks_alike,
           (SELECT json_group_array(value) FROM version_facets
            WHERE version = s.current_version_id AND facet = 'tool') AS tools,
           (SELECT json_group_array(value) FROM version_facets
            WHERE version = s.current_version_id AND facet = 'host') AS hosts,
           (SELECT json_group_array(json_array(severity, code)) FROM findings
            WHERE skill = s.id AND profile = 'safety') AS safety
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    ORDER BY wanted.key
"""
