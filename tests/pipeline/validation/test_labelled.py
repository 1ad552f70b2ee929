"""Precision and recall of findings over texts that people labelled."""

from typing import Any

import pytest
import yaml

from pipeline.cli.output.finding_types import REGISTRY
from tests.support.parsed_skills import codes, skill
from tests.support.paths import REPOSITORY

LABELLED = REPOSITORY / "tests/samples/labelled"
LEAST_PRECISION = 0.95
LEAST_RECALL = 0.90
FEWEST = 10

CASES: dict[str, dict[str, Any]] = {
    code: cases
    for file in sorted(LABELLED.glob("*.yml"))
    for code, cases in yaml.safe_load(file.read_text("utf-8")).items()
}


def raised(code: str, text: str) -> bool:
    """Return whether a text raises a code, as the body or in the field of its cases."""
    cases = CASES[code]
    fields: dict[str, Any] = {cases["field"]: text} if "field" in cases else {}
    of = skill(**fields) if fields else skill(text, *cases.get("files", ()))
    return code in codes(REGISTRY[code].profile, of)


@pytest.mark.parametrize("code", CASES)
def test_a_finding_is_right_and_misses_little(code: str) -> None:
    """At least 95 % of a code's findings are right, and at least 90 % of the faults are found."""
    wrong, fine = CASES[code]["wrong"], CASES[code]["fine"]
    missed = [text for text in wrong if not raised(code, text)]
    false = [text for text in fine if raised(code, text)]
    found = len(wrong) - len(missed)
    assert min(len(wrong), len(fine)) > FEWEST
    assert found / (found + len(false)) >= LEAST_PRECISION, false
    assert found / len(wrong) >= LEAST_RECALL, missed
