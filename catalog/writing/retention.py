"""Retention: how much of the past and of the disk packages and history may take."""

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

from catalog.database.expressions import IS_WITHHELD, NEWEST
from catalog.database.queries import Database, Writer, to_json
from catalog.model.errors import OutOfRoom
from catalog.model.setting import Retention
from catalog.text.humanize import iso, size
from catalog.writing.packages.builder import PackageJob, Packaging


def collect(db: Database, packaging: Packaging, retention: Retention, at: datetime) -> int:
    """Remove the packages past retention, and return their number.

    The current, pinned and newest version of a skill stay, a newest one also while it waits for
    review, and so do versions that an index still names. Those of a removed skill are kept like
    superseded ones, so that it can be restored. A version without its package keeps its row, with
    its SKILL.md but without package_path: it can be read, but not published again. Raises the
    first OSError after trying all; the next call retries the failed ones.
    """
    # A time in the future dates from before the clock was set back; count from now.
    db.execute(
        "UPDATE versions SET retired_at = ?1 WHERE package_path IS NOT NULL AND retired_at > ?1",
        [iso(at)],
    )
    rows = db.execute(
        _COLLECTABLE,
        {
            "graced": iso(at - timedelta(seconds=retention.grace)),
            "too_old": iso(at - timedelta(days=retention.version_days)),
            "most": retention.versions,
        },
    ).fetchall()
    if not rows:
        return 0
    removed, failures = [], []
    with packaging.opened() as packages:
        for version, package_path in rows:
            try:
                packages.remove(package_path)
            except OSError as error:
                failures.append(error)
            else:
                removed.append(version)
    # After a crash before this, the next start finds the packages gone.
    db.execute(
        "UPDATE versions SET package_path = NULL WHERE id IN (SELECT value FROM json_each(?))",
        [to_json(removed)],
    )
    if failures:
        raise failures[0]
    return len(removed)


_COLLECTABLE = f"""
    WITH kept AS (
        SELECT v.id, v.package_path, v.retired_at,
               s.status = 'active' AND s.package_path IS NOT NULL
                   OR {IS_WITHHELD} AS is_public,
               s.status = 'removed' AS is_removed,
               v.id IS s.current_version_id AS is_current,
               v.id IS s.pinned_version_id AS is_pinned,
               v.id = {NEWEST} AS is_newest,
               ifnull(v.review, '') = 'waits' AND s.status != 'removed' AS waits,
               row_number() OVER (PARTITION BY v.skill ORDER BY v.id DESC) AS place,
               EXISTS (SELECT 1 FROM index_entries AS e WHERE e.skill = s.id) AS is_listed
        FROM versions AS v JOIN skills AS s ON s.id = v.skill
        WHERE v.package_path IS NOT NULL
            AND v.skill IN (SELECT skill FROM versions
                            WHERE package_path IS NOT NULL AND retired_at < :graced)
    )
    SELECT id, package_path FROM kept
    WHERE retired_at < :graced AND NOT is_pinned
        AND NOT (waits AND is_newest)
        AND NOT (is_current AND is_listed)
        AND (NOT (is_public OR is_removed)
             OR (is_removed OR NOT is_current AND NOT is_newest)
                AND (place > :most OR retired_at < :too_old))
"""


BATCH = 500
"""Rows deleted in one transaction, so that other writers need not wait."""


def thin(db: Writer, keep: Retention, at: datetime) -> int:
    """Delete rows past retention, and return the number of versions deleted. Raises sqlite3.Error.

    A version stays while it has a package, is the newest or current one of an existing skill, is
    pinned, or is the version of a run outcome. All other versions of a skill removed long ago are
    deleted; its row stays.
    """
    parameters = {
        "most": keep.history_rows,
        "past": iso(at - timedelta(days=keep.history_days)),
    }
    deleted = 0
    while batch := [row for (row,) in db.execute(_VERSIONS, parameters | {"limit": BATCH})]:
        with db.transaction():
            ids = [to_json(batch)]
            db.execute(
                f"UPDATE skills SET current_version_id = NULL WHERE status = 'removed'"
                f" AND current_version_id IN {_IDS}",
                ids,
            )
            texts = [text for (text,) in db.execute(_TEXTS, ids)]
            db.execute(f"DELETE FROM versions WHERE id IN {_IDS}", ids)
            db.execute(_FORGET_TEXTS, [to_json(texts)])
        deleted += len(batch)
    for query in (_INGESTIONS_BY_TIME, _INGESTIONS_BY_COUNT):
        while batch := [row for (row,) in db.execute(query, parameters | {"limit": BATCH})]:
            with db.transaction():
                db.execute(f"DELETE FROM ingestions WHERE id IN {_IDS}", [to_json(batch)])
    return deleted


