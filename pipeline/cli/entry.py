"""Entry point of `skilldrop`, which starts the command line."""

import os
import sys


def main() -> None:
    """Run the command line and exit."""
    # Without this, child processes would import modules of the working directory before the
    # installed ones: a skill's yaml.py, for example.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        from pipeline.cli import app  # Ctrl-C may arrive during this import
    except KeyboardInterrupt:
        sys.exit(130)
    app.main()
