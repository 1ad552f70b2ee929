"""Requirements of the specifications that concern several parts, and the table of all of them."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from catalog.prompt_index import query
from catalog.prompt_index.spec import IndexSpec
from docs_from_code import conformance
from docs_from_code.requirement_marks import marked_tests
from tests.support.paths import REPOSITORY
from tests.support.shelf import Shelf
from tests.support.skills import write_skill


def test_every_requirement_has_a_test_and_every_mark_a_requirement() -> None:
    """The build fails otherwise."""
    assert conformance.problems() == []


def test_a_requirement_without_a_test_and_an_unknown_mark_are_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is one sentence with its identifier."""
    shown = dict(marked_tests())
    del shown["agent-skills/name-length"]
    shown["agent-skills/name-lenght"] = ["test_x.py::test_x"]
    shown["prd/chat"] = ["test_x.py::test_y"]  # out of scope

    def marks() -> Mapping[str, list[str]]:
        return shown

    monkeypatch.setattr(conformance, "marked_tests", marks)
    assert {
        "requirements.yml: no test shows agent-skills/name-length",
        "test_x.py::test_x: requirements.yml has no requirement agent-skills/name-lenght",
        "test_x.py::test_y: requirements.yml has no requirement prd/chat",
    } <= set(conformance.problems())


MARKED = """
import pytest

@pytest.mark.requirement("a/test", "a/second")
@pytest.mark.parametrize(
    "n", [1, pytest.param(2, id="two", marks=pytest.mark.requirement("a/case"))]
)
def test_numbers(n):
    {body}
"""


def test_marks_of_tests_and_cases_are_found(tmp_path: Path) -> None:
    """Those of tests that the suite does not run do not count."""
    for path in ("test_a.py", "clients/test_b.py", "helper.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(MARKED.format(body="pass"), "utf-8")
    assert marked_tests(tmp_path) == {
        "a/test": ["test_a.py::test_numbers"],
        "a/second": ["test_a.py::test_numbers"],
        "a/case": ["test_a.py::test_numbers[two]"],
    }


def test_a_skipped_test_of_a_requirement_fails(tmp_path: Path) -> None:
    """Nobody has seen then that the requirement is met."""
    files = {
        "passed": MARKED.format(body="pass"),
        "not_marked": "import pytest\n\ndef test_a(): pytest.skip('x')\n",
        "skipped": MARKED.format(body="pytest.skip('no such system')"),
        "expected": MARKED.format(body="pytest.xfail('not yet')"),
        "decorated": MARKED.replace("def", "@pytest.mark.skip(reason='x')\ndef").format(
            body="pass"
        ),
        "whole": "import pytest\npytest.skip('x', allow_module_level=True)\n" + MARKED,
    }
    for name, text in files.items():
        (tmp_path / f"test_{name}.py").write_text(text, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = requirement: shows one\n", "utf-8")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", "tests.support.requirements", "--continue-on-collection-errors", tmp_path),
            "--maxfail=7",
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.findall(r"^(?:FAILED|ERROR) .*test_(\w+)\.py", run.stdout, re.MULTILINE)
    assert set(failed) == {"skipped", "expected", "decorated", "whole"}, run.stdout + run.stderr
    assert "stopping after 7 failures" in run.stdout  # each counts for the exit code
    assert "2 passed, 1 skipped" in run.stdout


# Requirements


@pytest.mark.requirement("prd/packages-from-skill-md")
def test_a_manifest_changes_nothing(tmp_path: Path) -> None:
    """It is a file like others, even with fields that SKILL.md lacks, and agents are not told."""
    shelf = Shelf(tmp_path)
    manifest = '{"name": "other", "description": "Another.", "author": "A", "version": "9"}'
    write_skill(shelf.root / "word-count", files={"manifest.json": manifest})
    write_skill(
        shelf.root / "bare",
        files={"SKILL.md": "---\nname: bare\n---\nText.\n", "manifest.json": manifest},
    )
    shelf.scan()
    skills = [
        tuple(row)
        for row in shelf.db.execute("SELECT path, status, name, author FROM skills ORDER BY path")
    ]
    assert skills == [
        ("bare", "rejected", "bare", None),
        ("word-count", "active", "word-count", None),
    ]
    assert shelf.db.execute(
        "SELECT count(*) FROM skills WHERE description = 'Another.'"
    ).fetchone() == (0,)
    index = query.build_index(shelf.db, IndexSpec(format="semibot")).text
    assert "Files: SKILL.md\n" in index
    shelf.close()


@pytest.mark.requirement("textbook/budget-default")
def test_the_default_budget_is_that_of_the_textbook() -> None:
    """Without a budget and without a window."""
    budget = IndexSpec().budget
    assert (budget.size, budget.unit) == (16_000, "chars")
