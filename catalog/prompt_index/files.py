"""Publishes the files of prompt indexes whole, each with its report beside it."""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from catalog.filesystem.fsync import sync
from catalog.model.values import Json
from catalog.prompt_index.builder import IndexSpec, PromptIndex
from catalog.prompt_index.formats import FORMATS

_REPORT = ".meta.json"


def files_of(spec: IndexSpec, index: PromptIndex, report: Mapping[str, Json]) -> dict[str, bytes]:
    """Return the bytes of an index and of the report beside it, `<name>.meta.json`, by name."""
    return {
        spec.file_name: index.text.encode(),
        f"{spec.name}{_REPORT}": json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n",
    }


def remove_index_files(at: int, specs: Sequence[IndexSpec]) -> None:
    """Remove from an open folder the files of indexes that are no longer configured so.

    They are told by their reports; other files are left alone. Raises OSError.
    """
    kept = {name for spec in specs for name in (spec.file_name, f"{spec.name}{_REPORT}")}
    for report in sorted(os.listdir(at)):
        name = report.removesuffix(_REPORT)
        if name == report or not _is_report(_read(report, at)):
            continue
        for file in (*(f"{name}{form.ending}" for form in FORMATS.values()), report):
            if file not in kept:
                with suppress(FileNotFoundError):
                    os.unlink(file, dir_fd=at)


def _is_report(data: bytes | None) -> bool:
    try:
        found = json.loads(data or b"null")
    except ValueError:
        return False
    return isinstance(found, dict) and {"sha256", "published_at"} <= found.keys()


def write_whole(at: int, files: Mapping[str, bytes]) -> set[str]:
    """Replace the content of files in an open folder, each in one step; return which are new.

    A file whose bytes are the same already is left alone. All are on the disk before the first
    is replaced. Raises OSError; what was not replaced then is as it was.
    """
    beside: dict[str, str] = {}
    try:
        for name, data in files.items():
            if _read(name, at) != data:
                beside[name] = f".{name}.new"
                _write(beside[name], at, data)
        if beside:
            sync(at)
        for name, new in beside.items():
            os.replace(new, name, src_dir_fd=at, dst_dir_fd=at)
    finally:
        for new in beside.values():
            with suppress(FileNotFoundError):
                os.unlink(new, dir_fd=at)
    return set(beside)


def _write(name: str, at: int, data: bytes) -> None:
    with suppress(FileNotFoundError):  # left by a crash
        os.unlink(name, dir_fd=at)
    handle = os.open(
        name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=at
    )
    with open(handle, "wb") as file:
        file.write(data)
        os.fchmod(handle, 0o644)  # whatever the umask, agents of other users read it


def _read(name: str, at: int) -> bytes | None:
    """Return the bytes of a file; None where there is none, or a link."""
    try:
        handle = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at
        )
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return None
        raise
    with open(handle, "rb") as file:
        return file.read()
