"""Base of the models of settings."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """Table of settings: frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
