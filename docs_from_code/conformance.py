"""Table of the statements of documents and other sources, each with the tests that show it."""

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

skilldrop was specified by four documents, one of them in two languages, and a card. Each table has
the statements of one that can be tested, in our own words, by section, with the tests in `tests/`
that show them. Tables for other sources follow. The build fails if a statement has no test, and if
such a test fails or is skipped. [Deviations](reference/deviations.md) compares verdicts on skills
with those of the reference validator.

A statement that skilldrop **departs** from has the reason, and what to set to have it to the
letter. One that is **out of scope** has the reason.

| source | covers | statements | departures | out of scope |
|---|---|---|---|---|
"""
_HEAD = """
## {title}

| section | statement | how it is met | shown by |
|---|---|---|---|
"""


def page() -> str:
    """Return the page: the numbers of each source, then a table for each, documents first."""
    rows, shown = list(_listed()), marked_tests()
    counts = tables = ""
    sources = sorted(_sources().items(), key=lambda item: item[1].get("other", False))
    for name, source in sources:
        own = [row for row in rows if row.identifier.startswith(f"{name}/")]
        departures, out = sum(bool(row.departs) for row in own), sum(bool(row.out) for row in own)
        about = cell(source["about"])
        counts += f"| {source['title']} | {about} | {len(own)} | {departures} | {out} |\n"
        tables += _HEAD.format(title=source["title"])
        tables += "".join(_line(row, shown.get(row.identifier, [])) for row in own)
    return f"{_OPENING}{counts}{tables}"


def problems() -> list[str]:
    """Return the statements without a test, and the marks without a statement."""
    rows = list(_listed())
    known, shown = Counter(row.identifier for row in rows), marked_tests()
    needed = {row.identifier for row in rows if not row.out}
    return [
        *(f"{_LIST.name}: {name} is listed twice" for name in known if known[name] > 1),
        *(f"{_LIST.name}: no test shows {name}" for name in sorted(needed - shown.keys())),
        *(
            f"{tests[0]}: {_LIST.name} has no requirement {name}"
            for name, tests in sorted(shown.items())
            if name not in needed
        ),
    ]


class _Row(NamedTuple):
    """Statement of a source."""

    identifier: str
    section: str
    requires: str
    departs: str | None = None  # why skilldrop does something else
    set: str | None = None  # what gives it to the letter
    out: str | None = None  # why it is out of scope


def _listed() -> Iterator[_Row]:
    """Read the statements, each a text or a map of the texts of a row."""
    for name, source in _sources().items():
        for section, statements in source["sections"].items():
            for key, statement in statements.items():
                texts = {"requires": statement} if isinstance(statement, str) else statement
                yield _Row(f"{name}/{key}", section, **texts)


def _line(row: _Row, tests: Sequence[str]) -> str:
    names = "<br>".join(cell(f"`{test}`") for test in tests)
    return f"| {cell(row.section)} | {cell(row.requires)} | {_how(row)} | {names} |\n"


def _how(row: _Row) -> str:
    if row.out:
        return f"**out of scope:** {cell(row.out)}"
    if not row.departs:
        return "works"
    return f"**departs:** {cell(row.departs)}" + (f" Set {cell(row.set)}." if row.set else "")


@cache
def _sources() -> Mapping[str, Any]:
    sources: Mapping[str, Any] = yaml.safe_load(_LIST.read_text("utf-8"))
    return sources
