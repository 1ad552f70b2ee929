"""Lists of skills without a search: filtered, sorted, and with the facts of their cards."""

import json
from collections.abc import Sequence
from typing import Any

from catalog.database.expressions import AWAITING_REVIEW, DANGERS, IS_NEWEST
from catalog.database.queries import Database, Row, to_json
from catalog.model.errors import FilterInvalid
from catalog.model.values import SEVERITIES
from catalog.reading import status
from catalog.reading.search.filters import Filters
from catalog.reading.skills import review
from catalog.text import suggestions
from catalog.text.humanize import count
from catalog.usage import database as usage_database
from catalog.usage import summary as usage_summary

PAGE = 50
"""Rows of a list on one page."""
FRONT = 12
"""Cards of the latest skills on the front page; other lists there have half of that."""


def skills(
    db: Database, filters: Filters, page: int = 1, sort: str = "updated", size: int = PAGE
) -> list[int]:
    """Return a page of the skills with the filters, in an order of SORTS."""
    values = filters.values | {"limit": size, "offset": (page - 1) * size}
    rows = db.execute(
        f"SELECT s.id FROM skills AS s WHERE {filters.condition}"
        f" ORDER BY {order_by(db, sort)} LIMIT :limit OFFSET :offset",
        values,
    )
    return [skill for (skill,) in rows]


SORTS = ("relevance", "updated", "name", "size", "reads")
"""Orders of results; `size` is the tokens of SKILL.md, smallest first."""


def parse_sort(text: str) -> str:
    """Return the order that is asked for, "" for none. Raises FilterInvalid with the known ones."""
    if text and text not in SORTS:
        wrong, known = suggestions.shown(text), ", ".join(SORTS)
        raise FilterInvalid(f"Results cannot be sorted by {wrong}; known: {known}.")
    return text


def order_by(db: Database, sort: str) -> str:
    """Return the ORDER BY of skills `s`; the most read come first only where reads are counted."""
    if sort == "reads" and usage_database.is_attached(db.conn):
        return _BY_READS + _ORDERS["updated"]
    return _ORDERS.get(sort, _ORDERS["updated"])


_ORDERS = {
    "updated": "s.last_changed DESC, s.id DESC",
    "name": "s.name, s.id",
    "size": "s.estimated_tokens IS NULL, s.estimated_tokens, s.id",
}
_BY_READS = """
    ifnull((SELECT sum(reads) FROM usage.reads
            WHERE skill_id = s.skill_id AND day >= date('now', '-29 days')), 0) DESC,
"""


def listed_skills(db: Database, filters: Filters) -> list[Row]:
    """Return the skills that pass the filters, by name."""
    return db.rows(
        "SELECT s.name, s.skill_id, s.status, s.level, s.root, s.path, v.version,"
        " s.description FROM skills AS s LEFT JOIN versions AS v ON v.id ="
        f" s.current_version_id WHERE {filters.condition} ORDER BY s.name, s.root, s.path",
        filters.values,
    )


def front(db: Database) -> dict[str, Any]:
    """Return the data of the front page: counts, latest, most read, dangerous, awaited skills."""
    dangerous = [row["id"] for row in review.dangerous(db, FRONT // 2)]
    awaited = [
        skill
        for (skill,) in db.execute(
            f"SELECT v.skill FROM {AWAITING_REVIEW} AND {DANGERS} IS NULL"
            f" ORDER BY v.id LIMIT {FRONT // 2}"
        )
    ]
    read = usage_summary.most_read(db, FRONT // 2)
    return {
        "counts": status.counts(db),
        "latest": cards_of(db, skills(db, Filters(), size=FRONT)),
        "most_read": cards_of(db, list(read)),
        "reads": read,
        "dangerous": cards_of(db, dangerous),
        "awaited": cards_of(db, awaited),
    }


def cards_of(db: Database, skills: Sequence[int]) -> list[Row]:
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


_TONES = {"danger": "bad", "error": "bad", "warning": "odd", "info": ""}
_WORDS = {
    "danger": "danger",
    "error": "safety error",
    "warning": "safety warning",
    "info": "safety note",
}


def _safety(findings: Sequence[Row], *, agents_get_other: bool) -> dict[str, Any] | None:
    if not findings:
        return None
    found = [finding["severity"] for finding in findings]
    worst = min(found, key=SEVERITIES.index)
    codes = dict.fromkeys(row["code"] for row in findings if row["severity"] == worst)
    named = ", ".join(code.replace("-", " ") for code in codes)
    return {
        "text": count(found.count(worst), _WORDS[worst])
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
           s.source, s.source_kind,
           {IS_NEWEST} AS is_newest,
           s.tools, s.hosts,
           (SELECT json_group_array(json_object('severity', severity, 'code', code)) FROM findings
            WHERE skill = s.id AND profile = 'safety') AS safety
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    ORDER BY wanted.key
"""
