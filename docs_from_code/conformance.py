"""Table of the requirements of the specifications, each with the tests that show it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from docs_from_code.markdown import cell
from docs_from_code.requirement_marks import marked_tests

_LIST = Path(__file__).with_name("requirements.yml")

_OPENING = """\
# Conformance

<!-- Generated from docs_from_code/requirements.yml and the marks in the tests by `make docs`. -->

skilldrop implements four specifications. Each table has the requirements of one, with the tests in
`tests/` that show them. The build fails if a requirement has no test, and if a test of a
requirement fails or is skipped. [Deviations](reference/deviations.md) compares verdicts on skills
with those of the reference validator.

| specification | covers | requirements | departures |
|---|---|---|---|
"""
_HEAD = """
## {title}

| part | requirement | shown by |
|---|---|---|
"""


def page() -> str:
    """Return the page: the numbers of each specification, then a table for each."""
    rows, shown = list(_listed()), marked_tests()
    counts = tables = ""
    for specification in _specifications().values():
        title, about = specification["title"], specification["about"]
        own = [row for row in rows if row.specification == title]
        departures = sum(row.departs is not None for row in own)
        counts += f"| {title} | {cell(about)} | {len(own)} | {departures} |\n"
        tables += _HEAD.format(title=title)
        tables += "".join(_line(row, shown.get(row.identifier, [])) for row in own)
    return f"{_OPENING}{counts}{tables}"


def problems() -> list[str]:
    """Return the requirements without a test, and the marks without a requirement."""
    known = Counter(row.identifier for row in _listed())
    shown = marked_tests()
    return [
        *(f"{_LIST.name}: {name} is listed twice" for name in known if known[name] > 1),
        *(f"{_LIST.name}: no test shows {name}" for name in sorted(known.keys() - shown.keys())),
        *(
            f"{tests[0]}: {_LIST.name} has no requirement {name}"
            for name, tests in sorted(shown.items())
            if name not in known
        ),
    ]


class _Row(NamedTuple):
    """Requirement of a specification."""

    identifier: str
    specification: str
    part: str
    requires: str
    departs: str | None  # why skilldrop does something else


def _listed() -> Iterator[_Row]:
    """Read the requirements, each a text or a map with the texts `requires` and `departs`."""
    for name, specification in _specifications().items():
        for part, requirements in specification["parts"].items():
            for key, requirement in requirements.items():
                texts = {"requires": requirement} if isinstance(requirement, str) else requirement
                yield _Row(
                    f"{name}/{key}",
                    specification["title"],
                    part,
                    texts["requires"],
                    texts.get("departs"),
                )


def _line(row: _Row, tests: Sequence[str]) -> str:
    departure = f" **skilldrop departs:** {cell(row.departs)}" if row.departs else ""
    names = "<br>".join(cell(f"`{test}`") for test in tests)
    return f"| {cell(row.part)} | {cell(row.requires)}{departure} | {names} |\n"


@cache
def _specifications() -> Mapping[str, Any]:
    specifications: Mapping[str, Any] = yaml.safe_load(_LIST.read_text("utf-8"))
    return specifications
