"""Canned queries of the site."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.writing.store import Store
from tests.support.sites import Site

LONG_AGO = "2020-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        pytest.param(
            "word-count",
            [("company", "no", "allows only"), ("default", "yes", "It has rank ")],
            id="in one index and filtered from the other",
        ),
        pytest.param(
            "SECRET",
            [("company", "no", "disable-model"), ("default", "no", "disable-")],
            id="hidden",
        ),
        pytest.param(
            "zz-l",
            [
                ("company", "no", "allows only"),
                ("default", "no", "use the budget of 500 characters"),
            ],
            id="over the budget",
        ),
        pytest.param(
            "mine/",
            [(None, "no", "shadowed by the enterprise skill in /company/dup")],
            id="shadowed, by its path",
        ),
        pytest.param(
            "broken", [(None, "no", "It was rejected. There is no description.")], id="rejected"
        ),
        pytest.param(
            "gone", [(None, "no", "Its folder was removed at 2026-11-20T12:00")], id="removed"
        ),
        pytest.param(
            "copying", [(None, "no", "12:00:00.000+00:00: still changing.")], id="pending"
        ),
        pytest.param(
            "worse",
            [
                ("company", "no", "newest content was rejected"),
                ("default", "yes", "newest content was rejected"),
            ],
            id="the last good version stands in",
        ),
        pytest.param("loose", [(None, "no", "No skill.")], id="a folder that is no skill"),
        pytest.param(
            "100%",
            [(None, "no", "No skill or folder of this name was ever seen")],
            id="never seen",
        ),
    ],
)
def test_why_a_skill_is_not_in_the_index(
    site: Site, asked: str, answers: list[tuple[str | None, str, str]]
) -> None:
    """Each state has a reason, and each skill that is left out has a fix."""
    rows = site.rows("why_not_in_the_index", skill=asked)
    assert [(row["index"], row["in_the_index"]) for row in rows] == [
        (index, inside) for index, inside, _ in answers
    ]
    assert [
        row["reason"]
        for row, (_, _, why) in zip(rows, answers, strict=True)
        if why not in row["reason"]
    ] == []
    assert [row for row in rows if row["in_the_index"] == "no" and not row["what_to_do"]] == []


def test_why_tells_the_findings_with_their_place(site: Site) -> None:
    """The row includes the findings of the skill."""
    (row,) = site.rows("why_not_in_the_index", skill="broken")
    assert row["findings"] == "error, SKILL.md:2: There is no description. Write one."


def test_why_tells_of_a_root_that_cannot_be_read(site: Site, catalog: Path) -> None:
    """An unmounted share explains all its missing skills."""
    store = Store.open(catalog)
    store.roots.set_trouble("/company", "No such file or directory")
    store.close()
    told = [
        (row["status"], row["folder"], row["reason"])
        for row in site.rows("why_not_in_the_index", skill="no such thing")
    ]
    assert ("no root", "/company", "No such file or directory") in told


@pytest.mark.parametrize(
    ("days", "names"),
    [
        pytest.param("", {"word-count"}, id="nothing said: a week"),
        pytest.param("rubbish", {"word-count"}, id="no number: a week"),
        pytest.param("36500", {"word-count", "old"}, id="a hundred years"),
    ],
)
def test_what_changed(
    catalog: Path, serve: Callable[[Path], Site], days: str, names: set[str]
) -> None:
    """Changes of skills and publications of indexes of that time, newest first."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
    db = sqlite3.connect(catalog)
    db.execute("UPDATE ingestions SET started_at = ? WHERE path = 'word-count'", [now])
    db.execute("UPDATE ingestions SET started_at = ? WHERE path != 'word-count'", [LONG_AGO])
    db.execute("UPDATE index_builds SET published_at = ?", [now])
    db.commit()
    db.close()
    rows = serve(catalog).rows("what_changed", days=days)
    assert {row["name"] for row in rows} & {"word-count", "old"} == names
    assert [row["at"] for row in rows] == sorted((row["at"] for row in rows), reverse=True)
    assert {row["name"] for row in rows if row["event"] == "index published"} == {
        "default",
        "company",
    }


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ("Bash", ["secret", "word-count"]),
        (" bash ", ["secret", "word-count"]),
        ("Bash(wc:*)", ["word-count"]),
        ("Read", ["word-count"]),
        ("wc", []),
        ("", ["secret", "word-count", "zz-large"]),
    ],
)
def test_skills_that_ask_for_a_tool(site: Site, tool: str, names: list[str]) -> None:
    """A tool is meant whole: Bash is in Bash(wc:*) and not in Bashful."""
    assert [row["name"] for row in site.rows("skills_with_tool", tool=tool)] == names
