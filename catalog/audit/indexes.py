"""Differences between the catalog and its published indexes."""

import json
from collections.abc import Iterator
from pathlib import Path

from catalog.audit.difference import Difference
from catalog.database.queries import Database
from catalog.prompt_index import query as prompt_index_query
from catalog.prompt_index.builder import report


def of_indexes(db: Database, folder: Path) -> Iterator[Difference]:
    """Yield the files in the index folder that differ from the indexes of the catalog."""
    for (name,) in db.execute("SELECT name FROM indexes ORDER BY position").fetchall():
        spec = prompt_index_query.index_spec(db, name)
        index = prompt_index_query.build_index(db, spec)
        if _read(folder / spec.file_name) != index.text.encode():
            yield Difference("index", str(folder), spec.file_name, "the file is out of date")
        report_name = f"{spec.name}.meta.json"
        expected = json.loads(json.dumps(report(spec, index)))
        published = _json(folder / report_name)
        if {key: value for key, value in published.items() if key in expected} != expected:
            yield Difference("index", str(folder), report_name, "the report is out of date")
        recorded = db.execute(
            "SELECT b.sha256 FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id"
            " WHERE i.name = ?",
            [name],
        ).fetchone()
        if recorded != (index.sha256,):
            yield Difference(
                "index",
                str(folder),
                spec.file_name,
                "the catalog does not record its publication",
            )


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _json(file: Path) -> dict[str, object]:
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
