"""Storage of the service's health, in the catalog and in a file beside it."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from catalog.database.expressions import AWAITING_REVIEW, IS_WITHHELD, STAYS_AT_VERSION
from catalog.database.queries import Database
from catalog.model.trouble import Trouble

SIZE = 32768
"""Bytes of the file, allocated once and written in place, which works on a full disk."""
LONGEST = 300
"""Characters of a sentence in the file, at most."""


def load(db: Database, catalog: Path | None) -> dict[str, Any]:
    """Return the health row, troubles, held removals, withheld skills and other open questions.

    A service that cannot write its catalog writes the file beside it. The file is newer if it
    names the last `service_seen` of the row; times cannot be compared, as the clock may go back.
    """
    row = next(db.query("SELECT * FROM health"))
    troubles = db.rows("SELECT * FROM troubles ORDER BY since, part")
    file = read_file(catalog) if catalog else {}
    written_by = file.get("pid"), file.get("after")
    if row["service_pid"] is not None and written_by == (row["service_pid"], row["service_seen"]):
        row["service_seen"], troubles = file["seen"], file["troubles"]
    return {
        "health": row,
        "roots": db.rows(
            "SELECT r.path, m.url, ifnull(m.trouble, r.trouble) AS trouble FROM roots AS r"
            " LEFT JOIN mirrors AS m ON m.root = r.path"
            " WHERE configured = 1 AND ifnull(m.trouble, r.trouble) IS NOT NULL"
            " ORDER BY position"
        ),
        "held": db.rows(_HELD),
        "withheld": db.rows(_WITHHELD),
        **next(db.query(_COUNTS)),
        "unlinked_outcomes": next(db.query(_UNLINKED)),
        "troubles": troubles,
    }


def to_review(db: Database) -> int:
    """Return the number of versions that wait for review."""
    return int(next(db.query(_COUNTS))["to_review"])


def file_of(catalog: Path) -> Path:
    """Return the path of the health file of a catalog."""
    return catalog.with_name(f"{catalog.name}.health")


def write_file(
    catalog: Path, pid: int, seen: str, after: str | None, troubles: Sequence[Trouble]
) -> None:
    """Write as many troubles as fit into the file, in place. Raises OSError.

    after is the last service_seen that was written to the catalog.
    """
    entries = [asdict(trouble) | {"message": trouble.message[:LONGEST]} for trouble in troubles]
    state = {"pid": pid, "seen": seen, "after": after, "troubles": entries}
    while len(content := json.dumps(state).encode() + b"\n") > SIZE:
        entries.pop()
    handle = os.open(
        file_of(catalog), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644
    )
    try:
        os.pwrite(handle, content.ljust(SIZE), 0)
    finally:
        os.close(handle)


def read_file(catalog: Path) -> dict[str, Any]:
    """Return pid, seen, after and troubles from the file; {} where it cannot be read."""
    for _ in range(3):  # a read may coincide with a write
        with suppress(OSError, ValueError):
            content = json.loads(file_of(catalog).read_bytes())
            return content if isinstance(content, dict) else {}
    return {}


_COUNTS = f"""
    SELECT (SELECT count(*) FROM {AWAITING_REVIEW}) AS to_review,
        (SELECT count(*) FROM findings WHERE code = 'internal-error') AS internal_errors,
        (SELECT count(*) FROM skills WHERE is_conflict = 1) AS name_conflicts
"""
_UNLINKED = """
    SELECT (SELECT count(*) FROM outcomes WHERE is_newest = 1 AND skill IS NULL) AS of_no_skill,
        (SELECT count(*) FROM outcomes WHERE is_newest = 1 AND version IS NULL
            AND version_declared IS NOT NULL AND skill IS NOT NULL) AS of_no_version,
        (SELECT path FROM outcomes WHERE is_newest = 1 AND skill IS NULL
            ORDER BY id DESC LIMIT 1) AS newest_of_no_skill,
        (SELECT path FROM outcomes WHERE is_newest = 1 AND version IS NULL
            AND version_declared IS NOT NULL AND skill IS NOT NULL
            ORDER BY id DESC LIMIT 1) AS newest_of_no_version
"""
_HELD = """
    SELECT root, pending_reason AS reason, count(*) AS skills
    FROM skills INDEXED BY skills_pending
    WHERE pending_since IS NOT NULL AND is_held GROUP BY root, pending_reason ORDER BY root, reason
"""
_WITHHELD = f"""
    SELECT s.skill_id, s.root, s.path, s.status_reason AS reason,
           s.pinned_version_id IS NOT NULL AS is_held,
           s.pinned_version_id IS NULL AND {STAYS_AT_VERSION} AS is_reviewed
    FROM skills AS s WHERE {IS_WITHHELD} AND s.id IN (
        SELECT id FROM skills WHERE pinned_version_id IS NOT NULL
        UNION SELECT skill FROM versions WHERE review IN ('waits', 'rejected'))
    ORDER BY s.skill_id
"""
