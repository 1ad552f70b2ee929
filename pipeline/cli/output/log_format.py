"""Log formats: a line for people, or a JSON object per line for programs."""

import json
import logging
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from catalog.text.times import iso

LogFormat: TypeAlias = Literal["text", "json"]


def write_log(form: LogFormat) -> None:
    """Send all log records to standard error in a form."""
    handler = logging.StreamHandler()
    handler.setFormatter(
        _AsJson() if form == "json" else logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S")
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for library in ("apscheduler", "watchdog"):  # they warn of what is of no consequence
        logging.getLogger(library).setLevel(logging.ERROR)


class _AsJson(logging.Formatter):
    """One object a record: at, level and message, and the fields of what the record tells."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object on one line."""
        at = iso(datetime.fromtimestamp(record.created, UTC))
        told = {
            "at": at,
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)
