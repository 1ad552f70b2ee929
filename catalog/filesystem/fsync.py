"""Waits until what was written is on the disk: one call, however many files."""

import ctypes
import os

_syncfs = ctypes.CDLL(None, use_errno=True).syncfs


def sync(at: int) -> None:
    """Wait for all that was written to the file system of an open directory. Raises OSError."""
    if _syncfs(at):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
