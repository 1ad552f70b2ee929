"""Columns that a visible text fills on a terminal.

The library takes 20 ms to import, which most texts do not need: they are ASCII and fit.
"""


def width(text: str) -> int:
    """Return how many columns a text fills: Chinese characters two each, marks none."""
    if text.isascii():
        return len(text)
    import wcwidth

    return wcwidth.width(text, control_codes="ignore")


def cut(text: str, columns: int) -> str:
    """Return the text, or its beginning and `…` where it fills more columns than there are."""
    if width(text) <= columns:
        return text
    import wcwidth

    return wcwidth.clip(text, 0, max(columns - 1, 0), fillchar="") + "…"
