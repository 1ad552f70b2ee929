"""Waits until what was written is on the disk: one call, however many files."""

import ctypes
import os
from pathlib import Path

_syncfs = ctypes.CDLL(None, use_errno=True).syncfs


def sync(folder: Path) -> None:
    """Wait for all that was written to the file system of a folder. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if _syncfs(handle):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(folder))
    finally:
        os.close(handle)
