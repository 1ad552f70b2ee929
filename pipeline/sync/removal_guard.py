"""Removal guard: holds removals if many skills disappeared at once; a pure function."""

from catalog.writing.tables.removals import HoldReason

FEWEST = 20
"""Fewer missing skills than this are always removed."""
SPAN = 600.0
"""Seconds; all removals from a root within this span count together."""


def reason_to_hold(*, missing: int, known: int, removed_lately: int) -> HoldReason | None:
    """Return the reason to hold the removals from one root; None if they may proceed.

    `missing` counts the skills that are gone but not yet removed; `known` counts all skills not yet
    removed, including the missing ones.
    """
    disappeared = missing + removed_lately
    if missing and disappeared >= FEWEST and 2 * disappeared > known + removed_lately:
        return HoldReason(
            "mass_removal",
            f"{disappeared} of {known + removed_lately} skills disappeared at once",
        )
    return None
