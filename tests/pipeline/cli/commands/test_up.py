import io
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.serving import Serving
from tests.support.skills import SkillWriter


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return the log lines of a service."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
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
    stored = it.rows("SELECT outcome || ' ' || path FROM ingestions")
    told = [" ".join(line.split(" ")[:2]) for line in log.getvalue().splitlines()]
    assert sorted(line for line in told if (line,) in stored) == sorted(line for (line,) in stored)
    assert {("updated a",), ("removed b",), ("rejected c",)} <= set(stored)
