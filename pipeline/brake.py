"""Decides when so much vanishes at once that a person must say whether it was meant; pure."""

FEWEST = 20
"""Fewer than this many skills vanish without ado."""
SPAN = 600.0
"""Seconds; what vanishes of one root within them vanishes at once, however many looks saw it."""


def why_hold(*, missing: int, known: int, removed_lately: int, is_elsewhere: bool) -> str | None:
    """Return why removals are to be held back; None where they are not.

    Of one root: missing counts the skills that are gone and not removed yet, known all that are
    not removed (the missing ones among them), and is_elsewhere says that another device lies
    under its path than the one that held its skills.
    """
    if not missing:
        return None
    if is_elsewhere:
        return "another device lies there"
    gone = missing + removed_lately
    if gone >= FEWEST and 2 * gone > known + removed_lately:
        return f"{gone} of {known + removed_lately} skills vanished at once"
    return None
