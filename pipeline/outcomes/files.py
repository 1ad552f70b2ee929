"""Outcome files: their names, their bytes and their quarantine, without following links."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from stat import S_ISREG

from catalog.filesystem.operations import FILE, descended
from catalog.model.outcome import BadOutcome
from catalog.model.paths import os_path, text_path
from pipeline.roots.file_kinds import is_junk

MOST_BYTES = 16 * 2**20
"""Bytes of one outcome."""
QUARANTINE = "quarantine"
"""Folder, beside those of the skills, to which bad files are moved with their findings."""


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
        names[-1].endswith(".json")
        and names[0] != QUARANTINE
        and not any(map(is_junk, names))
        and not names[-1].startswith(".")
    )


def fingerprint_of(stat: os.stat_result) -> str:
    """Return a value that changes with a file."""
    return f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


def read(path: str, dir_fd: int | None = None) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file, MOST_BYTES + 1 at most, and its stat after that.

    Raises OSError.
    """
    handle = os.open(path, FILE, dir_fd=dir_fd)
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return file.read(MOST_BYTES + 1), os.fstat(handle)


def free_path(dir_fd: int, path: str) -> str:
    """Return a path in quarantine that no file has yet, with a free one for its findings."""
    name = PurePosixPath(path)
    target, count = f"{QUARANTINE}/{path}", 1
    while _exists(dir_fd, target) or _exists(dir_fd, _findings_of(target)):
        count += 1
        target = f"{QUARANTINE}/{name.with_name(f'{name.stem}-{count}{name.suffix}')}"
    return target


def quarantine(dir_fd: int, path: str, target: str, bad: BadOutcome) -> None:
    """Move a file into quarantine, with its findings. Raises OSError."""
    *above, name = os_path(path).split("/")
    *below, new = os_path(target).split("/")
    text = "".join(
        f"{finding.severity} {finding.code}: {finding.message} {finding.fix}\n"
        for finding in bad.findings
    )
    with descended(dir_fd, above) as source, _created(dir_fd, below) as folder:
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=folder)
        with suppress(OSError):  # the catalog has the findings, too
            _write(folder, _findings_of(new), text.encode())


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
