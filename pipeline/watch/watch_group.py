"""watchdog's group of the watches below one root, which takes little memory."""

import os

from watchdog.observers.inotify import InotifyWatchGroup
from watchdog.observers.inotify_c import InotifyEvent, WatchDescriptor

from pipeline.watch.inotify_reader import InotifyReader
from pipeline.watch.watched_paths import WatchedPaths


class WatchGroup(InotifyWatchGroup):
    """Watches of a root and the directories below it.

    watchdog records the paths in two dicts, which it confuses if directories are exchanged while
    it looks at them; WatchedPaths takes their place.
    """

    _inotify_fd: InotifyReader

    def __post_init__(self) -> None:
        self._paths = WatchedPaths(self.path)
        self._active_callbacks_by_path = self._paths  # type: ignore[assignment]  # only for `get`
        super().__post_init__()

    def watches(self, path: bytes) -> bool:
        """Return whether a directory is watched."""
        with self._lock:
            return self._paths.get(path) is not None

    def _build_event_source_path(self, event: InotifyEvent) -> bytes | None:
        directory = self._paths.path(event.wd)
        return os.path.join(directory, event.name) if directory and event.name else directory

    def _move_watches(self, move_src_path: bytes, move_dst_path: bytes) -> bool:
        return self._paths.move(move_src_path, move_dst_path)

    def _add_callback(self, path: bytes) -> None:
        try:
            watch = self._inotify_fd.add_callback(path, self.event_mask, self._callback, self._id)
        except OSError:
            if path == self.path:
                raise
        else:
            self._inotify_fd.has_missed |= not self._paths.add(path, watch)

    def _remove_watch_internally(self, wd: WatchDescriptor) -> None:
        self._paths.remove(wd)
