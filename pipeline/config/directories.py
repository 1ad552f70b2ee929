"""Types of the settings that name a directory."""

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from pipeline.config.data_paths import followed_path, real_path


def _real(path: object) -> object:
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
    """Return the absolute path of what is a path, with its links kept."""
    return followed_path(path) if isinstance(_real(path), Path) else path  # type: ignore[arg-type]


Directory: TypeAlias = Annotated[
    Path, BeforeValidator(_real), Field(description="the path of a directory")
]
Root: TypeAlias = Annotated[
    Path, BeforeValidator(_followed), Field(description="the path of a directory")
]
