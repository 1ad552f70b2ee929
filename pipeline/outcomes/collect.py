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
from typing import Literal, NamedTuple, TypeAlias

from catalog.filesystem.by_descriptor import descended
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.outcome import BadOutcome, JudgedOutcome, RunFile
from catalog.model.paths import os_path, text_path
from catalog.writing.store import Store
from catalog.writing.tables.run_outcomes import ReadFile, reason
from pipeline.outcomes import files, quarantine
from pipeline.outcomes.codes import OUTCOME_TOO_LARGE, OUTCOME_UNREADABLE
from pipeline.outcomes.files import Content, fingerprint_of
from pipeline.outcomes.parser import judge_outcome
from pipeline.roots.units import changed_lately


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """Outcomes of a file, and how much of it they are."""

    outcomes: tuple[JudgedOutcome, ...]
    bytes: int = 0  # of the data: complete lines
    lines: int = 0
    is_whole: bool = True  # nothing more waits to be read

    @property
    def bad(self) -> tuple[BadOutcome, ...]:
        """The rejected ones."""
        return tuple(each for each in self.outcomes if isinstance(each, BadOutcome))


def judged(path: str, content: Content) -> JudgedFile:
    """Return the outcome of a file of one."""
    if len(content.data) > files.MOST_BYTES:
        return JudgedFile((BadOutcome(RunFile(path, None), (OUTCOME_TOO_LARGE.at(),)),))
    file = RunFile(path, hashlib.sha256(content.data).hexdigest())
    return JudgedFile((judge_outcome(file, content.data),))


def unreadable(path: str, error: OSError) -> JudgedFile:
    """Return the finding about a file that cannot be read."""
    finding = OUTCOME_UNREADABLE.at(f"It cannot be read: {error.strerror}.")
    return JudgedFile((BadOutcome(RunFile(path, None), (finding,)),))


def judged_lines(
    path: str, content: Content, before: int, occurrences: Callable[[str], int]
) -> JudgedFile:
    """Return the outcomes of the lines of a file of JSON Lines.

    `before` is the number of lines before them, and `occurrences` the number of equal ones by
    their first run_id. A last line without an end counts only if it is valid: its runtime may
    still be writing it.
    """
    data, is_whole = content.data, len(content.data) <= files.MOST_BYTES
    if not is_whole:
        data = data[: data.rfind(b"\n") + 1]
        if not data:
            return JudgedFile((BadOutcome(RunFile(path, None), (OUTCOME_TOO_LARGE.at(),)),))
    *lines, last = data.split(b"\n")
    known: Counter[str] = Counter()
    outcomes = []
    for number, line in enumerate((*lines, last), start=before + 1):
        if text := line.strip():
            file = RunFile(path, hashlib.sha256(text).hexdigest(), number)
            if file.run_id not in known:
                known[file.run_id] = occurrences(file.run_id)
            known[file.run_id] += 1
            outcomes.append(judge_outcome(replace(file, occurrence=known[file.run_id]), text))
    is_open = bool(last.strip()) and isinstance(outcomes[-1], BadOutcome)
    size = len(data) - len(last) * is_open
    return JudgedFile(tuple(outcomes), size, len(lines), is_whole)


@dataclass
class OutcomeReport:
    """Result of collecting outcome files: their paths, one for each outcome."""

    stored: list[str] = field(default_factory=list)
    revised: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)  # stored, without a skill or its version
    rejected: dict[str, str] = field(default_factory=dict)  # path to reason
    unsettled: list[str] = field(default_factory=list)  # to be collected later
    linked: int = 0  # earlier outcomes, to skills that have arrived since


class _Taken(NamedTuple):
    """File that was read and judged."""

    file: ReadFile
    content: Content | None  # None where it could not be read
    judged: JudgedFile


_Result: TypeAlias = _Taken | Literal["unsettled"] | None


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
                _take(store, dir_fd, result, report)
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
        return unreadable(file, error).outcomes
    if files.has_lines(file):
        return judged_lines(file, content, 0, lambda _: 0).outcomes
    return judged(file, content).outcomes


# Checking files


def _check(
    store: Store, dir_fd: int, path: str, known: ReadFile | None, quiet: float, now_ns: int
) -> _Result:
    """Return the outcomes in a file; None if it is known or gone, or lies behind a link."""
    *above, name = os_path(path).split("/")
    try:
        with descended(dir_fd, above) as parent_fd:
            stat = os.stat(name, dir_fd=parent_fd, follow_symlinks=False)
            if known and known.fingerprint == fingerprint_of(stat):
                return None
            if changed_lately(stat.st_ctime_ns, now_ns, quiet):
                return "unsettled"
            return _read(store, parent_fd, name, path, known, fingerprint_of(stat))
    except OSError:
        return None


def _read(
    store: Store, parent_fd: int, name: str, path: str, known: ReadFile | None, fingerprint: str
) -> _Result:
    has_lines = files.has_lines(path)
    start, tail = (known.bytes, known.tail) if known and has_lines else (0, "")
    try:
        content = files.read(name, parent_fd, start, tail)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        return _Taken(ReadFile(path, fingerprint), None, unreadable(path, error))
    if fingerprint_of(content.stat) != fingerprint:
        return "unsettled"
    if not has_lines:
        return _Taken(ReadFile(path, fingerprint), content, judged(path, content))
    has_grown = known is not None and content.start > 0
    before = known.lines if known and has_grown else 0
    occurrences = partial(store.outcomes.occurrences, path) if has_grown else lambda _: 0
    result = judged_lines(path, content, before, occurrences)
    return _Taken(
        ReadFile(
            path,
            fingerprint if result.is_whole else "",
            content.start + result.bytes,
            before + result.lines,
            content.tail(result.bytes),
        ),
        content,
        result,
    )


# Storing


def _take(store: Store, dir_fd: int, taken: _Taken, report: OutcomeReport) -> None:
    """Store the good outcomes of a file, and put the bad ones into quarantine.

    Bad ones are recorded first: after a crash in between they are judged again, and nothing is
    lost.
    """
    path = taken.file.path
    if taken.judged.bad:
        report.rejected[path] = reason(taken.judged.bad)
        _reject(store, dir_fd, taken)
    for stored in store.outcomes.add(taken.file, taken.judged.outcomes, datetime.now(UTC)):
        (report.stored if stored.revision == 1 else report.revised).append(path)
        if not stored.is_linked:
            report.unlinked.append(path)
    if not taken.judged.is_whole:
        report.unsettled.append(path)


def _reject(store: Store, dir_fd: int, taken: _Taken) -> None:
    """Record bad outcomes and put them into quarantine; a file that cannot be moved stays."""
    path, bad = taken.file.path, taken.judged.bad
    target = quarantine.free_path(dir_fd, path)
    store.outcomes.reject(taken.file, bad, target, datetime.now(UTC))
    try:
        if bad[0].file.line is None:
            quarantine.move(dir_fd, path, target, bad)
        elif taken.content:
            quarantine.copy(dir_fd, target, _bad_lines(taken), bad)
    except OSError:
        store.outcomes.reject(taken.file, bad, None, datetime.now(UTC))


def _bad_lines(taken: _Taken) -> list[bytes]:
    assert taken.content
    first = taken.file.lines - taken.judged.lines + 1
    lines = taken.content.data.split(b"\n")
    return [lines[bad.file.line - first] for bad in taken.judged.bad if bad.file.line]
