"""Replacement of a file by a new one that is written beside it, so that readers find it whole."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from catalog.filesystem.by_descriptor import directory
from catalog.filesystem.fsync import sync


@contextmanager
def replaced(path: Path, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """Yield a new file beside a path, which replaces it at the end, or is removed. Raises OSError.

    Scans ignore its name.
    """
    handle, beside = tempfile.mkstemp(prefix=".skilldrop-", dir=path.parent)
    try:
        with open(handle, "w+b") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    with directory(path.parent) as folder:
        sync(folder)
