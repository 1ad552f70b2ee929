"""Routing tests of skills: tasks for which a search, without a model, should find them or not."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from catalog.database.queries import Database
from catalog.model.finding import ROUTE_MISSED, ROUTE_TAKEN, ROUTING_TESTS_UNREADABLE, Finding
from catalog.reading.search import word_search
from catalog.reading.search.filters import Filters
from catalog.text.suggestions import few
from catalog.text.visible import quoted

FIRST = 5
"""Results among which a skill should be."""
MOST_TESTS = 100
"""Tests of one skill that are run."""
_MARK = re.compile(r'(?<!\\)"should_trigger"\s*:')
File: TypeAlias = tuple[str, str | None]
"""Path of a file in a skill, and its text, if that is stored."""


def with_tests(files: Iterable[File]) -> list[File]:
    """Return the files directly in evals/ that have routing tests, or that cannot be read."""
    evals = (file for file in files if re.fullmatch(r"evals/[^/]+\.json", file[0]))
    return [(path, text) for path, text in evals if text is None or _may_have_tests(text)]


def _may_have_tests(text: str) -> bool:
    try:
        return bool(_MARK.search(text) or json.loads(text) is None)
    except (ValueError, RecursionError):
        return True  # `run` says why it is no JSON


def run(db: Database, skill: int, files: Iterable[File]) -> tuple[int, list[Finding]]:
    """Run the tests of an active skill by searches as agents make them.

    Return their number and the findings. A skill alone is the first result of every task, which is
    no finding then.
    """
    (skills,) = db.execute("SELECT count(*) FROM skills WHERE status = 'active'").fetchone()
    tests, findings = [], []
    for path, text in with_tests(files):
        try:
            tests += [(path, *test) for test in _tests(text)]
        except (ValueError, RecursionError) as error:
            line, message = getattr(error, "lineno", None), f"No test of the file is run: {error}."
            findings.append(ROUTING_TESTS_UNREADABLE.at(message, path=path, line=line))
    if len(tests) > MOST_TESTS:
        message = f"Of {len(tests):,} routing tests, only the first {MOST_TESTS} are run."
        findings.append(ROUTING_TESTS_UNREADABLE.at(message, path=tests[MOST_TESTS][0]))
    for path, line, task, should_lead in tests[:MOST_TESTS]:
        results = word_search.search(db, task, 2, filters=Filters().for_models)
        place = results.skills.index(skill) if skill in results.skills else None
        if should_lead and place not in range(FIRST):
            ahead = few([hit.name for hit in results.hits])
            where = f"at {place + 1}, behind {ahead} and {place - 2} more" if place else "no result"
            message = f"{quoted(task)} should find it among the first {FIRST}; it is {where}."
            findings.append(ROUTE_MISSED.at(message, path=path, line=line))
        elif not should_lead and place == 0 and skills > 1:
            message = f"{quoted(task)} should not lead here, but it is the first result."
            findings.append(ROUTE_TAKEN.at(message, path=path, line=line))
    return len(tests[:MOST_TESTS]), findings


def _tests(text: str | None) -> Iterator[tuple[int | None, str, bool]]:
    """Yield line, task and expectation of each test in a file; other evals are left out.

    Raises ValueError and RecursionError.
    """
    if text is None:
        raise ValueError("it is not text, or has more than limits.text_bytes")
    content = json.loads(text)
    evals = content.get("evals") if isinstance(content, dict) else content
    if not isinstance(evals, list):
        return
    entries = [each for each in evals if isinstance(each, dict) and "should_trigger" in each]
    lines = [text.count("\n", 0, mark.start()) + 1 for mark in _MARK.finditer(text)]
    for number, entry in enumerate(entries):
        task, should_lead = entry.get("query", entry.get("prompt")), entry["should_trigger"]
        if not (isinstance(task, str) and isinstance(should_lead, bool)):
            raise ValueError(f"test {number + 1} lacks a text as query, or should_trigger is wrong")
        # With the word elsewhere, too, the lines are unknown.
        yield lines[number] if len(lines) == len(entries) else None, task, should_lead
