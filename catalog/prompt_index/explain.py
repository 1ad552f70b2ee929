"""Explanation of an index: its text at a time, and the reason for each skill in it or not."""

from datetime import UTC, datetime
from typing import Any

from sqlite_utils import Database

from catalog.model.errors import NotInCatalog
from catalog.prompt_index.builder import NAMED_LEFT_OUT, IndexSpec, PromptIndex
from catalog.prompt_index.query import index_spec, parameters, wanted
from catalog.text.times import iso


def said_at(db: Database, name: str, moment: datetime) -> dict[str, Any]:
    """Return what an index said at a time: its text, when it was published, size and counts.

    Raises NotInCatalog where nothing is kept of that time.
    """
    index_spec(db, name)
    found = db.query(
        f"{_BUILDS} AND b.published_at <= ? ORDER BY b.published_at DESC, b.id DESC LIMIT 1",
        [name, iso(moment.astimezone(UTC))],
    )
    for row in found:
        return row
    first = next(iter(db.query(f"{_BUILDS} ORDER BY b.published_at LIMIT 1", [name])), None)
    since = f"; the first that is kept is of {first['published_at']}" if first else ""
    raise NotInCatalog(f"Nothing is kept of what index {name} said then{since}.")


_BUILDS = """
    SELECT b.published_at, b.sha256, t.chars, t.estimated_tokens, b.full, b.shortened, b.name_only,
           b.left_out, t.text
    FROM index_builds AS b JOIN index_texts AS t USING (sha256) WHERE b.index_name = ?
"""


def explain(db: Database, spec: IndexSpec, index: PromptIndex) -> dict[str, Any]:
    """Return who is in an index, in which state, and who is not and why.

    Of those that are not, each reason has the number of skills and the first of their names.
    """
    entries = [
        {
            "rank": rank,
            "name": entry.name,
            "state": entry.state,
            "chars": entry.chars,
            "reason": entry.reason,
        }
        for rank, entry in enumerate(index.entries, start=1)
    ]
    seen = "s.status = 'active' AND s.model_invocable"
    return {
        "entries": entries,
        "left_out": {
            "over_budget": {"count": index.left_out, "names": list(index.left_out_names)},
            "hidden": _out(db, spec, f"{seen} = 0"),
            "filtered": _out(db, spec, f"{seen} = 1 AND NOT ({wanted(spec)})"),
        },
    }


def _out(db: Database, spec: IndexSpec, why: str) -> dict[str, Any]:
    asked = parameters(spec) | {"most": NAMED_LEFT_OUT}
    names = db.query(
        f"SELECT s.name FROM skills AS s WHERE {why} ORDER BY s.name LIMIT :most", asked
    )
    count = db.execute(f"SELECT count(*) FROM skills AS s WHERE {why}", asked).fetchone()[0]
    return {"count": count, "names": [row["name"] for row in names]}
