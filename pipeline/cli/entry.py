"""Entry point of `skilldrop`: starts the command line; an early interrupt ends it quietly."""

import os
import sys

from pipeline.cli import stored_help


def main() -> None:
    """Run the command line and exit."""
    # Without this, child processes would import modules of the working directory before the
    # installed ones: a skill's yaml.py, for example.
    os.environ["PYTHONSAFEPATH"] = "1"
    if answer := stored_help.find(sys.argv[1:]):
        sys.stdout.write(answer)
        return
    try:
        if _command(sys.argv[1:]) == "up":  # signals stop it like a service from the start
            from pipeline.cli import stopping

            stopping.stop_by(_stop)
        from pipeline.cli.imports import quick_imports

        with quick_imports():
            from pipeline.cli import app  # Ctrl-C may arrive during this import
    except KeyboardInterrupt:
        sys.exit(130)
    app.main()


def _command(words: list[str]) -> str:
    """Return the first word that is neither a global option nor the value of one."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 1 if "=" in words[position] else 2
    return words[position] if position < len(words) else ""


def _stop(number: int, _: object) -> None:
    """Report the signal and end, even in the middle of an import: nothing needs cleaning up yet."""
    from pipeline.cli import stopping

    try:
        os.write(2, f"{stopping.sentence(number)}\n".encode())
    finally:
        os._exit(0)
