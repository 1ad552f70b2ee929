"""Base of the models of settings."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """Table of settings: frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


A_SIZE = 'a number of bytes, or a size such as "100 MiB", of 1 byte or more'
"""Description of a number of bytes."""
