"""References between skills on the site."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.shelf import Shelf
from tests.support.sites import Site, site_of_shelf
from tests.support.skills import SkillWriter


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return published skills with references to each other, and to none."""
    shelf = Shelf(tmp_path)
    skill(
        shelf.root / "user",
        more="depends_on: [needed]",
        body=(
            "See [other](../other/SKILL.md#use), [file](../other/references/a.md)"
            " and [none](../none/SKILL.md), [lost](../other/lost.md).\n"
        ),
    )
    skill(shelf.root / "needed", more="depends_on: [deeper]")
    skill(shelf.root / "deeper", more="depends_on: [needed]")
    skill(shelf.root / "other", files={"references/a.md": "A.\n"})
    shelf.scan()
    yield shelf
    shelf.close()


far = pytest.fixture(site_of_shelf, name="far")


def test_links_lead_to_the_pages_of_other_skills(far: Site) -> None:
    """Never to a missing page: a link to no skill is plain text.

    A link to no file leads to the skill.
    """
    text = far.get("/skills/user").text
    links = re.findall(r'<a href="([^"]*)"[^>]*>(other|file|lost)</a>', text)
    assert {words: address for address, words in links} == {
        "other": "/skills/other",
        "file": "/skills/other/view/references/a.md",
        "lost": "/skills/other",
    }
    for address, _ in links:
        assert far.get(address).status_code == 200
    assert "<span>none</span>" in text
    assert 'none/SKILL.md"' not in text


def test_the_page_shows_uses_users_and_all_needed_skills(far: Site) -> None:
    """Skills that need each other are listed once."""
    card = re.compile(r'<section[^>]* aria-labelledby="related-title">.*?</section>', re.S)

    def shown(name: str) -> str:
        found = card.search(far.get(f"/skills/{name}").text)
        assert found
        return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", found[0])).strip()

    assert shown("user") == (
        "Related skills Needs, in all deeper needed Uses needed needed"
        " other 3 links broken for agents Leads to no skill ../none/SKILL.md SKILL.md:7"
    )
    assert shown("other") == "Related skills Used by user 3 links"
    assert '<a href="/skills/other/similar">' in far.get("/skills/other").text
    assert "Needs, in all needed Uses" in shown("deeper")


def test_the_preview_has_uses_and_users(far: Site) -> None:
    """As objects that a program can follow."""
    user = far.get("/skills/user/preview").json()
    assert user["uses"] == [
        {"skill_id": "needed", "name": "needed", "status": "active", "declared": True},
        {"skill_id": "other", "name": "other", "status": "active", "declared": False},
    ]
    assert user["used_by"] == []
    users = far.get("/skills/needed/preview").json()["used_by"]
    assert [(each["name"], each["declared"]) for each in users] == [
        ("deeper", True),
        ("user", True),
    ]


def test_relative_links_in_published_files_lead_to_other_skills(far: Site) -> None:
    """From any file of the current or one version, in the place that the link leads to."""
    assert far.get("/skills/user/other/references/a.md").text == "A.\n"
    assert far.get("/skills/user/versions/20260101-000000/other/references/a.md").text == "A.\n"
    for missing in ("/skills/user/deeper/SKILL.md", "/skills/user/none/SKILL.md", "/skills/x/y"):
        assert far.get(missing).status_code == 404


def test_the_discovery_index_of_a_skill_is_about_that_skill_alone(far: Site) -> None:
    """The files of both formats can be fetched below it."""
    for kind in ("agent-skills", "skills"):
        index = f"/skills/user/.well-known/{kind}/index.json"
        assert [each["name"] for each in far.get(index).json()["skills"]] == ["user"]
    assert far.get("/skills/user/.well-known/skills/user/SKILL.md").status_code == 200
    assert far.get("/skills/user/.well-known/skills/needed/SKILL.md").status_code == 404
