"""Rows of the configured roots, some of which are mirrors of repositories."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from catalog.database.queries import Writer, to_json
from catalog.model.skill import RootSpec
from catalog.text.humanize import iso
from catalog.writing.rows import shadowing
from catalog.writing.tables.removals import NO_ROOT


class Roots:
    """The table of roots, and the state of skills that depends on it."""

    def __init__(self, db: Writer) -> None:
        self._db = db

    def configure(
        self,
        roots: Sequence[RootSpec],
        judged_by: str,
        at: datetime,
        commits: Mapping[str, str | None] | None = None,
    ) -> None:
        """Store the configured roots in their order, and the commits of mirrors by root.

        Skills of a root whose rules changed lose their fingerprint, so that the next scan judges
        them again; published content then needs no review. That scan also holds the removal of
        skills whose root is no longer configured; configuring the root again restores them.
        """
        with self._db.transaction():
            known = {row["path"]: row for row in self._db.query("SELECT * FROM roots")}
            # Unconfigured roots come after the configured ones.
            self._db.execute("UPDATE roots SET configured = 0, position = ?", [len(roots)])
            for position, root in enumerate(roots):
                rules = (judged_by, root.level, root.acceptance, *root.profiles, root.namespace)
                rules += (root.review, root.secrets)
                row = {
                    "path": root.path,
                    "level": root.level,
                    "position": position,
                    "acceptance": root.acceptance,
                    "profiles": to_json(root.profiles),
                    "rules": " ".join(rules),
                    "review": root.review,
                }
                self._db.execute(_UPSERT, row)
                if origin := root.origin:
                    commit = (commits or {}).get(root.path)
                    git = [origin.url, origin.ref, origin.path, commit, root.path]
                    self._db.execute(_SET_ORIGIN, git)
                before = known.get(root.path)
                if before and before["judged_by"] != row["rules"]:
                    self._db.execute(
                        "UPDATE skills SET fingerprint = '' WHERE root = ?", [root.path]
                    )
                if before and not before["configured"]:
                    self._db.execute(_RELEASE, [root.path, NO_ROOT.cause])
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

    # Mirrors

    def pulled(self, root: str, commit: str, at: datetime) -> None:
        """Store a successful pull."""
        self._db.execute(
            "UPDATE roots SET git_commit = ?, git_pulled_at = ?, git_trouble = NULL WHERE path = ?",
            [commit, iso(at), root],
        )

    def pull_failed(self, root: str, trouble: str) -> None:
        """Store why a pull failed; the rest stays."""
        self._db.execute("UPDATE roots SET git_trouble = ? WHERE path = ?", [trouble, root])

    def unused_mirrors(self) -> list[str]:
        """Return the mirrors that are no longer configured and have no skill left."""
        rows = self._db.execute(
            "SELECT path FROM roots AS r WHERE git_url IS NOT NULL AND configured = 0"
            " AND NOT EXISTS (SELECT 1 FROM skills WHERE root = r.path AND status != 'removed')"
        )
        return [root for (root,) in rows]

    def forget_mirror(self, root: str) -> None:
        """Forget that a root is a mirror."""
        self._db.execute("UPDATE roots SET git_url = NULL WHERE path = ?", [root])


_UPSERT = """
    INSERT INTO roots (path, level, position, acceptance, profiles, judged_by, review,
                       review_from)
    VALUES (:path, :level, :position, :acceptance, :profiles, :rules, :review,
            (SELECT ifnull(max(id), 0) + 1 FROM versions))
    ON CONFLICT (path) DO UPDATE SET level = excluded.level, position = excluded.position,
        acceptance = excluded.acceptance, profiles = excluded.profiles,
        review_from = iif(judged_by = excluded.judged_by, review_from, excluded.review_from),
        judged_by = excluded.judged_by, review = excluded.review,
        configured = 1
"""
_SET_ORIGIN = """
    UPDATE roots SET git_url = ?, git_ref = ?, git_path = ?, git_commit = ? WHERE path = ?
"""
_RELEASE = """
    UPDATE skills SET pending_since = NULL, pending_reason = NULL, held_cause = NULL
    WHERE root = ? AND pending_since IS NOT NULL AND held_cause = ?
"""
