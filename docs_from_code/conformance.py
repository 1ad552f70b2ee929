"""Table of the requirements of the specifications, each with the tests that show it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from docs_from_code.markdown import cell
from docs_from_code.requirement_marks import marked_tests

_LIST = Path(__file__).with_name("requirements.yml")

_OPENING = """\
# Conformance

<!-- Generated from docs_from_code/requirements.yml and the marks in the tests by `make docs`. -->

skilldrop implements four specifications. The table has a row for each of their requirements, with
the tests that show it; a test that fails or is skipped fails the build, and so does a requirement
without a test. A test carries the mark `requirement` with the identifiers of its rows. The cases of
a test stand in brackets. [Deviations](reference/deviations.md) compares verdicts on skills with the
reference validator's.
"""
_HEAD = """
| specification | part | requirement | shown by |
|---|---|---|---|
"""


def page() -> str:
    """Return the page: the number of rows of each specification, then the table."""
    rows = list(_rows())
    counts = "".join(
        f"- {specification['title']}: {sum(row[0] == specification['title'] for row in rows)}\n"
        for specification in _requirements().values()
    )
    return f"{_OPENING}\n{len(rows)} requirements:\n\n{counts}{_HEAD}" + "".join(
        f"| {' | '.join(row)} |\n" for row in rows
    )


def problems() -> list[str]:
    """Return the requirements without a test, and the marks without a requirement."""
    known = Counter(identifier for identifier, *_ in _listed())
    shown = marked_tests()
    return [
        *(f"{_LIST.name}: {name} is listed twice" for name in known if known[name] > 1),
        *(f"{_LIST.name}: no test shows {name}" for name in sorted(known - shown.keys())),
        *(
            f"{tests[0]}: {_LIST.name} has no requirement {name}"
            for name, tests in sorted(shown.items())
            if name not in known
        ),
    ]


def _rows() -> Iterator[tuple[str, str, str, str]]:
    shown = marked_tests()
    for identifier, title, part, requirement in _listed():
        text, reason = requirement, None
        if not isinstance(requirement, str):
            text, reason = requirement["requires"], requirement["departs"]
        departure = f" **We depart:** {cell(reason)}" if reason else ""
        yield title, part, cell(text) + departure, "<br>".join(shown.get(identifier, ()))


def _listed() -> Iterator[tuple[str, str, str, Any]]:
    """Yield identifier, title of the specification, part, and requirement of each row."""
    for name, specification in _requirements().items():
        for part, requirements in specification["parts"].items():
            for key, requirement in requirements.items():
                yield f"{name}/{key}", specification["title"], part, requirement


@cache
def _requirements() -> Mapping[str, Any]:
    requirements: Mapping[str, Any] = yaml.safe_load(_LIST.read_text("utf-8"))
    return requirements
