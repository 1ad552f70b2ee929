"""Collection of outcome files: good ones into the catalog, bad ones into the quarantine."""

import errno
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from catalog.filesystem.operations import descended
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.finding import Finding
from catalog.model.outcome import BadOutcome, JudgedOutcome, RunFile
from catalog.model.paths import os_path, text_path
from catalog.writing.store import Store
from catalog.writing.tables.run_outcomes import ReadFile, reason
from pipeline.outcomes import files
from pipeline.outcomes.codes import OUTCOME_TOO_LARGE, OUTCOME_UNREADABLE
from pipeline.outcomes.files import FileContent, fingerprint_of
from pipeline.outcomes.parser import judge_outcome
from pipeline.watch.settling import Settling, WatchUnit, changed_lately


@dataclass
class OutcomeReport:
    """Result of collecting outcome files: their paths, one for each outcome."""

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
        if outcome := files.outcome_at(self._folder, path):
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

    A file that changed less than `quiet` seconds ago is left for later; a known one is not opened,
    and of a known file of JSON Lines that grew only the new lines are judged. A missing folder
    is created, so that runtimes can write to it. Raises FolderNotOwned if the folder is not
    skilldrop's, as bad files are moved inside it.
    """
    report = OutcomeReport()
    known = store.outcomes.read_files()
    existing = set()
    with store.folders.opened(OwnedFolder(folder, "outcomes")) as dir_fd:
        for path in files.all_files(folder) if paths is None else paths:
            existing.add(path)
            result = _check(store, dir_fd, path, known.get(path), quiet, now_ns)
            if result == "unsettled":
                report.unsettled.append(path)
            elif result:
                _store(store, dir_fd, result, report)
    if paths is None:
        store.outcomes.forget([path for path in known if path not in existing])
        report.linked = store.outcomes.link()
    return report


def judge_file(path: Path) -> tuple[JudgedOutcome, ...]:
    """Judge the outcomes of one file at any path, without the catalog."""
    file = f"{text_path(path.absolute().parent.name)}/{text_path(path.name)}"
    try:
        content = files.read(str(path))
    except OSError as error:
        return _unread(file, "", _unreadable(error)).outcomes
    return _judged(file, content, 0, lambda _: 0).outcomes


# Checking files


@dataclass(frozen=True, slots=True)
class _Judged:
    """Outcomes of a file, the number of bytes read, and its new lines if it has lines."""

    file: ReadFile  # its fingerprint is "" if more waits to be read
    outcomes: tuple[JudgedOutcome, ...]
    lines: tuple[bytes, ...] = ()

    @property
    def bad(self) -> tuple[BadOutcome, ...]:
        """The rejected ones."""
        return tuple(each for each in self.outcomes if isinstance(each, BadOutcome))


def _check(
    store: Store, dir_fd: int, path: str, known: ReadFile | None, quiet: float, now_ns: int
) -> _Judged | Literal["unsettled"] | None:
    """Return the outcomes in a file; None if it is known or gone, or lies behind a link."""
    *above, name = os_path(path).split("/")
    try:
        with descended(dir_fd, above) as parent_fd:
            stat = os.stat(name, dir_fd=parent_fd, follow_symlinks=False)
            fingerprint = fingerprint_of(stat)
            if known and known.fingerprint == fingerprint:
                return None
            if changed_lately(stat.st_ctime_ns, now_ns, quiet):
                return "unsettled"
            start, tail = (known.bytes, known.tail) if known else (0, "")
            try:
                content = files.read(name, parent_fd, start, tail)
            except OSError as error:
                is_gone = error.errno == errno.ENOENT
                return None if is_gone else _unread(path, fingerprint, _unreadable(error))
    except OSError:
        return None
    if fingerprint_of(content.stat) != fingerprint:
        return "unsettled"
    if known and content.start:
        return _judged(path, content, known.lines, partial(store.outcomes.occurrences, path))
    return _judged(path, content, 0, lambda _: 0)


def _judged(
    path: str, content: FileContent, before: int, occurrences: Callable[[str], int]
) -> _Judged:
    """Return the outcome of a JSON file, or the outcomes of the lines of a file of JSON Lines.

    `before` is the number of lines before them, and `occurrences` the number of equal ones by
    their first run_id. A last line without an end counts only if it is valid: its runtime may
    still be writing it.
    """
    data, fingerprint = content.data, fingerprint_of(content.stat)
    is_whole, has_lines = len(data) <= files.MOST_BYTES, files.has_lines(path)
    if not is_whole:
        data = data[: data.rfind(b"\n") + 1] if has_lines else b""
        if not data:
            return _unread(path, fingerprint, OUTCOME_TOO_LARGE.at())
    if not has_lines:
        file = RunFile(path, hashlib.sha256(data).hexdigest())
        return _Judged(ReadFile(path, fingerprint), (judge_outcome(file, data),))
    lines = data.split(b"\n")
    known: Counter[str] = Counter()
    outcomes = []
    for number, line in enumerate(lines, start=before + 1):
        if text := line.strip():
            file = RunFile(path, hashlib.sha256(text).hexdigest(), number)
            if file.run_id not in known:
                known[file.run_id] = occurrences(file.run_id)
            known[file.run_id] += 1
            outcomes.append(judge_outcome(replace(file, occurrence=known[file.run_id]), text))
    is_open = bool(lines[-1].strip()) and isinstance(outcomes[-1], BadOutcome)
    size = len(data) - len(lines[-1]) * is_open
    read = ReadFile(
        path,
        fingerprint if is_whole else "",
        content.start + size,
        before + len(lines) - 1,
        content.tail(size),
    )
    return _Judged(read, tuple(outcomes), tuple(lines))


def _unread(path: str, fingerprint: str, finding: Finding) -> _Judged:
    return _Judged(ReadFile(path, fingerprint), (BadOutcome(RunFile(path, None), (finding,)),))


def _unreadable(error: OSError) -> Finding:
    return OUTCOME_UNREADABLE.at(f"It cannot be read: {error.strerror}.")


# Storing


def _store(store: Store, dir_fd: int, judged: _Judged, report: OutcomeReport) -> None:
    """Store the good outcomes of a file, and put the bad ones into quarantine.

    Bad ones are recorded first: after a crash in between they are judged again, and nothing is
    lost.
    """
    path = judged.file.path
    if judged.bad:
        report.rejected[path] = reason(judged.bad)
        _reject(store, dir_fd, judged)
    for origin in store.outcomes.add(judged.file, judged.outcomes, datetime.now(UTC)):
        report.stored.append(path)
        if not origin.is_linked:
            report.unlinked.append(path)
    if not judged.file.fingerprint:
        report.unsettled.append(path)


def _reject(store: Store, dir_fd: int, judged: _Judged) -> None:
    """Record bad outcomes and put them into quarantine; a file that cannot be moved stays."""
    path, bad = judged.file.path, judged.bad
    target = files.free_path(dir_fd, path)
    store.outcomes.reject(judged.file, bad, target, datetime.now(UTC))
    try:
        if bad[0].file.line is None:
            files.quarantine_file(dir_fd, path, target, bad)
        else:
            first = judged.file.lines - len(judged.lines) + 2
            lines = [judged.lines[each.file.line - first] for each in bad if each.file.line]
            files.quarantine_lines(dir_fd, target, lines, bad)
    except OSError:
        store.outcomes.reject(judged.file, bad, None, datetime.now(UTC))
