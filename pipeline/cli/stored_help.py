"""Help of the program as a file, which is quicker to print than to make.

`make docs` writes the files from the commands.
"""

import os

COLUMNS = (80, 100)
"""Widths of terminals with a stored help; a wider terminal shows the last one."""


def find(words: list[str]) -> str | None:
    """Return the stored answer to the words of a command line; None if there is none."""
    if words not in (["--help"], ["-h"]):
        return None
    try:
        columns = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(1).columns
    except (ValueError, OSError):
        columns = COLUMNS[0]
    name = os.path.join(os.path.dirname(__file__), "help", f"{min(columns, COLUMNS[-1])}.txt")
    try:
        with open(name, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
