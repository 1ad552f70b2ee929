"""URIs of skills: each is read as it was made."""

import pytest

from catalog.mcp import uris
from catalog.mcp.uris import SkillUri
from catalog.model.errors import NotInCatalog


@pytest.mark.parametrize(
    "path", ["", "SKILL.md", "a/b c.md", "空.md", "a?b#c", "a%20b", "x?version=1", "a&b=c;d"]
)
@pytest.mark.parametrize("skill_id", ["word-count", "会议", "office--pdf"])
def test_a_uri_leads_back_to_its_parts(skill_id: str, path: str) -> None:
    """It has ASCII characters only, and can be followed by a version."""
    uri = uris.of(skill_id, path)
    assert uri.isascii()
    for suffix, version in (("", ""), ("?version=20260101-000000", "20260101-000000")):
        found = uris.parse(uri + suffix)
        assert (found.skill_id, found.path, found.version) == (skill_id, path, version)


def test_a_uri_without_escapes_is_kept_as_written() -> None:
    """Some clients write paths as they are."""
    assert uris.parse("skill://x/a%b c?.md") == SkillUri("x", "a%b c?.md", "a%b c?.md", "")


@pytest.mark.parametrize("uri", ["", "skill://", "skill:///a", "file:///a", "x", "SKILL://x/a"])
def test_another_uri_is_refused(uri: str) -> None:
    """The sentence says which form is right."""
    with pytest.raises(NotInCatalog, match=r"skill://SKILL_ID/FILE\.$"):
        uris.parse(uri)
