"""Entry point of the site's process: `python -m catalog.site var/catalog.db --port 8001`."""

import argparse
import logging
import os
import signal
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path

from catalog.model.errors import SkilldropError
from catalog.model.setting import SiteSettings
from catalog.site.server import app

LOG_BYTES = 2**20
"""Bytes of a log."""


def main() -> None:
    """Read the arguments and serve; on an error, print one sentence and exit with code 1."""
    parser = argparse.ArgumentParser(prog="python -m catalog.site", description=__doc__)
    parser.add_argument("catalog", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--settings", default="{}", help="other settings of [site], as JSON")
    parser.add_argument("--no-usage", action="store_true", help="do not count reads")
    parser.add_argument("--log", type=Path, help="file of the messages; else standard error")
    parser.add_argument(
        "--with-parent",
        action="store_true",
        help="exit when standard input closes, as it does when the parent dies",
    )
    arguments = parser.parse_args()
    if arguments.with_parent:
        threading.Thread(target=_end_with_stdin, daemon=True).start()

    _write_messages(arguments.log)
    try:
        settings = SiteSettings.model_validate_json(arguments.settings)
        address = {"host": arguments.host, "port": arguments.port}
        settings = settings.model_copy(update=address)
        app.serve(arguments.catalog, settings, usage=not arguments.no_usage)
    except SkilldropError as error:
        sys.exit(str(error))


def _write_messages(file: Path | None) -> None:
    """Write messages to a log, which is moved to `<name>.1` when it is large."""
    handler: logging.Handler = logging.StreamHandler()
    if file:
        handler = RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
        if file.stat().st_size > LOG_BYTES:
            handler.doRollover()
    form = "%(asctime)s %(levelname)s %(message)s"
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format=form)


def _end_with_stdin() -> None:
    """End this process with SIGTERM once standard input closes, even before it serves."""
    while os.read(0, 4096):  # not sys.stdin, whose lock a blocked read would hold at the exit
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
