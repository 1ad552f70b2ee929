"""Findings that tell of danger."""

from catalog.reading.findings import finding_lists


def test_one_sentence_names_the_dangers() -> None:
    """Three kinds are named and the others counted; other findings are not."""
    codes = ("hidden-from-user", "hidden-from-user", "payload-encoded", "tag-characters", "new")
    findings = [{"code": code, "severity": "danger"} for code in codes]
    harmless = {"code": "download-run", "severity": "warning"}
    assert finding_lists.sentence([harmless, *findings]) == (
        "5 dangers: hidden from user, payload encoded, tag characters and 1 more."
    )
    assert finding_lists.sentence([harmless]) == ""
