"""Stored indexes: their settings, publications and entries, and the reasons of those left out."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, get_args

from catalog.database.queries import Database, Writer, columns, to_json
from catalog.model.setting import Retention
from catalog.prompt_index.builder import NAMED_LEFT_OUT, PromptIndex, State
from catalog.prompt_index.query import STORED, parameters, wanted
from catalog.prompt_index.spec import IndexSpec
from catalog.text import tokens
from catalog.text.humanize import iso

USUAL = Retention()


class IndexHistory:
    """The configured indexes and their publications in a catalog open for writing."""

    def __init__(self, db: Writer) -> None:
        self._db = db

    def configure(self, specs: Sequence[IndexSpec]) -> None:
        """Store the configured indexes; remove all others with their history."""
        names = to_json([spec.name for spec in specs])
        with self._db.transaction():
            removed = self._db.execute(
                "DELETE FROM indexes WHERE name NOT IN (SELECT value FROM json_each(?))", [names]
            )
            if removed.rowcount:
                self._db.execute(
                    "DELETE FROM index_texts WHERE sha256 NOT IN (SELECT sha256 FROM index_builds)"
                )
            for position, spec in enumerate(specs):
                size, unit = spec.budget
                row = {setting: getattr(spec, setting) for setting in STORED} | {
                    "position": position,
                    "budget_chars": size if unit == "chars" else None,
                    "budget_tokens": size if unit == "tokens" else None,
                    "featured": to_json(spec.featured),
                    "filter": to_json(spec.selection._asdict()),
                }
                self._db.execute(_UPSERT_INDEX, row)

    def published_at(self, spec: IndexSpec, index: PromptIndex) -> str | None:
        """Return when an index with this content was published; None where the content is new."""
        last = self._db.execute(
            "SELECT b.published_at, b.sha256, b.left_out FROM indexes AS i"
            " JOIN index_builds AS b ON b.id = i.last_build_id WHERE i.name = ?",
            [spec.name],
        ).fetchone()
        if not last or last[1:] != (index.sha256, index.left_out):
            return None
        stored = self._db.execute(
            f"SELECT {columns(_COLUMNS)} FROM index_entries WHERE index_name = ? ORDER BY rank",
            [spec.name],
        ).fetchall()
        return str(last[0]) if stored == _rows(index) else None

    def record(
        self, spec: IndexSpec, index: PromptIndex, at: datetime, keep: Retention = USUAL
    ) -> None:
        """Store a publication of an index with its entries, and its text once.

        Publications beyond the limits are forgotten.
        """
        with self._db.transaction():
            last = "SELECT max(published_at) FROM index_builds WHERE index_name = ?"
            if published := self._db.execute(last, [spec.name]).fetchone()[0]:
                at = max(at, datetime.fromisoformat(published))  # the clock may have been set back
            self._db.execute(
                "INSERT OR IGNORE INTO index_texts VALUES (?, ?, ?, ?)",
                [index.sha256, index.text, len(index.text), tokens.estimate(index.text)],
            )
            counts = [index.count(state) for state in get_args(State)]
            build = self._db.execute(
                "INSERT INTO index_builds (index_name, sha256, published_at, full, shortened,"
                " name_only, left_out) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [spec.name, index.sha256, iso(at), *counts, index.left_out],
            )
            self._db.execute(
                "UPDATE indexes SET last_build_id = ? WHERE name = ?", [build.lastrowid, spec.name]
            )
            self._db.execute("DELETE FROM index_entries WHERE index_name = ?", [spec.name])
            entries = [(spec.name, rank, *row) for rank, row in enumerate(_rows(index), start=1)]
            self._db.conn.executemany(_INSERT_ENTRY, entries)
            _forget(self._db, spec, iso(at - timedelta(days=keep.index_days)), keep.index_builds)


def _forget(db: Database, spec: IndexSpec, past: str, most: int) -> None:
    """Delete publications replaced before a time, and all beyond the newest ones."""
    first_kept = db.execute(
        "SELECT max(published_at) FROM ("
        " SELECT max(published_at) AS published_at FROM index_builds"
        "  WHERE index_name = :name AND published_at <= :past"  # the one in force then is kept
        " UNION ALL SELECT * FROM (SELECT published_at FROM index_builds WHERE index_name = :name"
        "  ORDER BY published_at DESC LIMIT 1 OFFSET :most))",
        {"name": spec.name, "past": past, "most": most - 1},
    ).fetchone()[0]
    forgotten = db.execute(
        "DELETE FROM index_builds WHERE index_name = ? AND published_at < ? RETURNING sha256",
        [spec.name, first_kept],
    ).fetchall()
    db.conn.executemany(
        "DELETE FROM index_texts WHERE sha256 = ?1"
        " AND NOT EXISTS (SELECT 1 FROM index_builds WHERE sha256 = ?1)",
        forgotten,
    )


_COLUMNS = ("skill", "state", "chars", "reason", "shown")


def _rows(index: PromptIndex) -> list[tuple[Any, ...]]:
    """Return the rows of the entries of an index, in their order."""
    return [
        (entry.skill.skill, entry.state, len(entry.text), entry.reason, entry.shown)
        for entry in index.entries
    ]


_INDEX = (*STORED, "position", "featured", "filter")
_UPSERT_INDEX = f"""
    INSERT INTO indexes ({", ".join(_INDEX)}) VALUES ({", ".join(f":{name}" for name in _INDEX)})
    ON CONFLICT (name) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _INDEX)}
"""
_INSERT_ENTRY = f"""
    INSERT INTO index_entries (index_name, rank, {", ".join(_COLUMNS)})
    VALUES (?, ?, {", ".join("?" * len(_COLUMNS))})
"""


def explain(db: Database, spec: IndexSpec, index: PromptIndex) -> dict[str, Any]:
    """Return the skills in an index with their states, and those left out, by reason.

    Each reason for being left out has the number of skills and their first names.
    """
    entries = [
        {
            "rank": rank,
            "name": entry.skill.name,
            "state": entry.state,
            "chars": len(entry.text),
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
