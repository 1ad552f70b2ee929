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

MOST_BYTES = 16 * 2**20
QUARANTINE = "quarantine"
"""The folder, beside those of the skills, that bad files are moved to with their findings."""


@dataclass
class OutcomeReport:
    """What a look at outcome files came to."""

    stored: list[str] = field(default_factory=list)
    revised: list[str] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)  # why, by path
    unsettled: list[str] = field(default_factory=list)  # to come back to


def take_outcomes(
    store: Store, folder: Path, *, quiet: float, now_ns: int, paths: Iterable[str] | None = None
) -> OutcomeReport:
    """Bring the catalog up to the outcome files at some paths, or to all of them.

    One that changed less than `quiet` seconds ago is left for later; one that is known is not
    opened. A folder that is not there holds nothing. Raises FolderNotOwned where the folder is
    somebody else's, as bad files are moved in it.
    """
    report = OutcomeReport()
    known = store.outcomes.known()
    there = set()
    if folder.exists():
        with store.folders.opened(OwnedFolder(folder, "outcomes")) as at:
            for path in _files(folder) if paths is None else paths:
                there.add(path)
                _take_one(store, at, path, _look(at, path, known, quiet, now_ns), report)
    if paths is None:
        store.outcomes.forget([path for path in known if path not in there])
    return report


def _take_one(
    store: Store,
    at: int,
    path: str,
    seen: JudgedOutcome | Literal["unsettled"] | None,
    report: OutcomeReport,
) -> None:
    if seen == "unsettled":
        report.unsettled.append(path)
    elif isinstance(seen, BadOutcome):
        _reject(store, at, seen, report)
    elif seen:
        revision = store.outcomes.add(seen, datetime.now(UTC))
        if revision:
            (report.stored if revision == 1 else report.revised).append(path)


def outcome_at(folder: Path, hinted: str) -> str | None:
    """Return the path of the outcome file that a hinted absolute path of the system may be."""
    prefix = f"{os.path.abspath(folder)}/"
    if not hinted.startswith(prefix):
        return None
    path = hinted.removeprefix(prefix)
    return text_path(path) if _may_be_outcome(path) else None


def judge_file(path: Path) -> JudgedOutcome:
    """Judge one file by hand, wherever it lies."""
    file = RunFile(f"{text_path(path.absolute().parent.name)}/{text_path(path.name)}", "", None)
    try:
        return _judged(file, *_read(str(path)))
    except OSError as error:
        return _unreadable(file, error)


# Looking


def _files(folder: Path) -> Iterator[str]:
    """Yield the files below a folder that may be outcomes, by path, opening none."""
    for directory, names, files in os.walk(folder):
        inside = os.path.relpath(directory, folder)
        names[:] = sorted(name for name in names if _is_wanted(inside, name))
        for name in sorted(files):
            path = name if inside == "." else f"{inside}/{name}"
            if _may_be_outcome(path):
                yield text_path(path)


def _is_wanted(inside: str, name: str) -> bool:
    return not is_junk(name) and not (inside == "." and name == QUARANTINE)


def _may_be_outcome(path: str) -> bool:
    names = path.split("/")
    return (
        names[-1].endswith(".json")
        and names[0] != QUARANTINE
        and not any(map(is_junk, names))
        and not names[-1].startswith(".")
    )


def _look(
    at: int, path: str, known: Mapping[str, str], quiet: float, now_ns: int
) -> JudgedOutcome | Literal["unsettled"] | None:
    """Return what a file says; None where it is known, gone, or lies behind a link."""
    *above, name = os_path(path).split("/")
    try:
        with descended(at, above) as inside:
            return _look_inside(inside, name, path, known.get(path), quiet, now_ns)
    except OSError:
        return None


def _look_inside(
    inside: int, name: str, path: str, known: str | None, quiet: float, now_ns: int
) -> JudgedOutcome | Literal["unsettled"] | None:
    stat = os.stat(name, dir_fd=inside, follow_symlinks=False)
    fingerprint = _fingerprint(stat)
    if known == fingerprint:
        return None
    if abs(now_ns - stat.st_ctime_ns) < quiet * 1e9:
        return "unsettled"
    file = RunFile(path, fingerprint, None)
    if path.count("/") != 1:
        return BadOutcome(file, (OUTCOME_MISPLACED.at(),))
    try:
        data, after = _read(name, inside)
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


def _read(path: str, at: int | None = None) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes, if they are not too many, and its stat after reading them."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        data = file.read(MOST_BYTES + 1)
        return data, os.fstat(handle)


def _fingerprint(stat: os.stat_result) -> str:
    return f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


# Quarantine


def _reject(store: Store, at: int, bad: BadOutcome, report: OutcomeReport) -> None:
    """Note a bad file and move it out of the way; one that cannot be moved is known where it is.

    It is noted first: after a crash in between it is judged once more, and nothing is lost.
    """
    report.rejected[bad.file.path] = " ".join(found.message for found in bad.findings)
    target = _free_place(at, bad.file.path)
    store.outcomes.reject(bad, target, datetime.now(UTC))
    *above, name = os_path(bad.file.path).split("/")
    *below, new = os_path(target).split("/")
    try:
        with descended(at, above) as source, _made(at, below) as quarantine:
            os.rename(name, new, src_dir_fd=source, dst_dir_fd=quarantine)
            with suppress(OSError):  # a courtesy: the catalog has them, too
                _explain(f"{new.removesuffix('.json')}.findings.txt", quarantine, bad.findings)
    except OSError:
        store.outcomes.reject(bad, None, datetime.now(UTC))


def _free_place(at: int, path: str) -> str:
    target, count = f"{QUARANTINE}/{path}", 1
    while _is_there(at, target):
        count += 1
        target = f"{QUARANTINE}/{path.removesuffix('.json')}-{count}.json"
    return target


def _is_there(at: int, path: str) -> bool:
    try:
        os.stat(os_path(path), dir_fd=at, follow_symlinks=False)
    except OSError:
        return False
    return True


@contextmanager
def _made(at: int, names: Sequence[str]) -> Iterator[int]:
    """Give the directory at some names below an open one, made where there is none."""
    for count in range(len(names)):
        with descended(at, names[:count]) as above, suppress(FileExistsError):
            os.mkdir(names[count], dir_fd=above)
    with descended(at, names) as made:
        yield made


def _explain(name: str, at: int, findings: Sequence[Finding]) -> None:
    handle = os.open(
        name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=at
    )
    with open(handle, "w", encoding="utf-8") as file:
        file.writelines(
            f"{found.severity} {found.code}: {found.message} {found.fix}\n" for found in findings
        )
