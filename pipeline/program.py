"""The program `skilldrop`: starts the command line, also quietly when interrupted at once."""

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        from pipeline import cli  # a Ctrl-C may come while this takes its third of a second
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main()
