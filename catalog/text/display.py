"""Visible form of untrusted text, for terminals, logs, messages and pages."""

from catalog.text.invisible import all_visible, is_invisible, substituted


def visible(text: str) -> str:
    """Return a text with a code such as `[U+202E]` for each invisible character.

    Those are control, bidi, tag and similar characters, including line ends. The result is one
    line without control sequences for a terminal.
    """
    if all_visible(text):
        return text
    return "".join(code(char) if is_invisible(char) else char for char in text)


def visible_lines(text: str) -> str:
    """Return `visible` of each line of a text; line ends and tabs stay."""
    return "\n".join(
        "\t".join(map(visible, line.removesuffix("\r").split("\t")))
        for line in text.removesuffix("\n").split("\n")
    )


def visible_prose(text: str) -> str:
    """Return a text for a page, on which the invisible parts of emoji and letters stay.

    Those are joiners, selectors and tags after a character that can have one.
    """
    return substituted(text, lambda run: "".join(map(code, run)))


def code(character: str) -> str:
    """Return the code that replaces an invisible character."""
    return f"[U+{ord(character):04X}]"
