"""Conversion of plain text to Markdown."""


def prose(text: str) -> str:
    """Return text that Markdown shows literally; text in backticks stays code."""
    pieces = text.split("`")
    for number in range(0, len(pieces), 2):
        for mark in r"\*_<>[]#":
            pieces[number] = pieces[number].replace(mark, f"\\{mark}")
    return "`".join(pieces)


def cell(text: str) -> str:
    """Return such text for a table cell: on one line, with escaped bars."""
    return prose(" ".join(text.split())).replace("|", r"\|")