_IDS = "(SELECT value FROM json_each(?))"
_TEXTS = """
    SELECT f.text_id FROM json_each(?) AS version CROSS JOIN files AS f ON f.version = version.value
    WHERE f.text_id IS NOT NULL
"""
_FORGET_TEXTS = f"""
    DELETE FROM texts WHERE id IN {_IDS}
        AND NOT EXISTS (SELECT 1 FROM files WHERE text_id = texts.id)
        AND NOT EXISTS (SELECT 1 FROM versions WHERE text_id = texts.id)
"""
_VERSIONS = """
    WITH crowded AS (SELECT skill FROM versions GROUP BY skill HAVING count(*) > :most),
    candidates AS (
        SELECT id FROM versions WHERE superseded_at IS NOT NULL AND superseded_at < :past
        UNION
        SELECT v.id FROM crowded AS c JOIN versions AS v ON v.skill = c.skill
            AND v.id <= (SELECT n.id FROM versions AS n WHERE n.skill = c.skill
                         ORDER BY n.id DESC LIMIT 1 OFFSET :most)
        UNION
        SELECT v.id FROM skills AS s JOIN versions AS v ON v.skill = s.id
            WHERE s.status = 'removed' AND s.last_changed < :past
    )
    SELECT v.id FROM candidates AS c JOIN versions AS v ON v.id = c.id
    JOIN skills AS s ON s.id = v.skill
    WHERE v.package_path IS NULL
        AND v.id IS NOT s.pinned_version_id
        AND (s.status = 'removed' AND s.last_changed < :past
             OR v.id IS NOT s.current_version_id
                AND v.id != (SELECT max(id) FROM versions WHERE skill = s.id))
        AND NOT EXISTS (SELECT 1 FROM outcomes WHERE version = v.id)
        AND NOT EXISTS (SELECT 1 FROM skill_text WHERE version = v.id)
    LIMIT :limit
"""
_INGESTIONS_BY_TIME = """
    SELECT id FROM ingestions
    WHERE started_at < :past AND id != (SELECT max(id) FROM ingestions) LIMIT :limit
"""  # Listeners remember the last id that they were given, so ids must not be used twice.
_INGESTIONS_BY_COUNT = """
    WITH crowded AS (SELECT skill FROM ingestions WHERE skill IS NOT NULL
                     GROUP BY skill HAVING count(*) > :most)
    SELECT i.id FROM crowded AS c JOIN ingestions AS i ON i.skill = c.skill
        AND i.id <= (SELECT n.id FROM ingestions AS n WHERE n.skill = c.skill
                     ORDER BY n.id DESC LIMIT 1 OFFSET :most)
    LIMIT :limit
"""


def check_room(
    db: Database, retention: Retention, folder: Path, jobs: Iterable[PackageJob]
) -> None:
    """Raise OutOfRoom if packages would take more of the disk than the settings allow.

    A file that a package shares with another counts, too.
    """
    needed = sum(file.size for job in jobs for file in job.files)
    if retention.free_bytes:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        disk = os.statvfs(existing)
        free = disk.f_bavail * disk.f_frsize
        if free - needed < retention.free_bytes:
            raise OutOfRoom(
                f"Nothing is published: the disk of {folder} has {size(free)} free, packages would "
                f"take {size(needed)}, and [retention] free_bytes keeps "
                f"{size(retention.free_bytes)}. Free some space; publication then resumes by "
                "itself."
            )
    if retention.packages_bytes is not None:
        (taken,) = db.execute(_TAKEN).fetchone()
        if taken + needed > retention.packages_bytes:
            raise OutOfRoom(
                f"Nothing is published: packages take {size(taken)} and would take "
                f"{size(needed)} more, and [retention] packages_bytes allows "
                f"{size(retention.packages_bytes)}. Raise it, or keep fewer versions or for fewer "
                "days, also those of removed skills."
            )


_TAKEN = """
    SELECT ifnull(sum(bytes), 0) FROM versions INDEXED BY versions_packaged
    WHERE package_path IS NOT NULL
"""
