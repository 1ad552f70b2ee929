"""Pages of one prompt index: its skills, texts and history."""

import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from catalog.model.setting import LinkedDirectory
from catalog.prompt_index import query
from catalog.prompt_index.spec import IndexSpec
from catalog.reading import index_views
from catalog.writing.links import table
from catalog.writing.store import Store
from tests.support.records import NOON, judged
from tests.support.sites import Site

TIGHT = IndexSpec("tight", budget_chars=4_000)
WORDS = "Folds paper into cranes and boats. Use when somebody asks for origami with kraft paper."


@pytest.fixture(scope="module")
def built(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Publish a tight index of many skills on one day, and with one more two days later."""
    copy = Path(shutil.copytree(filled.parent, tmp_path_factory.mktemp("built") / "var"))
    store = Store.open(copy / filled.name)
    many = [judged(f"fold-{n:02}", f"{WORDS} Number {n}.") for n in range(index_views.PAGE)]
    store.apply(many, trigger="event", at=NOON)
    store.indexes.configure([TIGHT])
    store.indexes.record(TIGHT, query.build_index(store.db, TIGHT), NOON)
    later = NOON + timedelta(days=2)
    store.apply([judged("only-later", "Is new.")], trigger="event", at=later)
    store.indexes.record(TIGHT, query.build_index(store.db, TIGHT), later)
    store.close()
    return copy / filled.name


@pytest.fixture(autouse=True)
def catalog(built: Path, tmp_path: Path) -> Path:
    """Return the file of a copy of the catalog with both texts of the index."""
    return Path(shutil.copytree(built.parent, tmp_path / "var"), built.name)


def test_skills_are_on_pages(site: Site) -> None:
    """No page has all of them, and together they have each one once, in the order of the index."""
    pages = [site.get("/indexes/tight", page=number).text for number in (1, 2)]
    assert [page.count('<p class="row-head">') for page in pages] == [index_views.PAGE, 6]
    names = re.findall(r'href="/skills/(fold-\d+)"', "".join(pages))
    assert names == sorted({*names})
    assert len(names) == index_views.PAGE
    assert 'rel="next"' not in pages[1]


def test_what_agents_tell_their_models_is_below_the_indexes(catalog: Path, site: Site) -> None:
    """A line for each directory whose agent is known."""
    assert "Told to the model" not in site.get("/indexes").text
    store = Store.open(catalog)
    agent: Any = {"for": "claude-code"}
    table.put(store.db, LinkedDirectory("/home/anna/.claude/skills", **agent), "command")
    store.close()
    assert "Told to the model of Claude Code: 0 whole" in site.get("/indexes").text


def test_the_whole_description_stands_under_the_words_that_agents_get(site: Site) -> None:
    """It is told once."""
    page = site.get("/indexes/tight", q="number 7.").text
    cuts = re.findall(r'<p class="cuts">(.*?)</p>', page)
    assert len(cuts) == 1
    assert cuts[0] == f"{WORDS} Number 7."
    shown = re.search(r'<summary class="told">(.*?)<span', page)
    assert shown
    assert len(shown[1]) < len(cuts[0])


def test_skills_that_are_left_out_have_their_reason_once(site: Site) -> None:
    """The reason is above the list."""
    page = site.get("/indexes/tight", show="left_out").text
    assert page.count("disable-model-invocation") == 1
    assert re.findall(r'href="/skills/([\w-]+)"', page) == ["secret"]
    assert "1 skill left out" in page
    assert "No skill matches." in site.get("/indexes/tight", show="left_out", q="fold").text


def test_skills_of_which_little_is_left_are_counted_and_listed(catalog: Path, site: Site) -> None:
    """Their descriptions are cut to less than a tenth, or gone."""
    assert "<b>1 skill of" in site.get("/indexes/tight").text
    store = Store.open(catalog)
    store.db.execute(
        "UPDATE index_entries SET shown = 'folds' WHERE index_name = 'tight' AND skill IN"
        " (SELECT id FROM skills WHERE skill_id IN ('fold-00', 'fold-01'))"
    )
    store.close()
    page = site.get("/indexes/tight").text
    assert re.search(r"<b>3 skills of \d+</b> show less than a tenth", page)
    little = site.get("/indexes/tight", show="little").text
    assert little.count('<p class="row-head">') == little.count('"figure little"') == 3
    assert "<b>5</b> of " in little


def test_the_history_leads_to_the_text_of_each_publication(site: Site) -> None:
    """The newest day comes first."""
    history = site.get("/indexes/tight/history").text
    assert history.index("Sunday, 22 November") < history.index("Friday, 20 November")
    newest, oldest = re.findall(r"/indexes/tight/text\?build=\d+", history)
    assert "only-later" in site.get(newest).text
    assert "only-later" not in site.get(oldest).text
    assert "This text is not kept." in site.get("/indexes/tight/text", build="99").text


def test_a_text_is_on_one_page(site: Site) -> None:
    """It scrolls inside."""
    page = site.get("/indexes/tight/text").text
    text = re.search(r"(?s)<pre[^>]*>(.*?)</pre>", page)
    assert text
    assert text[1].count("fold-") >= index_views.PAGE


@pytest.mark.parametrize("part", ["", "/text", "/history"])
def test_an_unknown_index_is_not_found(site: Site, part: str) -> None:
    """Each of its pages says so."""
    assert site.get(f"/indexes/none{part}").status_code == 404
