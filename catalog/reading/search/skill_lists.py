"""Lists of skills without a search: filtered, sorted, and with the facts of their cards."""

import json
from collections.abc import Sequence
from typing import Any

from catalog.database.expressions import IS_NEWEST
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
FRONT = 6
"""Skills of each list on the front page."""


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
    """Return the data of the front page: counts, and lists of skills."""
    return {
        "counts": status.counts(db),
        "dangerous": review.dangerous(db, FRONT),
        "latest": cards_of(db, skills(db, Filters(), size=FRONT)),
        "most_read": cards_of(db, usage_summary.most_read(db, FRONT)),
        "most_used": db.rows(_MOST_USED, [FRONT]),
    }


def cards_of(db: Database, skills: Sequence[int]) -> list[Row]:
    """Return the rows of these skills, in their order, with `tools` and `hosts` as lists.

    Each has at most three `marks` with text, explained, tone and part, the section of its page:
    the worst of what is wrong, what it brings, and who uses it.
    """
    rows = db.rows(_CARDS, {"ids": to_json(list(skills))})
    reads = usage_summary.of_skills(db, [row["skill_id"] for row in rows])
    for row in rows:
        row |= {name: json.loads(row[name]) for name in ("tools", "hosts")}
        marks = (_worst(row), _brought(row), _use(row, reads.get(row["skill_id"], 0)))
        row["marks"] = [mark for mark in marks if mark]
    return rows


_TONES = {"danger": "bad", "error": "bad", "warning": "odd", "info": ""}


def _worst(row: Row) -> Row | None:
    """Return the mark of the worst findings about safety, or that it is no skill to the letter."""
    findings = json.loads(row["safety"])
    worst = min((each["severity"] for each in findings), key=SEVERITIES.index, default="info")
    if worst == "info" and row["spec_valid"] == 0:
        said = "It has an error, or a field that is not among the specification's six"
        return _mark("outside the specification", said, "findings")
    of_it = [each["code"] for each in findings if each["severity"] == worst]
    if not of_it:
        return None
    named = ", ".join(code.replace("-", " ") for code in dict.fromkeys(of_it))
    text, said = (
        count(len(of_it), "note" if worst == "info" else worst),
        "when its files were checked",
    )
    if row["status"] == "active" and not row["is_newest"]:
        text, said = f"{text} in new content", "in its folder; agents get an earlier version"
    return _mark(text, f"Found {said}: {named}", "findings", _TONES[worst])


def _brought(row: Row) -> Row | None:
    """Return the mark of what an agent may run, asks for and is led to."""
    tools, hosts = row["tools"], row["hosts"]
    brought = {
        "scripts": row["has_scripts"] and "has programs that an agent may run",
        count(len(tools), "tool"): tools and f"asks for {suggestions.few(tools)}",
        count(len(hosts), "host"): hosts and f"names addresses at {suggestions.few(hosts)}",
    }
    texts, said = [text for text in brought if brought[text]], filter(None, brought.values())
    return _mark(", ".join(texts), f"It {'; '.join(said)}", "files") if texts else None


def _use(row: Row, reads: int) -> Row | None:
    """Return the mark of the reads of a skill, and of the skills that refer to it."""
    used, days = row["used_by"], usage_summary.DAYS
    texts = [count(reads, "read")] * bool(reads) + [f"used by {used:,}"] * bool(used)
    said = f"{count(reads, 'read')} in {days} days; {count(used, 'reference')} by other skills"
    return _mark(", ".join(texts), said, "related" if used else "versions") if texts else None


def _mark(text: str, explained: str, part: str, tone: str = "") -> Row:
    return {"text": text, "explained": explained, "part": part, "tone": tone}


_MOST_USED = """
    SELECT s.skill_id, s.name, count(DISTINCT r.skill) AS n
    FROM (SELECT to_skill FROM skill_references INDEXED BY skill_references_by_to_skill
          WHERE to_skill IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 300) AS linked
    CROSS JOIN skills AS s ON s.id = linked.to_skill AND s.status = 'active'
    CROSS JOIN skill_references AS r ON r.to_skill = s.id AND r.skill != s.id
    GROUP BY s.id ORDER BY n DESC, s.name LIMIT ?
"""  # of those with the most links, which an index counts
_CARDS = f"""
    SELECT s.id, s.skill_id, s.name, s.description, s.status, s.status_reason, s.spec_valid,
           s.estimated_tokens, s.last_changed, s.has_scripts, s.source, s.source_kind,
           {IS_NEWEST} AS is_newest, s.tools, s.hosts,
           (SELECT count(DISTINCT skill) FROM skill_references
                INDEXED BY skill_references_by_to_skill
            WHERE to_skill = s.id AND skill != s.id) AS used_by,
           (SELECT json_group_array(json_object('severity', severity, 'code', code)) FROM findings
            WHERE skill = s.id AND profile = 'safety') AS safety
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    ORDER BY wanted.key
"""
