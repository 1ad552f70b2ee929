"""Collection of outcome files into the catalog, and quarantine of the bad ones."""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from catalog.filesystem.by_descriptor import descended
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.finding import Finding
from catalog.model.outcome import BadOutcome, JudgedOutcome, RunFile
from catalog.model.paths import os_path, text_path
from catalog.writing.store import Store
from pipeline.outcomes.codes import OUTCOME_MISPLACED, OUTCOME_TOO_LARGE, OUTCOME_UNREADABLE
from pipeline.outcomes.parser import judge_outcome
from pipeline.roots.names import is_junk
from pipeline.roots.units import changed_lately

MOST_BYTES = 16 * 2**20
QUARANTINE = "quarantine"
"""Folder, beside those of the skills, to which bad files are moved with their findings."""


@dataclass
class OutcomeReport:
    """Result of collecting outcome files: their paths."""

    stored: list[str] = field(default_factory=list)
    revised: list[str] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)  # path to reason
    unsettled: list[str] = field(default_factory=list)  # to be collected later


def take_outcomes(
    store: Store, folder: Path, *, quiet: float, now_ns: int, paths: Iterable[str] | None = None
) -> OutcomeReport:
    """Store the outcome files at some paths, or all of them, in the catalog.

    A file that changed less than `quiet` seconds ago is left for later; a known one is not opened.
    A missing folder counts as empty. Raises FolderNotOwned if the folder is not skilldrop's, as
    bad files are moved inside it.
    """
    report = OutcomeReport()
    known = store.outcomes.known()
    existing = set()
    if folder.exists():
        with store.folders.opened(OwnedFolder(folder, "outcomes")) as dir_fd:
            for path in _files(folder) if paths is None else paths:
                existing.add(path)
                result = _check(dir_fd, path, known, quiet, now_ns)
                _store_result(store, dir_fd, path, result, report)
    if paths is None:
        store.outcomes.forget([path for path in known if path not in existing])
    return report


def _store_result(
    store: Store,
    dir_fd: int,
    path: str,
    result: JudgedOutcome | Literal["unsettled"] | None,
    report: OutcomeReport,
) -> None:
    if result == "unsettled":
        report.unsettled.append(path)
    elif isinstance(result, BadOutcome):
        _reject(store, dir_fd, result, report)
    elif result:
        revision = store.outcomes.add(result, datetime.now(UTC))
        if revision:
            (report.stored if revision == 1 else report.revised).append(path)


def outcome_at(folder: Path, hinted: str) -> str | None:
    """Return the path of the outcome file at a hinted absolute path of the system, if any."""
    prefix = f"{os.path.abspath(folder)}/"
    if not hinted.startswith(prefix):
        return None
    path = hinted.removeprefix(prefix)
    return text_path(path) if _may_be_outcome(path) else None


def judge_file(path: Path) -> JudgedOutcome:
    """Judge one file at any path, without the catalog."""
    file = RunFile(f"{text_path(path.absolute().parent.name)}/{text_path(path.name)}", "", None)
    try:
        return _judged(file, *_read(str(path)))
    except OSError as error:
        return _unreadable(file, error)


