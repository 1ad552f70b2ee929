"""Columns of the roots that are mirrors of repositories."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from catalog.database.queries import Database
from catalog.database.sql import Transaction
from catalog.model.skill import RootSpec
from catalog.text.times import iso


class Mirrors:
    """The roots that are repositories."""

    def __init__(self, db: Database, transaction: Transaction) -> None:
        """Take the catalog and its transactions."""
        self._db = db
        self._transaction = transaction

    def configure(self, roots: Sequence[RootSpec], commits: Mapping[str, str | None]) -> None:
        """Store the origins of the configured roots, whose rows exist, and their commits."""
        with self._transaction():
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
