"""Skills that a scan does not find again."""

from pathlib import Path

import pytest

from pipeline.roots.source import Source
from pipeline.watch.settling import WatchUnit, outermost
from tests.support.serving import Serving
from tests.support.skills import SkillWriter


def test_many_equal_folders_take_no_longer_than_others(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each could have moved from any other path; only hinted paths are checked."""
    asked = []
    folder_at = Source.folder

    def counted(source: Source, path: str) -> object:
        asked.append(path)
        return folder_at(source, path)

    it = Serving(tmp_path).start()
    for number in range(20):
        skill(it.root / f"s{number}", name="same")
    it.settle()
    monkeypatch.setattr(Source, "folder", counted)
    for number in range(20, 40):
        skill(it.root / f"s{number}", name="same")
    it.settle()
    it.stop()
    assert len(asked) < 40
    assert list(it.statuses().values()).count("active") == 1


def test_a_unit_inside_another_is_scanned_once() -> None:
    """However often it is requested."""
    a, inner, b = WatchUnit("/r", "a"), WatchUnit("/r", "a/x/y"), WatchUnit("/r", "b")
    assert outermost([inner, a, b, a]) == [a, b]
    assert outermost([WatchUnit("/r", ""), a]) == [WatchUnit("/r", "")]
