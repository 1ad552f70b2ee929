"""Publishes the files of prompt indexes whole, each with its report beside it."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from catalog.formats import FORMATS
from catalog.prompt_index import IndexSpec, PromptIndex
from catalog.record import Json

_REPORT = ".meta.json"


def publish_index(folder: Path, spec: IndexSpec, index: PromptIndex,
                  report: Mapping[str, Json]) -> bool:
    """Write an index and, beside it, its report as `<name>.meta.json`; tell if its text is new.

    A file whose bytes are the same already is left alone. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    changed = write_whole(folder / spec.file_name, index.text.encode())
    write_whole(folder / f"{spec.name}{_REPORT}",
                json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n")
    return changed


def remove_index_files(folder: Path, specs: Sequence[IndexSpec]) -> None:
    """Remove the files of indexes that are no longer configured, or not in that format."""
    kept = {name for spec in specs for name in (spec.file_name, f"{spec.name}{_REPORT}")}
    for report in folder.glob(f"*{_REPORT}"):
        name = report.name.removesuffix(_REPORT)
        for file in (*(f"{name}{form.ending}" for form in FORMATS.values()), report.name):
            if file not in kept:
                (folder / file).unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> bool:
    """Replace a file's content in one step, unless it is the same; tell whether it was not.

    Raises OSError; the old content then still stands.
    """
    try:
        if path.read_bytes() == data:
            return False
    except FileNotFoundError:
        pass
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)  # mkstemp makes it private; agents of other users read it
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return True
