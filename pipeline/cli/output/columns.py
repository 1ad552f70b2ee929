"""Width of visible text on a terminal.

The library takes 20 ms to import; most texts are ASCII and do not need it.
"""


def width(text: str) -> int:
    """Return the columns of a text: Chinese characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    import wcwidth

    return wcwidth.width(text, control_codes="ignore")


def cut(text: str, columns: int) -> str:
    """Return the text, shortened to its beginning and `…` if it is wider than `columns`."""
    if width(text) <= columns:
        return text
    import wcwidth

    return wcwidth.clip(text, 0, max(columns - 1, 0), fillchar="") + "…"
