"""Skill and version of an outcome: by its content or its folders."""

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.writing.store import Store
from pipeline.outcomes.collect import OutcomeReport
from tests.pipeline.outcomes.test_collect import folder, rows, store, take
from tests.support.records import NOON, judged

__all__ = ["folder", "store"]

CURRENT, OLD = "20261120-120000-2", "20261120-120000"


@pytest.fixture
def skills(store: Store) -> Store:
    """Return a catalog with skills whose names begin alike, and two versions of one."""
    for change in (judged("meetings", "Another."), judged("meetings-run"), judged("pdf")):
        store.apply([change], trigger="command", at=NOON)
    return store


def drop(folder: Path, path: str, **fields: Any) -> None:
    """Write an outcome to a path."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"output": 1, **fields}))


ROWS = """
    SELECT o.skill_id, s.name, v.version, o.version_declared FROM outcomes AS o
    LEFT JOIN skills AS s ON s.id = o.skill LEFT JOIN versions AS v ON v.id = o.version
"""


@pytest.mark.requirement("own/outcome-origin")
@pytest.mark.parametrize(
    ("path", "fields", "row"),
    [
        # The content
        ("x.json", {"skill": "meetings"}, ("meetings", "meetings", CURRENT, None)),
        ("x.json", {"skillId": "Meetings"}, ("meetings", "meetings", CURRENT, None)),
        ("pdf/x.json", {"skillName": "meetings"}, ("meetings", "meetings", CURRENT, None)),
        ("x.json", {"skill": f"meetings@{OLD}"}, ("meetings", "meetings", OLD, OLD)),
        ("pdf/x.json", {"skill": "meetings", "version": OLD}, ("meetings", "meetings", OLD, OLD)),
        ("pdf/x.json", {"skill": "nobody"}, ("nobody", None, None, None)),
        ("x.json", {"skill": "office:pdf"}, ("office--pdf", None, None, None)),
        # The folders
        ("meetings/x.json", {}, ("meetings", "meetings", CURRENT, None)),
        ("meetings/pdf.json", {}, ("meetings", "meetings", CURRENT, None)),
        ("meetings/x.json", {"version": OLD}, ("meetings", "meetings", OLD, OLD)),
        ("2026/11/meetings/x.json", {}, ("meetings", "meetings", CURRENT, None)),
        ("nobody/pdf.json", {}, ("nobody", None, None, None)),
        ("nobody/x.json", {"version": "1.0"}, ("nobody", None, None, "1.0")),
        # Nothing
        ("meetings-7.json", {}, (None, None, None, None)),
        ("x.json", {"version": OLD}, (None, None, None, OLD)),
    ],
)
def test_an_outcome_belongs_to_the_skill_that_is_named(
    skills: Store, folder: Path, path: str, fields: dict[str, Any], row: tuple[str | None, ...]
) -> None:
    """The content counts before the folders."""
    drop(folder, path, **fields)
    report = take(skills, folder)
    assert report.stored == [path]
    assert rows(skills, ROWS) == [row]
    is_linked = row[1] is not None and (row[2] is not None or row[3] is None)
    assert report.unlinked == ([] if is_linked else [path])


def test_an_outcome_is_linked_when_its_skill_arrives(store: Store, folder: Path) -> None:
    """Whether its content or its folder names the skill."""
    drop(folder, "later/x.json")
    drop(folder, "x.json", skill="later")
    drop(folder, "nobody/x.json")
    take(store, folder)
    store.apply([judged("later")], trigger="command", at=NOON)
    assert take(store, folder) == OutcomeReport(linked=2)
    assert rows(store, "SELECT path FROM outcomes WHERE skill IS NULL") == [("nobody/x.json",)]
    assert take(store, folder) == OutcomeReport()


def test_runs_of_one_name_in_different_folders_are_different(store: Store, folder: Path) -> None:
    """Neither is a revision of the other."""
    drop(folder, f"meetings/{OLD}/run.json")
    drop(folder, "meetings/run.json")
    take(store, folder)
    assert rows(store, "SELECT run_id, revision, is_newest FROM outcomes") == [("run", 1, 1)] * 2
