"""Routing tests, run by searches of a catalog in memory."""

import json

import pytest

from catalog.model.finding import Finding
from catalog.reading.search import routing
from catalog.writing.store import Store
from tests.support.records import NOON, judged, rooted

PATH = "evals/routing.json"
RIVALS = 6


@pytest.fixture
def store() -> Store:
    """Return a catalog with a skill for spreadsheets and some for PDF files."""
    store = rooted(Store.in_memory())
    rivals = [
        judged(f"pdf-{n}", f"Extracts tables from PDF files, way {n}.") for n in range(RIVALS)
    ]
    own = judged("sheets", "Sums the columns of spreadsheets. Knows no tables.")
    store.apply([own, *rivals], trigger="command", at=NOON)
    return store


def run(store: Store, *tests: object, path: str = PATH) -> list[Finding]:
    """Return the findings of tests of the skill for spreadsheets, in one file."""
    return run_text(store, json.dumps(tests, indent=1), path)


def run_text(store: Store, text: str | None, path: str = PATH) -> list[Finding]:
    """Return the findings of a file of the skill for spreadsheets."""
    (skill,) = store.db.execute("SELECT id FROM skills WHERE skill_id = 'sheets'").fetchone()
    return routing.run(store.db, skill, [(path, text)])[1]


def test_a_task_that_finds_the_skill_among_the_first_five_passes(store: Store) -> None:
    """The name of the field is query or prompt, and the list may be in an object."""
    task = "sum these columns"
    assert run(store, {"query": task, "should_trigger": True}) == []
    assert run_text(store, json.dumps({"evals": [{"prompt": task, "should_trigger": True}]})) == []


def test_a_missed_task_names_place_line_and_better_results(store: Store) -> None:
    """The line is that of the entry, and the skills ahead are counted."""
    (missed,) = run(
        store,
        {"query": "spreadsheets", "should_trigger": True},
        {"query": "extract tables from PDF files", "should_trigger": True},
    )
    assert (missed.code, missed.severity, missed.profile) == ("route-missed", "warning", "advice")
    assert (missed.path, missed.line) == (PATH, 8)
    assert "it is at 7, behind pdf-0, pdf-1 and 4 more." in missed.message


def test_a_task_without_the_words_of_the_skill_is_no_result(store: Store) -> None:
    """That is said instead of a place."""
    (missed,) = run(store, {"query": "the weather in Oslo", "should_trigger": True})
    assert missed.message.endswith("it is no result.")


def test_a_task_that_should_not_lead_to_a_skill_may_find_it_second(store: Store) -> None:
    """Only the first result is a finding."""
    assert run(store, {"query": "tables from PDF files", "should_trigger": False}) == []
    (taken,) = run(store, {"query": "sum columns", "should_trigger": False})
    assert (taken.code, taken.path, taken.line) == ("route-taken", PATH, 4)


def test_a_skill_alone_takes_no_task_from_others() -> None:
    """It is the first result of each search that finds it."""
    store = rooted(Store.in_memory())
    store.apply([judged("sheets", "Sums columns.")], trigger="command", at=NOON)
    assert run(store, {"query": "sum columns", "should_trigger": False}) == []


def test_a_skill_that_models_may_not_see_is_found_by_no_task() -> None:
    """Agents do not find it either."""
    store = rooted(Store.in_memory())
    hidden = judged("sheets", "Sums columns.", model_invocable=False)
    store.apply([hidden, judged("other")], trigger="command", at=NOON)
    (missed,) = run(store, {"query": "sum columns", "should_trigger": True})
    assert missed.code == "route-missed"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[\n{"should_trigger": true,}]', 2, "JSON|property name"),
        ('[{"query": 3, "should_trigger": true}]', None, "test 1 "),
        ('[{"should_trigger": false}]', None, "test 1 "),
        ('[{"query": "x", "should_trigger": "yes"}]', None, "test 1 "),
        ('{"should_trigger": ' + "[" * 30_000, None, "recursion"),
        ("no JSON", 1, "Expecting value"),
        (None, None, "limits.text_bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_finding(
    store: Store, text: str | None, line: int | None, words: str
) -> None:
    """None of its tests is run."""
    (found,) = run_text(store, text)
    assert (found.code, found.severity, found.line) == ("routing-tests-unreadable", "info", line)
    assert any(word in found.message for word in words.split("|"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("evals/evals.json", '[{"prompt": "x", "expected_output": "y"}]'),
        ("evals/one.json", '{"evals": 3, "should_trigger": true}'),
        ("evals/one.json", '[3, "\\"should_trigger\\": true"]'),
        ("evals/deep/routing.json", '[{"query": "x", "should_trigger": true}]'),
        ("routing.json", '[{"query": "x", "should_trigger": true}]'),
        ("evals/routing.yaml", '[{"query": "x", "should_trigger": true}]'),
    ],
)
def test_other_files_are_no_routing_tests(store: Store, path: str, text: str) -> None:
    """They are neither run nor reported."""
    assert run_text(store, text, path) == []


def test_the_line_is_left_out_where_the_key_is_elsewhere_too(store: Store) -> None:
    """No wrong line is given."""
    entry = {"query": "weather", "should_trigger": True, "more": {"should_trigger": 1}}
    (missed,) = run(store, entry)
    assert (missed.path, missed.line) == (PATH, None)


def test_tests_beyond_a_hundred_are_left_out_and_said(store: Store) -> None:
    """The number counts all."""
    tests: list[object] = [{"query": "sum columns", "should_trigger": True}] * 100
    (found,) = run(store, *tests, {"query": "the weather", "should_trigger": True})
    assert found.code == "routing-tests-unreadable"
    assert "101 routing tests, only the first 100" in found.message
