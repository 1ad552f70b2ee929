"""Collection of outcome files: the outcomes of good ones, and the findings about bad ones."""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from catalog.filesystem.operations import FILE, descended
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.outcome import BadOutcome, JudgedOutcome, RunFile
from catalog.model.paths import os_path, text_path
from catalog.writing.store import Store
from catalog.writing.tables.run_outcomes import ReadFile, reason
from pipeline.outcomes.codes import OUTCOME_TOO_LARGE, OUTCOME_UNREADABLE
from pipeline.outcomes.parser import judge_outcome
from pipeline.roots.file_kinds import is_junk
from pipeline.watch.settling import Settling, WatchUnit, changed_lately

MOST_BYTES = 16 * 2**20
"""Bytes of one outcome."""


@dataclass
class OutcomeReport:
    """Result of collecting outcome files: their paths."""

    stored: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)  # stored, without a skill or its version
    rejected: dict[str, str] = field(default_factory=dict)  # path to reason
    unsettled: list[str] = field(default_factory=list)  # to be collected later
    linked: int = 0  # earlier outcomes, to skills that have arrived since


class OutcomeInbox:
    """Outcome files that events have hinted and that wait to be stored.

    now is in seconds on a monotonic clock, now_ns in nanoseconds since 1970.
    """

    def __init__(self, folder: Path, quiet: float, longest: float) -> None:
        """Take the outcomes folder and the settings of Settling, in seconds."""
        self._folder = folder
        self._quiet = quiet
        self._settle = Settling(quiet, longest)

    def hint(self, path: str, now: float) -> bool:
        """Record a hint at an absolute path; return whether the path belongs to the outcomes."""
        if outcome := outcome_at(self._folder, path):
            self._settle.hint(WatchUnit(str(self._folder), outcome), now)
        return outcome is not None or path == str(self._folder)

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until the next file is due; infinite if none waits."""
        return self._settle.seconds_to_next(now)

    def __len__(self) -> int:
        return len(self._settle)

    def take(
        self, store: Store, now: float, now_ns: int, *, is_complete: bool = False
    ) -> OutcomeReport:
        """Store the files that have been quiet long enough, or check every file."""
        due = [] if is_complete else self._settle.due(now)
        if not (due or is_complete):
            return OutcomeReport()
        paths = None if is_complete else [unit.path for unit in due]
        report = take_outcomes(store, self._folder, quiet=self._quiet, now_ns=now_ns, paths=paths)
        self._settle.done(due)
        for path in report.unsettled:
            self._settle.hint(WatchUnit(str(self._folder), path), now)
        return report


def take_outcomes(
    store: Store, folder: Path, *, quiet: float, now_ns: int, paths: Iterable[str] | None = None
) -> OutcomeReport:
    """Store the outcome files at some paths, or all of them, in the catalog.

    A file that changed less than `quiet` seconds ago is left for later; a known one is not opened.
    A missing folder is created, so that runtimes can write to it. Raises FolderNotOwned if the
    folder belongs to another catalog.
    """
    report = OutcomeReport()
    known = store.outcomes.fingerprints()
    existing = set()
    with store.folders.opened(OwnedFolder(folder, "outcomes")) as dir_fd:
        for path in all_files(folder) if paths is None else paths:
            existing.add(path)
            result = _check(dir_fd, path, known.get(path), quiet, now_ns)
            if result == "unsettled":
                report.unsettled.append(path)
            elif result:
                file, outcome = result
                if isinstance(outcome, BadOutcome):
                    report.rejected[path] = reason(outcome)
                if origin := store.outcomes.add(file, outcome, datetime.now(UTC)):
                    report.stored.append(path)
                    if not origin.is_linked:
                        report.unlinked.append(path)
    if paths is None:
        gone = known.keys() - existing
    else:
        gone = {path for path in existing if not os.path.lexists(folder / os_path(path))}
    if gone:
        store.outcomes.forget(sorted(gone))
    if paths is None:
        report.linked = store.outcomes.link()
    return report


def all_files(folder: Path) -> Iterator[str]:
    """Yield the paths of possible outcome files below a folder, oldest first, without opening them.

    Memory writes are handed on in this order.
    """
    entries = []
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(f"{directory}/{name}", folder)
            if _may_be_outcome(path):
                with suppress(OSError):
                    changed = os.lstat(f"{directory}/{name}").st_mtime_ns
                    entries.append((changed, text_path(path)))
    yield from (path for _, path in sorted(entries))


def outcome_at(folder: Path, hinted: str) -> str | None:
    """Return the path of the outcome file at a hinted absolute path of the system, if any."""
    prefix = f"{os.path.abspath(folder)}/"
    path = hinted.removeprefix(prefix)
    return text_path(path) if hinted.startswith(prefix) and _may_be_outcome(path) else None


def _may_be_outcome(path: str) -> bool:
    names = path.split("/")
    is_json = names[-1].endswith(".json") and not names[-1].startswith(".")
    return is_json and not any(map(is_junk, names))


def judge_file(path: Path) -> JudgedOutcome:
    """Judge the outcome in a file at any path, without the catalog."""
    file = f"{text_path(path.absolute().parent.name)}/{text_path(path.name)}"
    try:
        return _judged(file, _read(str(path))[0])
    except OSError as error:
        return _unreadable(file, error)


def _check(
    dir_fd: int, path: str, known: str | None, quiet: float, now_ns: int
) -> tuple[ReadFile, JudgedOutcome] | Literal["unsettled"] | None:
    """Return the outcome in a file; None if it is known or gone, or lies behind a link."""
    *above, name = os_path(path).split("/")
    try:
        with descended(dir_fd, above) as parent_fd:
            stat = os.stat(name, dir_fd=parent_fd, follow_symlinks=False)
            read = ReadFile(path, _fingerprint(stat))
            if known == read.fingerprint:
                return None
            if changed_lately(stat.st_ctime_ns, now_ns, quiet):
                return "unsettled"
            try:
                data, stat = _read(name, parent_fd)
            except OSError as error:
                return None if error.errno == errno.ENOENT else (read, _unreadable(path, error))
    except OSError:
        return None
    return (read, _judged(path, data)) if _fingerprint(stat) == read.fingerprint else "unsettled"


def _fingerprint(stat: os.stat_result) -> str:
    """Return a value that changes with a file."""
    return f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


def _read(path: str, dir_fd: int | None = None) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file, MOST_BYTES + 1 at most, and its stat. Raises OSError."""
    handle = os.open(path, FILE, dir_fd=dir_fd)
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return file.read(MOST_BYTES + 1), os.fstat(handle)


def _judged(path: str, data: bytes) -> JudgedOutcome:
    if len(data) > MOST_BYTES:
        return BadOutcome(RunFile(path, None), (OUTCOME_TOO_LARGE.at(),))
    return judge_outcome(RunFile(path, hashlib.sha256(data).hexdigest()), data)


def _unreadable(path: str, error: OSError) -> BadOutcome:
    finding = OUTCOME_UNREADABLE.at(f"It cannot be read: {error.strerror}.")
    return BadOutcome(RunFile(path, None), (finding,))
