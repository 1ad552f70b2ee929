"""Folders on another file system than a test's."""

import os
import tempfile
from pathlib import Path

import pytest


def folder_on_another(than: Path) -> Path:
    """Return a new folder, which the caller removes; skip where there is only one file system."""
    for place in ("/dev/shm", "/var/tmp"):
        if os.access(place, os.W_OK) and os.stat(place).st_dev != than.stat().st_dev:
            return Path(tempfile.mkdtemp(dir=place))
    pytest.skip("there is only one file system")
