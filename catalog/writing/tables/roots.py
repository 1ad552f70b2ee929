"""Rows of the configured roots, and of those that are mirrors of repositories."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from catalog.database.sql import to_json
from catalog.database.writer import Writer
from catalog.model import naming
from catalog.model.skill import RootSpec
from catalog.text.humanize import iso
from catalog.writing.rows import shadowing
from catalog.writing.tables.removals import NO_ROOT, Removals


class Roots:
    """The table of roots, and the state of skills that depends on it."""

    def __init__(self, db: Writer, removals: Removals) -> None:
        """Take the catalog, and the removals held in it."""
        self._db = db
        self._removals = removals

    def configure(self, roots: Sequence[RootSpec], judged_by: str, at: datetime) -> None:
        """Store the configured roots in their order.

        Skills of a root whose rules changed lose their fingerprint, so that the next scan judges
        them again; published content then needs no review. That scan also holds the removal of
        skills whose root is no longer configured; configuring the root again restores them.
        """
        with self._db.transaction():
            known = {row["path"]: row for row in self._db.query("SELECT * FROM roots")}
            # Unconfigured roots come after the configured ones.
            self._db.execute("UPDATE roots SET configured = 0, position = ?", [len(roots)])
            for position, root in enumerate(roots):
                rules = f"{judged_by} {root.level} {root.acceptance} {' '.join(root.profiles)}"
                if root.namespace != naming.NO_NAMESPACE:
                    rules += f" {root.namespace}"
                if root.review != "none":
                    rules += f" review={root.review},{root.review_severity}"
                if root.secrets != "leave-out":
                    rules += f" secrets {root.secrets}"
                self._db.execute(
                    _UPSERT,
                    [
                        root.path,
                        root.level,
                        position,
                        root.acceptance,
                        to_json(root.profiles),
                        rules,
                        root.review,
                        root.review_severity,
                    ],
                )
                if root.path in known and known[root.path]["judged_by"] != rules:
                    self._db.execute(
                        "UPDATE skills SET fingerprint = '' WHERE root = ?", [root.path]
                    )
                if root.path in known and not known[root.path]["configured"]:
                    self._removals.release_root(root.path)
            self._db.execute(
                "DELETE FROM findings WHERE skill IS NULL AND root IN"
                " (SELECT path FROM roots WHERE configured = 0)"
            )
            shadowing.decide_all(self._db, iso(at), "start")

    def unconfigured(self, *, with_held: bool = False) -> dict[str, list[str]]:
        """Return the paths of the skills whose root is no longer configured, by root.

        Skills whose removal is already held for that reason are left out unless `with_held`.
        """
        paths: dict[str, list[str]] = {}
        # Roots first: there are few of them, and each has an index of its skills.
        for root, path in self._db.execute(
            "SELECT s.root, s.path FROM roots AS r CROSS JOIN skills AS s ON s.root = r.path"
            " WHERE r.configured = 0 AND s.status != 'removed'"
            " AND (? OR s.held_cause IS NOT ?)",
            [with_held, NO_ROOT.cause],
        ):
            paths.setdefault(root, []).append(path)
        return paths

    def set_trouble(self, root: str, trouble: str | None) -> None:
        """Store why a root cannot be read at present, or None if it can be read."""
        if self._db.execute(
            "SELECT 1 FROM roots WHERE path = ? AND trouble IS NOT ?", [root, trouble]
        ).fetchone():  # an UPDATE takes the write lock even if it changes nothing
            self._db.execute("UPDATE roots SET trouble = ? WHERE path = ?", [trouble, root])


_UPSERT = """
    INSERT INTO roots (path, level, position, acceptance, profiles, judged_by, review,
                       review_severity, review_from)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT ifnull(max(id), 0) + 1 FROM versions))
    ON CONFLICT (path) DO UPDATE SET level = excluded.level, position = excluded.position,
        acceptance = excluded.acceptance, profiles = excluded.profiles,
        review_from = iif(judged_by = excluded.judged_by, review_from, excluded.review_from),
        judged_by = excluded.judged_by, review = excluded.review,
        review_severity = excluded.review_severity, configured = 1
"""


class Mirrors:
    """The roots that are repositories."""

    def __init__(self, db: Writer) -> None:
        """Take the catalog."""
        self._db = db

    def configure(self, roots: Sequence[RootSpec], commits: Mapping[str, str | None]) -> None:
        """Store the origins of the configured roots, whose rows exist, and their commits."""
        with self._db.transaction():
            self._db.conn.executemany(
                _CONFIGURE,
                [
                    (
                        root.origin.url,
                        root.origin.ref,
                        root.origin.path,
                        commits.get(root.path),
                        root.path,
                    )
                    for root in roots
                    if root.origin
                ],
            )

    def pulled(self, root: str, commit: str, at: datetime) -> None:
        """Store a successful pull."""
        self._db.execute(
            "UPDATE roots SET git_commit = ?, git_pulled_at = ?, git_trouble = NULL WHERE path = ?",
            [commit, iso(at), root],
        )

    def failed(self, root: str, trouble: str) -> None:
        """Store why a pull failed; the rest stays."""
        self._db.execute("UPDATE roots SET git_trouble = ? WHERE path = ?", [trouble, root])

    def unused(self) -> list[str]:
        """Return the roots that are no longer configured and have no skill left."""
        rows = self._db.execute(
            "SELECT m.root FROM mirrors AS m JOIN roots AS r ON r.path = m.root"
            " WHERE r.configured = 0 AND NOT EXISTS"
            " (SELECT 1 FROM skills WHERE root = m.root AND status != 'removed')"
        )
        return [root for (root,) in rows]

    def forget(self, root: str) -> None:
        """Forget that a root is a mirror."""
        self._db.execute("UPDATE roots SET git_url = NULL WHERE path = ?", [root])


_CONFIGURE = """
    UPDATE roots SET git_url = ?, git_ref = ?, git_path = ?, git_commit = ? WHERE path = ?
"""
