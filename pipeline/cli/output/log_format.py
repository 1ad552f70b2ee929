"""Log formats: text lines for people, or one JSON object per line for programs."""

import json
import logging
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from catalog.text.humanize import iso

LogFormat: TypeAlias = Literal["text", "json"]


def write_log(form: LogFormat) -> None:
    """Send all log records to standard error in one of the formats."""
    handler = logging.StreamHandler()
    handler.setFormatter(
        _AsJson() if form == "json" else logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S")
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for library in ("apscheduler", "watchdog"):  # their warnings do not matter here
        logging.getLogger(library).setLevel(logging.ERROR)


class _AsJson(logging.Formatter):
    """Formatter of one JSON object per record: `at`, `level`, `message` and its extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object as one line."""
        at = iso(datetime.fromtimestamp(record.created, UTC))
        entry = {
            "at": at,
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)
