"""Synchronisation of a file system with the disk: one call for any number of files."""

import ctypes
import os

_syncfs = ctypes.CDLL(None, use_errno=True).syncfs


def sync(dir_fd: int) -> None:
    """Wait until the file system of an open directory is written to disk. Raises OSError."""
    if _syncfs(dir_fd):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
