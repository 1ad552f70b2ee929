"""Decides when so much vanishes at once that a person must say whether it was meant; pure."""

FEWEST = 20
"""Fewer than this many skills vanish without ado."""
SPAN = 600.0
"""Seconds; what vanishes of one root within them vanishes at once, however many looks saw it."""


def why_hold(*, missing: int, known: int, removed_lately: int) -> str | None:
    """Return why removals are to be held back; None where they are not.

    Of one root: missing counts the skills that are gone and not removed yet, and known all that
    are not removed (the missing ones among them).
    """
    gone = missing + removed_lately
    if missing and gone >= FEWEST and 2 * gone > known + removed_lately:
        return f"{gone} of {known + removed_lately} skills vanished at once"
    return None
