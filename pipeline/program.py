"""The program `skilldrop`: starts the command line, also quietly when interrupted at once."""

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        from pipeline import cli  # a Ctrl-C may come while this is read
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main()
