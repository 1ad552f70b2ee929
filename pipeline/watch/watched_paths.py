"""Paths of the watched directories of one root, in little memory."""

import sqlite3
import weakref

_TABLE = """
PRAGMA journal_mode = OFF;
CREATE TABLE directory (watch INTEGER PRIMARY KEY, parent INTEGER NOT NULL, name BLOB NOT NULL);
CREATE UNIQUE INDEX by_name ON directory (parent, name);
"""
_DEEPEST = 2048  # directories: a path has at most 4,096 bytes


class WatchedPaths:
    """Tree of the names of watched directories, for one thread at a time.

    A directory takes about 60 bytes in a table of SQLite; in dicts by watch and by path it would
    take 300. One that moves takes those below it along.
    """

    def __init__(self, root: bytes) -> None:
        """Take the path of the root, the first directory to be added."""
        self._root = root
        self._prefix = root.rstrip(b"/") + b"/"
        self._root_watch: int | None = None
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._database.executescript(_TABLE)
        weakref.finalize(self, self._database.close)

    def path(self, watch: int) -> bytes | None:
        """Return the path of a watch; None if it is unknown."""
        names: list[bytes] = []
        while watch != self._root_watch:
            row = self._database.execute(
                "SELECT parent, name FROM directory WHERE watch = ?", (watch,)
            ).fetchone()
            if row is None or len(names) == _DEEPEST:
                return None
            watch = row[0]
            names.append(row[1])
        return self._prefix + b"/".join(reversed(names)) if names else self._root

    def get(self, path: bytes) -> int | None:
        """Return the watch of a path; None if it is not watched."""
        watch = self._root_watch
        if path == self._root:
            return watch
        if not path.startswith(self._prefix):
            return None
        for name in path[len(self._prefix) :].split(b"/"):
            row = self._database.execute(
                "SELECT watch FROM directory WHERE parent = ? AND name = ?", (watch, name)
            ).fetchone()
            if row is None:
                return None
            (watch,) = row
        return watch

    def add(self, path: bytes, watch: int) -> bool:
        """Record a watch, and forget another one of the same path.

        Return False if the watch had another path: it moved before the event of that was read, so
        events that are still to come may be about a directory that was never watched. Also if the
        directory above is not watched; then nothing is recorded.
        """
        if path == self._root:
            self._root_watch = watch
            return True
        parent, name = self._place(path)
        if parent is None:
            return False
        ((has_moved,),) = self._database.execute(
            "SELECT EXISTS (SELECT 1 FROM directory WHERE watch = ? AND (parent, name) != (?, ?))",
            (watch, parent, name),
        )
        self._database.execute(
            "INSERT OR REPLACE INTO directory VALUES (?, ?, ?)", (watch, parent, name)
        )
        return not has_moved

    def move(self, source: bytes, target: bytes) -> bool:
        """Record a new path for a directory; return whether its old one was watched."""
        watch, (parent, name) = self.get(source), self._place(target)
        if watch is None or parent is None:
            return False
        self._database.execute(
            "UPDATE OR REPLACE directory SET parent = ?, name = ? WHERE watch = ?",
            (parent, name, watch),
        )
        return True

    def remove(self, watch: int) -> None:
        """Forget a watch, if it is known."""
        self._database.execute("DELETE FROM directory WHERE watch = ?", (watch,))

    def _place(self, path: bytes) -> tuple[int | None, bytes]:
        """Return the watch of the directory above a path, and the name in it."""
        above, _, name = path.rpartition(b"/")
        return self.get(above or b"/"), name
