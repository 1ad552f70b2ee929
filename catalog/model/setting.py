"""Types from which the tables of skilldrop.toml are declared, wherever their code is.

The description of a field completes the sentence "it must be …" in error messages.
"""

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, ByteSize, ConfigDict, Field, TypeAdapter

from catalog.model.values import LEVELS, Level

STRICT = ConfigDict(extra="forbid")
"""Configuration of a table as a dataclass: unknown keys are errors."""

A_SIZE = 'a number of bytes, or a size such as "100 MiB", of 1 byte or more'
"""Description of a number of bytes."""


class Table(BaseModel):
    """Table of settings: frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def real_path(path: object) -> object:
    """Return the real path of a path, which a later change of directory does not affect.

    Other values are returned as they are. Raises ValueError for an empty path, an unknown user or a
    loop of links.
    """
    if path == "":
        raise ValueError("empty path")
    if not isinstance(path, str | Path):
        return path
    try:
        return Path(path).expanduser().resolve()
    except RuntimeError as error:  # an unknown user, or a loop of links
        raise ValueError(str(error)) from None


def _followed(path: object) -> object:
    """Return the absolute path of a path, with its links kept, because their targets may change."""
    real = real_path(path)
    if not isinstance(path, str | Path) or ".." in Path(path).parts:
        return real
    return Path(path).expanduser().absolute()


Directory: TypeAlias = Annotated[
    Path, BeforeValidator(real_path), Field(description="the path of a directory")
]
Root: TypeAlias = Annotated[
    Path, BeforeValidator(_followed), Field(description="the path of a directory")
]
Size: TypeAlias = Annotated[int, BeforeValidator(TypeAdapter(ByteSize).validate_python)]
"""Number of bytes, also written with a unit."""
Words: TypeAlias = Annotated[tuple[str, ...], Field(description="a list of texts")]
Levels: TypeAlias = Annotated[
    tuple[Level, ...], Field(description=f"a list of levels: {', '.join(LEVELS)}")
]