# Checking files


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of possible outcome files below a folder, without opening them."""
    for directory, names, files in os.walk(folder):
        inner = os.path.relpath(directory, folder)
        names[:] = sorted(name for name in names if _may_hold_outcomes(inner, name))
        for name in sorted(files):
            path = name if inner == "." else f"{inner}/{name}"
            if _may_be_outcome(path):
                yield text_path(path)


def _may_hold_outcomes(directory: str, name: str) -> bool:
    return not is_junk(name) and not (directory == "." and name == QUARANTINE)


def _may_be_outcome(path: str) -> bool:
    names = path.split("/")
    return (
        names[-1].endswith(".json")
        and names[0] != QUARANTINE
        and not any(map(is_junk, names))
        and not names[-1].startswith(".")
    )


def _check(
    dir_fd: int, path: str, known: Mapping[str, str], quiet: float, now_ns: int
) -> JudgedOutcome | Literal["unsettled"] | None:
    """Return the outcome in a file; None if it is known or gone, or lies behind a link."""
    *above, name = os_path(path).split("/")
    try:
        with descended(dir_fd, above) as parent_fd:
            return _check_in(parent_fd, name, path, known.get(path), quiet, now_ns)
    except OSError:
        return None


def _check_in(
    parent_fd: int, name: str, path: str, known: str | None, quiet: float, now_ns: int
) -> JudgedOutcome | Literal["unsettled"] | None:
    stat = os.stat(name, dir_fd=parent_fd, follow_symlinks=False)
    fingerprint = _fingerprint(stat)
    if known == fingerprint:
        return None
    if changed_lately(stat.st_ctime_ns, now_ns, quiet):
        return "unsettled"
    file = RunFile(path, fingerprint, None)
    if path.count("/") != 1:
        return BadOutcome(file, (OUTCOME_MISPLACED.at(),))
    try:
        data, after = _read(name, parent_fd)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        return _unreadable(file, error)
    if _fingerprint(after) != fingerprint:
        return "unsettled"
    return _judged(file, data, after)


def _unreadable(file: RunFile, error: OSError) -> BadOutcome:
    return BadOutcome(file, (OUTCOME_UNREADABLE.at(f"It cannot be read: {error.strerror}."),))


def _judged(file: RunFile, data: bytes, stat: os.stat_result) -> JudgedOutcome:
    if stat.st_size > MOST_BYTES:
        return BadOutcome(file, (OUTCOME_TOO_LARGE.at(),))
    return judge_outcome(
        RunFile(file.path, file.fingerprint, hashlib.sha256(data).hexdigest()), data
    )


def _read(path: str, dir_fd: int | None = None) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file, MOST_BYTES + 1 at most, and its stat after reading."""
    handle = os.open(
        path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd
    )
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        data = file.read(MOST_BYTES + 1)
        return data, os.fstat(handle)


def _fingerprint(stat: os.stat_result) -> str:
    return f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


# Quarantine


def _reject(store: Store, dir_fd: int, bad: BadOutcome, report: OutcomeReport) -> None:
    """Record a bad file and move it to quarantine; one that cannot be moved stays in place.

    It is recorded first: after a crash in between it is judged again, and nothing is lost.
    """
    report.rejected[bad.file.path] = " ".join(finding.message for finding in bad.findings)
    target = _free_path(dir_fd, bad.file.path)
    store.outcomes.reject(bad, target, datetime.now(UTC))
    *above, name = os_path(bad.file.path).split("/")
    *below, new = os_path(target).split("/")
    try:
        with descended(dir_fd, above) as source, _created(dir_fd, below) as quarantine:
            os.rename(name, new, src_dir_fd=source, dst_dir_fd=quarantine)
            with suppress(OSError):  # the catalog has the findings, too
                _write_findings(
                    f"{new.removesuffix('.json')}.findings.txt", quarantine, bad.findings
                )
    except OSError:
        store.outcomes.reject(bad, None, datetime.now(UTC))


def _free_path(dir_fd: int, path: str) -> str:
    target, count = f"{QUARANTINE}/{path}", 1
    while _exists(dir_fd, target):
        count += 1
        target = f"{QUARANTINE}/{path.removesuffix('.json')}-{count}.json"
    return target


def _exists(dir_fd: int, path: str) -> bool:
    try:
        os.stat(os_path(path), dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return True


@contextmanager
def _created(dir_fd: int, names: Sequence[str]) -> Iterator[int]:
    """Yield the descriptor of a directory below an open one, created if it does not exist."""
    for count in range(len(names)):
        with descended(dir_fd, names[:count]) as parent_fd, suppress(FileExistsError):
            os.mkdir(names[count], dir_fd=parent_fd)
    with descended(dir_fd, names) as created:
        yield created


def _write_findings(name: str, dir_fd: int, findings: Sequence[Finding]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o644, dir_fd=dir_fd)
    with open(handle, "w", encoding="utf-8") as file:
        file.writelines(
            f"{finding.severity} {finding.code}: {finding.message} {finding.fix}\n"
            for finding in findings
        )
