"""Publishes files whole: what stands under a published name is never half written."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from catalog.prompt_index import IndexSpec, PromptIndex
from catalog.record import Json


def publish_index(folder: Path, spec: IndexSpec, index: PromptIndex,
                  report: Mapping[str, Json]) -> bool:
    """Write an index and, beside it, its report as `<name>.meta.json`; tell if its text is new.

    A file whose bytes are the same already is left alone. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    changed = write_whole(folder / spec.file_name, index.text.encode())
    write_whole(folder / f"{spec.name}.meta.json",
                json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n")
    return changed


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
