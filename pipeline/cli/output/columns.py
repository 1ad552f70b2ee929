"""Columns that a visible text fills on a terminal."""

import wcwidth


def width(text: str) -> int:
    """Return how many columns a text fills: Chinese characters two each, marks none."""
    return len(text) if text.isascii() else wcwidth.width(text, control_codes="ignore")


def cut(text: str, columns: int) -> str:
    """Return the text, or its beginning and `…` where it fills more columns than there are."""
    if width(text) <= columns:
        return text
    return wcwidth.clip(text, 0, max(columns - 1, 0), fillchar="") + "…"
