"""Plain text as Markdown."""


def prose(text: str) -> str:
    """Return a text that Markdown shows as it is written; text in backticks stays code."""
    pieces = text.split("`")
    for at in range(0, len(pieces), 2):
        for mark in r"\*_<>[]#":
            pieces[at] = pieces[at].replace(mark, f"\\{mark}")
    return "`".join(pieces)


def cell(text: str) -> str:
    """Return the same for a cell of a table: on one line, with its bars escaped."""
    return prose(" ".join(text.split())).replace("|", r"\|")
