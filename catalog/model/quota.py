"""Limits of publication."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits in force; None is no limit."""

    versions_per_hour: int | None = None  # of each skill
    packages_bytes: int | None = None  # of all packages together
    free_bytes: int = 0  # on their disk
