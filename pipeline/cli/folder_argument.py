"""Skill, or its folder, as an argument of a command."""

import os
from pathlib import Path

from catalog.model.paths import is_utf8, os_path, text_path
from pipeline.config.settings import Settings


def skill_named(settings: Settings, asked: str) -> str:
    """Return the name of a skill as it is, and the absolute path of a folder in a root, as text."""
    # A path inside an archive is on no disk; a person writes it as the catalog shows it.
    is_path = "/" in asked and os.path.lexists(asked.partition("!/")[0])
    if is_path and (path := _in_a_root(settings, Path(asked))):
        return path if os.path.lexists(asked) else os_path(path)
    return asked if is_utf8(asked) else text_path(asked)


def _in_a_root(settings: Settings, path: Path) -> str | None:
    """Return a path as the catalog has it, below the path of its root; None outside all roots."""
    absolute = path.absolute()
    real = Path(os.path.realpath(absolute))
    for place in (real,) if ".." in absolute.parts else (absolute, real):
        for root in settings.root_specs:
            for base in (root.path, os.path.realpath(root.path)):
                if place.is_relative_to(base):
                    return str(Path(root.path, text_path(str(place.relative_to(base)))))
    return None
