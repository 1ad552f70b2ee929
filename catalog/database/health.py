"""Health of the service as it is stored: in the catalog, and in a file beside it."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from catalog.database import withheld
from catalog.model.trouble import Trouble

SIZE = 32768
"""Bytes of the file. They are allocated once and written in place, which a full disk allows."""
LONGEST = 300
"""Characters of a sentence in the file."""


def look(db: Database, catalog: Path | None) -> dict[str, Any]:
    """Return the health row, roots in trouble, removals held, skills withheld, and failed work.

    Where the service could not write its catalog, it has written the file beside it. That one is
    newer while the row is still what it was written after; times of day may go back.
    """
    row = next(iter(db.query("SELECT * FROM health")))
    troubles = list(
        db.query(
            "SELECT part, what, since, times, last_at, next_try_at FROM troubles"
            " ORDER BY since, part"
        )
    )
    beside = read_file(catalog) if catalog else {}
    written_by = beside.get("pid"), beside.get("after")
    if row["service_pid"] is not None and written_by == (row["service_pid"], row["service_seen"]):
        row["service_seen"], troubles = beside["seen"], beside["troubles"]
    return {
        "health": row,
        "roots": list(
            db.query(
                "SELECT path, trouble FROM roots WHERE configured = 1 AND trouble IS NOT NULL"
                " ORDER BY position"
            )
        ),
        "held": list(db.query(_HELD)),
        "withheld": list(db.query(_WITHHELD)),
        "troubles": troubles,
    }


def replace(db: Database, troubles: Sequence[Trouble]) -> None:
    """Make these the troubles there are; within a transaction of the caller's."""
    db.execute("DELETE FROM troubles")
    db.conn.executemany(
        "INSERT INTO troubles (part, what, since, times, last_at, next_try_at)"
        " VALUES (:part, :what, :since, :times, :last_at, :next_try_at)",
        map(asdict, troubles),
    )


def file_of(catalog: Path) -> Path:
    """Return the file beside a catalog that health is written into."""
    return catalog.with_name(f"{catalog.name}.health")


def write_file(
    catalog: Path, pid: int, seen: str, after: str | None, troubles: Sequence[Trouble]
) -> None:
    """Write troubles in place, as many as there is room for. Raises OSError.

    after is the service_seen that was written last into the catalog.
    """
    told = [asdict(one) | {"what": one.what[:LONGEST]} for one in troubles]
    while len(content := _content(pid, seen, after, told)) > SIZE:
        told.pop()
    handle = os.open(
        file_of(catalog), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644
    )
    try:
        os.pwrite(handle, content.ljust(SIZE), 0)
    finally:
        os.close(handle)


def _content(
    pid: int, seen: str, after: str | None, troubles: Sequence[Mapping[str, Any]]
) -> bytes:
    return (
        json.dumps({"pid": pid, "seen": seen, "after": after, "troubles": troubles}).encode()
        + b"\n"
    )


def read_file(catalog: Path) -> dict[str, Any]:
    """Return what the file holds: pid, seen, after, troubles; nothing where it cannot be read."""
    for _ in range(3):  # one may be read in the moment in which it is written
        with suppress(OSError, ValueError):
            found = json.loads(file_of(catalog).read_bytes())
            return found if isinstance(found, dict) else {}
    return {}


_HELD = """
    SELECT root, pending_reason AS why, count(*) AS skills
    FROM skills INDEXED BY skills_pending
    WHERE pending_since IS NOT NULL AND is_held GROUP BY root, pending_reason ORDER BY root, why
"""
_WITHHELD = f"""
    SELECT s.skill_id, s.root, s.path, s.status_reason AS why,
           s.pinned_version_id IS NOT NULL AS is_held
    FROM skills AS s WHERE {withheld.IS_WITHHELD} AND s.id IN (
        SELECT id FROM skills WHERE pinned_version_id IS NOT NULL
        UNION SELECT id FROM skills WHERE digest = '')
    ORDER BY s.skill_id
"""
