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


def test_a_question_lists_the_groups(site: Site, catalog: Path) -> None:
    """The largest first, with the paths of all."""
    fill(catalog)
    content = site.get("/questions/same_content").text
    assert "copies/pdf" in content
    described = site.get("/questions/same_description").text
    assert described.index("Likes.") < described.index("Reads.")
    assert "like-19" in described


def test_a_page_lists_the_skills_like_one(site: Site, catalog: Path) -> None:
    """With their percentages; nothing of a name is markup."""
    fill(catalog)
    near = site.get("/skills/pdf/similar").text
    assert " %</span>" in near
    assert "<b>reader" not in near
    assert "No other skill has similar" in site.get("/skills/word-count/similar").text
    assert site.get("/skills/no-such-skill/similar").status_code == 404


def test_a_search_groups_them(site: Site, catalog: Path) -> None:
    """The first one has a card, which names the others."""
    fill(catalog)
    page = site.get("/skills", q="likes").text
    cards = page.count('<li class="card skill-card">')
    near = page.partition("Nearly the same: ")[2].partition("</p>")[0]
    assert cards < 20
    assert '<a href="/skills/like-' in near
    assert all(f'"/skills/like-{n}"' in page for n in range(20))


def test_the_page_of_a_skill_leads_to_similar_skills(site: Site, catalog: Path) -> None:
    """The shadowed copy says that its content is the same."""
    fill(catalog)
    page = site.get("/skills/pdf").text
    assert "/skills/pdf/similar" in page
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
    assert page.count("shadowed by the project skill") == 20
    assert "All 30 folders" in page
