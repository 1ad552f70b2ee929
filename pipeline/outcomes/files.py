"""Outcome files: their names, their bytes and their quarantine, without following links."""

import errno
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from typing import NamedTuple

from catalog.filesystem.operations import FILE, descended
from catalog.model.outcome import BadOutcome
from catalog.model.paths import os_path, text_path
from pipeline.roots.file_kinds import is_junk

MOST_BYTES = 16 * 2**20
"""Bytes of one outcome, and those of a file of JSON Lines that are read at once."""
QUARANTINE = "quarantine"
"""Folder, beside those of the skills, to which bad files are moved with their findings."""
_LINES = (".jsonl", ".ndjson")
_TAIL = 4096
"""Bytes before the end of the known part by which a file shows that it only grew."""


def has_lines(path: str) -> bool:
    """Return whether a file has an outcome in each line, by its name."""
    return path.endswith(_LINES)


def all_files(folder: Path) -> Iterator[str]:
    """Yield the paths of possible outcome files below a folder, oldest first, without opening them.

    Memory writes are handed on in this order.
    """
    entries = []
    for directory, _, files in os.walk(folder):
        for name in files:
            path = os.path.relpath(f"{directory}/{name}", folder)
            if _may_be_outcome(path):
                entries.append((_changed(f"{directory}/{name}"), text_path(path)))
    yield from (path for _, path in sorted(entries))


def outcome_at(folder: Path, hinted: str) -> str | None:
    """Return the path of the outcome file at a hinted absolute path of the system, if any."""
    prefix = f"{os.path.abspath(folder)}/"
    if not hinted.startswith(prefix):
        return None
    path = hinted.removeprefix(prefix)
    return text_path(path) if _may_be_outcome(path) else None


def _changed(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def _may_be_outcome(path: str) -> bool:
    names = path.split("/")
    return (
        names[-1].endswith((".json", *_LINES))
        and names[0] != QUARANTINE
        and not any(map(is_junk, names))
        and not names[-1].startswith(".")
    )


def fingerprint_of(stat: os.stat_result) -> str:
    """Return a value that changes with a file."""
    return f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


class FileContent(NamedTuple):
    """Bytes of a file."""

    data: bytes
    start: int  # number of bytes before them
    before: bytes  # the last of those
    stat: os.stat_result  # after reading

    def tail(self, size: int) -> str:
        """Return the SHA-256 of the end of the file's part up to so many bytes of the data."""
        return _tail_of(self.before + self.data[:size])


def read(path: str, dir_fd: int | None = None, start: int = 0, tail: str = "") -> FileContent:
    """Return bytes of a file, MOST_BYTES + 1 at most.

    They begin at `start` if the bytes before it still have this tail, else at 0. Raises OSError.
    """
    handle = os.open(path, FILE, dir_fd=dir_fd)
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        file.seek(max(0, start - _TAIL))
        before = file.read(min(start, _TAIL))
        if _tail_of(before) != tail:
            start, before = 0, b""
        file.seek(start)
        data = file.read(MOST_BYTES + 1)
        return FileContent(data, start, before, os.fstat(handle))


def _tail_of(data: bytes) -> str:
    return hashlib.sha256(data[-_TAIL:]).hexdigest()


def free_path(dir_fd: int, path: str) -> str:
    """Return a path in quarantine that no file has yet, with a free one for its findings."""
    name = PurePosixPath(path)
    target, count = f"{QUARANTINE}/{path}", 1
    while _exists(dir_fd, target) or _exists(dir_fd, _findings_of(target)):
        count += 1
        target = f"{QUARANTINE}/{name.with_name(f'{name.stem}-{count}{name.suffix}')}"
    return target


def quarantine_file(dir_fd: int, path: str, target: str, bad: Sequence[BadOutcome]) -> None:
    """Move a file into quarantine. Raises OSError."""
    *above, name = os_path(path).split("/")
    *below, new = os_path(target).split("/")
    with descended(dir_fd, above) as source, _created(dir_fd, below) as quarantine:
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=quarantine)
        _explain(quarantine, new, bad)


def quarantine_lines(
    dir_fd: int, target: str, lines: Sequence[bytes], bad: Sequence[BadOutcome]
) -> None:
    """Copy bad lines of a file into quarantine; the file itself stays. Raises OSError."""
    *below, new = os_path(target).split("/")
    with _created(dir_fd, below) as quarantine:
        _write(quarantine, new, b"\n".join([*lines, b""]))
        _explain(quarantine, new, bad)


def _explain(dir_fd: int, name: str, bad: Sequence[BadOutcome]) -> None:
    text = "".join(
        f"{f'line {outcome.file.line}: ' if outcome.file.line else ''}"
        f"{finding.severity} {finding.code}: {finding.message} {finding.fix}\n"
        for outcome in bad
        for finding in outcome.findings
    )
    with suppress(OSError):  # the catalog has the findings, too
        _write(dir_fd, _findings_of(name), text.encode())


def _findings_of(path: str) -> str:
    return f"{os.path.splitext(path)[0]}.findings.txt"


def _write(dir_fd: int, name: str, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o644, dir_fd=dir_fd), "wb") as file:
        file.write(content)


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
