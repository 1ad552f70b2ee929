"""Untrusted text, made visible for a terminal or a page."""

from catalog.text.invisible import all_visible, is_invisible


def visible(text: str) -> str:
    """Return the text with `<U+202E>` for each character that is not seen or that moves others.

    Those are control, bidi, tag and other invisible characters, line ends among them: what is
    returned is one line, and a terminal obeys nothing in it.
    """
    if all_visible(text):
        return text
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    return f"<U+{ord(character):04X}>" if is_invisible(character) else character
