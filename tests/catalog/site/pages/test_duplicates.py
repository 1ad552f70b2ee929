"""Pages and canned queries that tell which skills repeat each other."""

from pathlib import Path

from catalog.writing.store import Store
from tests.support.bodies import edited, made_body
from tests.support.records import NOON, judged
from tests.support.sites import Site


def fill(catalog: Path) -> None:
    """Add copies, similar skills and one that has a name like markup."""
    store = Store.open(catalog)
    body = made_body(1)
    store.apply(
        [
            judged("pdf", "Reads.", body=body),
            judged("copies/pdf", "Reads.", body=body),
            judged("reader", "Reads.", name="<b>reader", body=edited(body, 0.1)),
            *(judged(f"like-{n}", "Likes.", body=edited(body, 0.05, seed=n)) for n in range(20)),
        ],
        trigger="event",
        at=NOON,
    )
    store.close()


def test_the_page_lists_each_kind(site: Site, catalog: Path) -> None:
    """A large group shows its first skills, and how many more there are."""
    fill(catalog)
    content = site.get("/duplicates").text
    assert "2 skills: pdf" in content
    assert "copies/pdf" in content
    described = site.get("/duplicates?kind=description").text
    assert "20 skills: " in described
    assert "and 14 more" in described


def test_the_page_lists_the_skills_like_one(site: Site, catalog: Path) -> None:
    """With their percentages; nothing of a name is markup."""
    fill(catalog)
    near = site.get("/duplicates?like=pdf").text
    assert "skills: pdf" in near
    assert " %</span>" in near
    assert "<b>reader" not in near
    assert "No other skill has similar" in site.get("/duplicates?like=word-count").text
    assert "No other skill has similar" in site.get("/duplicates?like=no-such-skill").text


def test_an_unknown_kind_or_page_is_answered(site: Site, catalog: Path) -> None:
    """The first kind, and an empty page."""
    fill(catalog)
    assert "2 skills: pdf" in site.get("/duplicates?kind=x&page=x").text
    assert "This page is empty." in site.get("/duplicates?page=99999").text


def test_the_page_of_a_skill_leads_to_similar_skills(site: Site, catalog: Path) -> None:
    """The shadowed copy says that its content is the same."""
    fill(catalog)
    page = site.get("/skills/pdf").text
    assert "/duplicates?like=pdf" in page
    assert "with the same content" in page
    assert 'id="same"' not in page  # its copy has the same identifier


def test_the_canned_query_lists_the_same(site: Site, catalog: Path) -> None:
    """As JSON: skills of one description."""
    fill(catalog)
    (first, *_) = site.rows("same_description")
    assert (first["folders"], first["description"]) == (20, "Likes.")


def test_many_folders_of_one_identifier_are_counted(site: Site, catalog: Path) -> None:
    """The first ones are listed; a link leads to all."""
    store = Store.open(catalog)
    store.apply([judged(f"{n}/pdf", body=str(n)) for n in range(30)], trigger="event", at=NOON)
    store.close()
    page = site.get("/skills/pdf").text
    assert page.count("shadowed by the project skill") == 10
    assert "All 30 folders" in page
