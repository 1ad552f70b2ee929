"""Namespaces of skills, from the folders they lie in."""

import pytest

from catalog.model import namespaces


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        ("none", "a/b/pdf", None),
        ("folder", "pdf", None),
        ("folder", "a/b/pdf", "a"),
        ("folder", "a.zip!/pdf", "a"),
        ("path", "pdf", None),
        ("path", "a/b/pdf", "a.b"),
        ("plugin", "office", "office"),
        ("plugin", "office/skills/pdf", "office"),
        ("teams/{team}", "teams/red/x/pdf", "red"),
        ("teams/{team}", "others/red/pdf", None),
        ("teams/{team}", "teams/red", None),
        ("teams/{team}/skills", "teams/red/drafts/pdf", None),
        ("{org}/*/{team}", "acme/skills/red/pdf", "acme.red"),
    ],
)
def test_a_namespace_comes_from_the_path(rule: str, path: str, expected: str | None) -> None:
    """By the rule of the root."""
    assert namespaces.namespace_of(path, rule) == expected


@pytest.mark.parametrize("rule", ["", "teams", "teams//{team}", "{team", "a{team}", "/{team}"])
def test_a_rule_that_names_no_folder_is_refused(rule: str) -> None:
    """So is an unfinished one."""
    with pytest.raises(ValueError, match=r"it needs|is neither"):
        namespaces.check(rule)
