"""Folder of a skill as an argument of a command."""

import os
from pathlib import Path

from catalog.model.paths import is_utf8, os_path, text_path
from pipeline.config.settings import Settings
from pipeline.service.run_once import unit_at


def absolute_path(settings: Settings, path: str) -> str:
    """Return the absolute path of a folder, as text of the catalog."""
    unit = unit_at(settings, Path(path))
    absolute = f"{unit.root}/{unit.path}" if unit else text_path(str(Path(path).absolute()))
    # A path inside an archive is on no disk; a person writes it as the catalog shows it.
    is_as_shown = is_utf8(path) and not os.path.lexists(path)
    return os_path(absolute) if is_as_shown else absolute
