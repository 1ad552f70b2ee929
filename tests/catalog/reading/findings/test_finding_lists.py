"""Findings that tell of danger."""

from catalog.reading.findings import finding_lists
from pipeline.validation.profiles.safety.rules import SAFETY


def test_every_danger_is_a_rule_about_safety() -> None:
    """A mistyped or renamed code would silently be harmless."""
    assert {kind.code for kind in SAFETY.types} >= finding_lists.KINDS.keys()


def test_one_sentence_names_the_worst_kinds() -> None:
    """Two kinds are named and the others counted; findings without danger are not."""
    codes = ("download-run", "download-run", "secret", "tag-characters", "package-unpinned")
    findings = [{"code": code, "severity": "warning"} for code in codes]
    assert finding_lists.sentence(findings) == (
        "Contains commands that download and run a program unread, a key or password"
        " and 1 more kind of danger: 4 findings."
    )
    assert finding_lists.sentence(findings[-1:]) == ""
