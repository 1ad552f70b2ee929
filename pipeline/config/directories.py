"""Types of the settings that name a directory."""

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from pipeline.config.data_paths import real_path


def _absolute(path: object) -> object:
    """Return the real path of what is a path."""
    if path == "":
        raise ValueError("empty path")
    if not isinstance(path, str | Path):
        return path
    try:
        return real_path(path)
    except RuntimeError as error:  # an unknown user, or a loop of links
        raise ValueError(str(error)) from None


def _followed(path: object) -> object:
    """Return an absolute path with its links kept, because their targets may change."""
    real = _absolute(path)
    if not isinstance(path, str | Path) or ".." in Path(path).parts:
        return real
    return Path(path).expanduser().absolute()


Directory: TypeAlias = Annotated[
    Path, BeforeValidator(_absolute), Field(description="the path of a directory")
]
Root: TypeAlias = Annotated[
    Path, BeforeValidator(_followed), Field(description="the path of a directory")
]
