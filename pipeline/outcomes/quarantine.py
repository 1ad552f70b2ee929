"""Quarantine of bad outcome files and lines, with their findings beside them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath

from catalog.filesystem.by_descriptor import descended
from catalog.model.outcome import BadOutcome
from catalog.model.paths import os_path
from pipeline.outcomes.files import QUARANTINE


def free_path(dir_fd: int, path: str) -> str:
    """Return a path in quarantine that no file has yet, with a free one for its findings."""
    name = PurePosixPath(path)
    target, count = f"{QUARANTINE}/{path}", 1
    while _exists(dir_fd, target) or _exists(dir_fd, _findings_of(target)):
        count += 1
        target = f"{QUARANTINE}/{name.with_name(f'{name.stem}-{count}{name.suffix}')}"
    return target


def move(dir_fd: int, path: str, target: str, bad: Sequence[BadOutcome]) -> None:
    """Move a file into quarantine. Raises OSError."""
    *above, name = os_path(path).split("/")
    *below, new = os_path(target).split("/")
    with descended(dir_fd, above) as source, _created(dir_fd, below) as quarantine:
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=quarantine)
        _explain(quarantine, new, bad)


def copy(dir_fd: int, target: str, lines: Sequence[bytes], bad: Sequence[BadOutcome]) -> None:
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
