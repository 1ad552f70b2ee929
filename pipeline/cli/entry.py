"""The program `skilldrop`: starts the command line, also quietly when interrupted at once."""

import os
import sys


def main() -> None:
    """Run the command line and exit."""
    # Else a process that this one starts would import what lies in the directory it is started
    # in, before what is installed: a skill's yaml.py, if that is where somebody types the command.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        if _command(sys.argv[1:]) == "up":  # it is stopped as a service from the beginning
            from pipeline.cli import stopping

            stopping.stop_by(_stop)
        from pipeline.cli import app  # a Ctrl-C may come while this is read
    except KeyboardInterrupt:
        sys.exit(130)
    app.main()


def _command(words: list[str]) -> str:
    """Return the first word that is neither an option of all commands nor the value of one."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 1 if "=" in words[at] else 2
    return words[at] if at < len(words) else ""


def _stop(number: int, _: object) -> None:
    """Say so and end, wherever in an import this is; there is nothing to be put away yet."""
    from pipeline.cli import stopping

    try:
        os.write(2, f"{stopping.sentence(number)}\n".encode())
    finally:
        os._exit(0)
