"""The program `skilldrop`: starts the command line, also quietly when interrupted at once."""

import os
import sys


def main() -> None:
    """Run the command line and exit."""
    # Else a process that this one starts would import what lies in the directory it is started
    # in, before what is installed: a skill's yaml.py, if that is where somebody types the command.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        from pipeline import cli  # a Ctrl-C may come while this is read
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main()
