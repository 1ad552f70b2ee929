import json
import logging
import sys

from pipeline.logs import _AsJson


def record(message: str, **more: object) -> logging.LogRecord:
    """Return a record as the service makes it."""
    made = logging.LogRecord("skilldrop", logging.INFO, "service.py", 1, message, (), None)
    vars(made).update(more)
    return made


def test_a_record_is_one_json_object_on_one_line() -> None:
    """With the fields of what it tells beside the sentence for people."""
    fields = {"outcome": "updated", "path": "a"}
    line = _AsJson().format(record("updated 会议\nnotes", fields=fields))
    told = json.loads(line)
    assert "\n" not in line
    assert told["at"].endswith("+00:00")
    assert (told["level"], told["message"]) == ("info", "updated 会议\nnotes")
    assert (told["outcome"], told["path"]) == ("updated", "a")


def test_a_bug_of_ours_keeps_its_traceback() -> None:
    """In a field of its own, still on one line."""
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        line = _AsJson().format(record("bug", exc_info=sys.exc_info()))
    assert "ZeroDivisionError" in json.loads(line)["traceback"]
    assert "\n" not in line
