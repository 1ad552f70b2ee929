"""Explanations of an index: its text at a time, and the reason for each skill in it or left out."""

from datetime import UTC, datetime
from typing import Any

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.prompt_index.builder import NAMED_LEFT_OUT, IndexSpec, PromptIndex
from catalog.prompt_index.query import index_spec, parameters, wanted
from catalog.text.humanize import iso


def said_at(db: Database, name: str, moment: datetime) -> dict[str, Any]:
    """Return the publication of an index that was in force at a time: text, time, size, counts.

    Raises NotInCatalog where none of that time is kept.
    """
    index_spec(db, name)
    builds = db.query(
        f"{_BUILDS} AND b.published_at <= ? ORDER BY b.published_at DESC, b.id DESC LIMIT 1",
        [name, iso(moment.astimezone(UTC))],
    )
    for row in builds:
        return row
    first = next(iter(db.query(f"{_BUILDS} ORDER BY b.published_at LIMIT 1", [name])), None)
    since = f"; the oldest one kept is of {first['published_at']}" if first else ""
    raise NotInCatalog(f"No text of index {name} is kept from that time{since}.")


_BUILDS = """
    SELECT b.published_at, b.sha256, t.chars, t.estimated_tokens, b.full, b.shortened, b.name_only,
           b.left_out, t.text
    FROM index_builds AS b JOIN index_texts AS t USING (sha256) WHERE b.index_name = ?
"""


def explain(db: Database, spec: IndexSpec, index: PromptIndex) -> dict[str, Any]:
    """Return the skills in an index with their states, and those left out, by reason.

    Each reason for being left out has the number of skills and their first names.
    """
    entries = [
        {
            "rank": rank,
            "name": entry.name,
            "state": entry.state,
            "chars": entry.chars,
            "shown": entry.shown,
            "reason": entry.reason,
        }
        for rank, entry in enumerate(index.entries, start=1)
    ]
    active = "s.status = 'active' AND s.model_invocable"
    return {
        "entries": entries,
        "left_out": {
            "over_budget": {"count": index.left_out, "names": list(index.left_out_names)},
            "hidden": _left_out(db, spec, f"{active} = 0"),
            "filtered": _left_out(db, spec, f"{active} = 1 AND NOT ({wanted(spec)})"),
        },
    }


def _left_out(db: Database, spec: IndexSpec, condition: str) -> dict[str, Any]:
    values = parameters(spec) | {"most": NAMED_LEFT_OUT}
    names = db.query(
        f"SELECT s.name FROM skills AS s WHERE {condition} ORDER BY s.name LIMIT :most", values
    )
    count = db.execute(f"SELECT count(*) FROM skills AS s WHERE {condition}", values).fetchone()[0]
    return {"count": count, "names": [row["name"] for row in names]}
