"""Files of prompt indexes, each with its report, replaced in one step."""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from catalog.filesystem.operations import FILE, flags, sync
from catalog.model.values import Json
from catalog.prompt_index.builder import PromptIndex
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec

REPORT = ".meta.json"
"""Ending of the report of an index."""


def files_of(spec: IndexSpec, index: PromptIndex, report: Mapping[str, Json]) -> dict[str, bytes]:
    """Return the bytes of an index and of its report `<name>.meta.json`, by file name."""
    return {spec.file_name: index.text.encode(), f"{spec.name}{REPORT}": report_bytes(report)}


def report_bytes(report: Mapping[str, Json]) -> bytes:
    """Return a report as the bytes of its file."""
    return json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n"


def remove_index_files(folder: int, specs: Sequence[IndexSpec]) -> None:
    """Remove from an open folder the files of indexes that are no longer configured that way.

    Their reports identify them; other files are left alone. Raises OSError.
    """
    kept = {name for spec in specs for name in (spec.file_name, f"{spec.name}{REPORT}")}
    for report in sorted(os.listdir(folder)):
        name = report.removesuffix(REPORT)
        if name == report or not _is_report(_read(report, folder)):
            continue
        for file in (*(f"{name}{form.ending}" for form in FORMATS.values()), report):
            if file not in kept:
                with suppress(FileNotFoundError):
                    os.unlink(file, dir_fd=folder)


def _is_report(data: bytes | None) -> bool:
    try:
        report = json.loads(data or b"null")
    except ValueError:
        return False
    return isinstance(report, dict) and {"sha256", "published_at"} <= report.keys()


def write_whole(folder: int, files: Mapping[str, bytes]) -> set[str]:
    """Replace files in an open folder, each in one step; return the names of those that changed.

    A file that has these bytes already is left alone. All new content is on the disk before the
    first file is replaced. Raises OSError; files not replaced by then keep their content.
    """
    temporary: dict[str, str] = {}
    try:
        for name, data in files.items():
            if _read(name, folder) != data:
                temporary[name] = f".{name}.new"
                _write(temporary[name], folder, data)
        if temporary:
            sync(folder)
        for name, new in temporary.items():
            os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        for new in temporary.values():
            with suppress(FileNotFoundError):
                os.unlink(new, dir_fd=folder)
    return set(temporary)


def _write(name: str, folder: int, data: bytes) -> None:
    with suppress(FileNotFoundError):  # left by a crash
        os.unlink(name, dir_fd=folder)
    handle = os.open(name, flags("WRONLY CREAT EXCL NOFOLLOW"), 0o644, dir_fd=folder)
    with open(handle, "wb") as file:
        file.write(data)
        os.fchmod(handle, 0o644)  # whatever the umask: agents of other users read it


def _read(name: str, folder: int) -> bytes | None:
    """Return the bytes of a file; None where it is missing or a link."""
    try:
        handle = os.open(name, FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return None
        raise
    with open(handle, "rb") as file:
        return file.read()
