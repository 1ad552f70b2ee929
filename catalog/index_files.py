"""Publishes the files of prompt indexes whole, each with its report beside it."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from catalog.formats import FORMATS
from catalog.prompt_index import IndexSpec, PromptIndex
from catalog.record import Json
from catalog.syncing import sync

_REPORT = ".meta.json"


def files_of(spec: IndexSpec, index: PromptIndex, report: Mapping[str, Json]) -> dict[str, bytes]:
    """Return the bytes of an index and of the report beside it, `<name>.meta.json`, by name."""
    return {spec.file_name: index.text.encode(),
            f"{spec.name}{_REPORT}":
                json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n"}


def remove_index_files(folder: Path, specs: Sequence[IndexSpec]) -> None:
    """Remove the files of indexes that are no longer configured, or not in that format."""
    kept = {name for spec in specs for name in (spec.file_name, f"{spec.name}{_REPORT}")}
    for report in folder.glob(f"*{_REPORT}"):
        name = report.name.removesuffix(_REPORT)
        for file in (*(f"{name}{form.ending}" for form in FORMATS.values()), report.name):
            if file not in kept:
                (folder / file).unlink(missing_ok=True)


def write_whole(folder: Path, files: Mapping[str, bytes]) -> set[str]:
    """Replace the content of files, each in one step; return the names of those that are new.

    A file whose bytes are the same already is left alone. All are on the disk before the first
    is replaced. Raises OSError; what was not replaced then is as it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    beside: dict[str, str] = {}
    try:
        for name, data in files.items():
            if _read(folder / name) != data:
                handle, beside[name] = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    os.fchmod(handle, 0o644)  # it is made private; agents of other users read it
        if beside:
            sync(folder)
        for name, path in beside.items():
            os.replace(path, folder / name)
    finally:
        for path in beside.values():
            Path(path).unlink(missing_ok=True)
    return set(beside)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
