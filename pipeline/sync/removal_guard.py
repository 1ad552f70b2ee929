"""Removal guard: the decision to hold removals because many skills disappeared at once; pure."""

from catalog.writing.tables.removals import HoldReason

FEWEST = 20
"""Fewer missing skills than this are removed without a question."""
SPAN = 600.0
"""Seconds; all removals from a root within this span count as one."""


def reason_to_hold(*, missing: int, known: int, removed_lately: int) -> HoldReason | None:
    """Return the reason to hold the removals from one root; None if they may proceed.

    `missing` counts the skills that are gone but not removed yet, and `known` all that are not
    removed, the missing ones among them.
    """
    gone = missing + removed_lately
    if missing and gone >= FEWEST and 2 * gone > known + removed_lately:
        return HoldReason(
            "mass_removal", f"{gone} of {known + removed_lately} skills disappeared at once"
        )
    return None
