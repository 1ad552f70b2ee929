"""Stat cache: names and stats of skill folders from earlier walks, compared without listing.

A directory that gains, loses or renames an entry gets a new time stamp, as a file does that
changes. So a folder is the same if the stats of all its directories and files are. Folders with
links or findings are not cached, as their content depends on more.
"""

import hashlib
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter

from catalog.model.paths import os_path
from catalog.model.skill import FolderStats
from pipeline.roots.ignore_files import IgnoreFile
from pipeline.roots.local.directory import Directory
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.mounts import network_type
from pipeline.roots.local.root_directory import RootDirectory

MARGIN_NS = 3_000_000_000
"""Age in ns from which a change is sure to differ in time from a later one, on all file systems."""

_FORMAT = "qQqqQ"
_values = attrgetter("st_size", "st_mode", "st_mtime_ns", "st_ctime_ns", "st_ino")


class StatCache:
    """Stats of the skill folders of a root from earlier walks, and those for later ones."""

    def __init__(
        self,
        root: RootDirectory,
        limits: Limits,
        fingerprints: Mapping[str, str],
        stats: Mapping[str, FolderStats],
    ) -> None:
        """Take the open root, and the results of earlier walks by path."""
        self._root = root
        self._limits = str(limits)
        self._fingerprints = fingerprints
        self._stats = stats

    def is_same(self, here: Directory) -> bool:
        """Whether a directory is an unchanged skill folder outside of other skills."""
        known = self._stats.get(here.text)
        if known is None:
            return False
        fingerprint = self._fingerprints[here.text]
        parent, _, name = here.path.rpartition("/")
        try:
            top = self._root.directory(parent)
            stats = [os.lstat(name + inner, dir_fd=top) for inner in known.paths.split("\n")]
        except (OSError, ValueError):
            return False
        return bool(fingerprint) and known.digest == self._digest(fingerprint, here.around, stats)

    def stats_of(self, folder: Folder, before_ns: int) -> FolderStats | None:
        """Return the stats with which later walks compare a folder; None if they do not suffice.

        before_ns is a time before the walk that found the folder, in ns since the epoch.
        """
        if folder.around is None or folder.changed_ns > before_ns - MARGIN_NS:
            return None
        device = self._root.stat("").st_dev
        if not self._has_exact_times or any(s.st_dev != device for _, s in folder.directories):
            return None
        entries = (*folder.directories, *folder.entries)
        stats = [stat for _, stat in entries]
        digest = self._digest(folder.fingerprint, folder.around, stats)
        paths = "\n".join(f"/{os_path(path)}" if path else "" for path, _ in entries)
        is_readable = digest and paths.count("\n") == len(entries) - 1
        return FolderStats(paths, digest) if is_readable else None

    @cached_property
    def _has_exact_times(self) -> bool:
        """Whether time stamps tell of every change; a file server may have another clock."""
        return sys.platform == "linux" and network_type(self._root.path) is None

    def _digest(
        self, fingerprint: str, around: Sequence[IgnoreFile], stats: Sequence[os.stat_result]
    ) -> str:
        """Return a digest of all that decides on a folder; "" if a value of a stat is too large."""
        values = chain.from_iterable(map(_values, stats))
        try:
            packed = struct.pack(_FORMAT * len(stats), *values)
        except struct.error:
            return ""
        rest = f"{fingerprint}{self._limits}{around or ''}"
        return hashlib.blake2b(packed + rest.encode(), digest_size=16).hexdigest()
