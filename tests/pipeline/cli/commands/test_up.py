import io
import json
import logging
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.cli.commands.up import _AsJson
from tests.support.serving import Serving
from tests.support.skills import SkillWriter


def record(message: str, **more: object) -> logging.LogRecord:
    """Return a log record of the service."""
    made = logging.LogRecord("skilldrop", logging.INFO, "service.py", 1, message, (), None)
    vars(made).update(more)
    return made


def test_a_record_is_one_json_object_on_one_line() -> None:
    """It has the message for people, and its data as fields."""
    fields = {"outcome": "updated", "path": "a"}
    line = _AsJson().format(record("updated 会议\nnotes", fields=fields))
    told = json.loads(line)
    assert "\n" not in line
    assert told["at"].endswith("+00:00")
    assert (told["level"], told["message"]) == ("info", "updated 会议\nnotes")
    assert (told["outcome"], told["path"]) == ("updated", "a")


def test_an_internal_error_keeps_its_traceback() -> None:
    """In a separate field, still on one line."""
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        line = _AsJson().format(record("bug", exc_info=sys.exc_info()))
    assert "ZeroDivisionError" in json.loads(line)["traceback"]
    assert "\n" not in line


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return the JSON log lines of a service."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(_AsJson())
    logger = logging.getLogger("skilldrop")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield written
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_each_ingestion_is_one_line(tmp_path: Path, skill: SkillWriter, log: io.StringIO) -> None:
    """A first scan, a change, a rejection and a removal, as they are in the catalog."""
    it = Serving(tmp_path)
    skill(it.root / "a")
    skill(it.root / "b")
    it.start()
    it.settle()
    skill(it.root / "a", description="Another one.")
    skill(it.root / "c", files={"SKILL.md": "nothing"})
    shutil.rmtree(it.root / "b")
    it.settle()
    it.stop()
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    lines = [(one["path"], one["outcome"]) for one in told if "outcome" in one]
    assert sorted(lines) == sorted(it.rows("SELECT path, outcome FROM ingestions"))
    assert {("a", "updated"), ("b", "removed"), ("c", "rejected")} <= set(lines)
    assert {"at", "level", "message", "root", "name", "detail"} <= told[0].keys() | told[1].keys()
