"""Untrusted text made visible: one form for terminals, logs, messages and pages."""

from catalog.text.invisible import all_visible, is_invisible, substituted


def visible(text: str) -> str:
    """Return the text with `[U+202E]` for each character that is not seen or that moves others.

    Those are control, bidi, tag and other invisible characters, line ends among them: the result
    is one line, and a terminal obeys nothing in it.
    """
    if all_visible(text):
        return text
    return "".join(code(char) if is_invisible(char) else char for char in text)


def visible_lines(text: str) -> str:
    """Return the same for each line of a text, in which line ends and tabs stay."""
    return "\n".join(
        "\t".join(map(visible, line.removesuffix("\r").split("\t")))
        for line in text.removesuffix("\n").split("\n")
    )


def visible_prose(text: str) -> str:
    """Return the same for a page, on which the parts of an emoji or a letter stay, too.

    Those are joiners, selectors and tags where the character before them calls for one.
    """
    return substituted(text, lambda run: "".join(map(code, run)))


def code(character: str) -> str:
    """Return the form in which a character is written that is not seen."""
    return f"[U+{ord(character):04X}]"
