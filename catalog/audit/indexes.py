"""Differences between the catalog and its published indexes."""

import json
from collections.abc import Iterator
from pathlib import Path

from sqlite_utils import Database

from catalog.audit.difference import Difference
from catalog.prompt_index import query as prompt_index_query
from catalog.prompt_index.builder import report

# Against what is published


def of_indexes(db: Database, folder: Path) -> Iterator[Difference]:
    """Yield the index files that are not what the catalog says now."""
    for (name,) in db.execute("SELECT name FROM indexes ORDER BY position").fetchall():
        spec = prompt_index_query.index_spec(db, name)
        index = prompt_index_query.build_index(db, spec)
        file = folder / spec.file_name
        if _read(file) != index.text.encode():
            yield Difference("index", str(file), "the file is not what the catalog says")
        meta = folder / f"{spec.name}.meta.json"
        expected = json.loads(json.dumps(report(spec, index)))
        if {key: value for key, value in _json(meta).items() if key in expected} != expected:
            yield Difference("index", str(meta), "the report is not what the catalog says")
        recorded = db.execute(
            "SELECT b.sha256 FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id"
            " WHERE i.name = ?",
            [name],
        ).fetchone()
        if recorded != (index.sha256,):
            yield Difference("index", name, "the catalog has not noted its publication")


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _json(file: Path) -> dict[str, object]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
