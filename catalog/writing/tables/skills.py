"""Rows of skill folders: the state that scans compare and mark, without accepted content."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from sys import intern
from typing import NamedTuple

from catalog.database.queries import Writer, columns, to_json
from catalog.model.finding import Finding
from catalog.model.skill import FolderStats, Place
from catalog.text.humanize import iso
from catalog.writing.rows import derived


class KnownSkills(NamedTuple):
    """The stored state of skill folders that a scan compares with the folders.

    It is kept by column: rows of a hundred thousand skills would take 21 MB more.
    """

    fingerprints: Mapping[str, str]  # of all of them, by path
    stats: Mapping[str, FolderStats]  # of those that have any, by path
    pending: Collection[str]
    held: Collection[str]  # missing, but their removal is held


class Skills:
    """The tables of skills and of findings outside of skills."""

    def __init__(self, db: Writer) -> None:
        self._db = db

    def known(self, root: str, under: str = "") -> KnownSkills:
        """Return the skill folders of a root at or below a path that are not removed."""
        condition, bounds = _at_or_below("s.path", under)
        rows = self._db.execute(
            "SELECT s.path, fingerprint, pending_since IS NOT NULL, is_held,"
            " folder_paths, folder_stats FROM skills AS s"
            f" WHERE root = ? AND status != 'removed' AND {condition}",
            [root, *bounds],
        )
        fingerprints: dict[str, str] = {}
        stats: dict[str, FolderStats] = {}
        pending, held = set(), set()
        for path, fingerprint, is_pending, is_held, paths, digest in rows:
            fingerprints[path] = fingerprint
            if digest:
                stats[path] = FolderStats(intern(paths), digest)
            if is_pending:
                pending.add(path)
            if is_held:
                held.add(path)
        return KnownSkills(fingerprints, stats, pending, held)

    def seen_digests(self, root: str, paths: Collection[str]) -> dict[str, str]:
        """Return the digests of the last content read in skill folders, by path."""
        rows = self._db.execute(
            "SELECT path, seen_digest FROM skills WHERE root = ? AND seen_digest IS NOT NULL"
            " AND status != 'removed' AND path IN (SELECT value FROM json_each(?))",
            [root, to_json(list(paths))],
        )
        return dict(rows)

    def set_stats(self, root: str, stats: Mapping[str, FolderStats]) -> None:
        """Store the stats of folders, by path, so that the next scan need not list them."""
        if not stats:
            return
        with self._db.transaction():
            self._db.conn.executemany(
                "UPDATE skills SET folder_paths = ?, folder_stats = ? WHERE root = ? AND path = ?",
                [(*folder, root, path) for path, folder in stats.items()],
            )

    def places_of(self, digest: str) -> list[tuple[str, str, bool]]:
        """Return (root, path, is_held) of the skills with this accepted content."""
        return self._db.execute(
            "SELECT root, path, is_held FROM skills WHERE digest = ?"
            " AND status != 'removed' ORDER BY id",
            [digest],
        ).fetchall()

    def doubt(self, places: Sequence[tuple[str, str]]) -> None:
        """Clear fingerprint and digest of skills, so that the next scan stores them again."""
        with self._db.transaction():
            self._db.conn.executemany(
                "UPDATE skills SET fingerprint = '', digest = NULL WHERE root = ? AND path = ?",
                places,
            )

    def set_pending(
        self, place: Place, name: str, skill_id: str, since: datetime, reason: str
    ) -> None:
        """Mark a folder as pending; a folder that was never accepted gets a row for it."""
        with self._db.transaction():
            new = {"skill_id": skill_id, "name": name, "reason": reason, "since": iso(since)}
            self._db.execute(_UPSERT_PENDING, derived.of_place(place) | new)

    def pending_since(self, at: datetime) -> list[tuple[str, str, str]]:
        """Return root, path and reason of the folders that wait since a time or longer."""
        return self._db.execute(
            "SELECT root, path, pending_reason FROM skills INDEXED BY skills_pending"
            " WHERE pending_since <= ? AND NOT is_held ORDER BY pending_since, id",
            [iso(at)],
        ).fetchall()

    def clear_pending(self, root: str, paths: Sequence[str]) -> None:
        """Mark folders as settled without a change."""
        self._db.execute(
            "UPDATE skills SET pending_since = NULL, pending_reason = NULL, held_cause = NULL"
            " WHERE root = ? AND path IN (SELECT value FROM json_each(?))",
            [root, to_json(paths)],
        )

    def set_loose_findings(
        self, root: str, under: str, findings: Iterable[tuple[str, Finding]]
    ) -> None:
        """Replace the findings that belong to no skill, (folder, finding), below a path."""
        new = [derived.finding_row(None, root, folder, finding) for folder, finding in findings]
        below, bounds = _at_or_below("folder", under)
        condition, values = f"skill IS NULL AND root = ? AND {below}", [root, *bounds]
        selected = columns(derived.FINDING_COLUMNS)
        stored = self._db.execute(
            f"SELECT {selected} FROM findings WHERE {condition} ORDER BY id", values
        )
        if stored.fetchall() == new:
            return
        with self._db.transaction():
            self._db.execute(f"DELETE FROM findings WHERE {condition}", values)
            self._db.insert("findings", derived.FINDING_COLUMNS, new)


def _at_or_below(column: str, path: str) -> tuple[str, list[str]]:
    """Return a condition for paths at or below one, and its parameters; all are below ""."""
    if not path:
        return "true", []
    # The index serves the first two conditions; "0" follows "/" in code points.
    return (
        f"{column} >= ? AND {column} < ? AND ({column} = ? OR {column} > ?)",
        [path, f"{path}0", path, f"{path}/"],
    )


_UPSERT_PENDING = """
    INSERT INTO skills (skill_id, name, level, plugin, root, path, status, status_reason,
                        pending_since, pending_reason, first_seen, last_changed)
    VALUES (:skill_id, :name, :level, :plugin, :root, :path, 'pending', :reason,
            :since, :reason, :since, :since)
    ON CONFLICT (root, path) DO UPDATE SET
        pending_since = iif(is_held OR pending_since IS NULL, excluded.pending_since,
                            min(pending_since, excluded.pending_since)),
        pending_reason = excluded.pending_reason, held_cause = NULL,
        status = CASE status WHEN 'removed' THEN 'pending' ELSE status END,
        status_reason = CASE status WHEN 'removed' THEN excluded.status_reason
                                    ELSE status_reason END
"""
