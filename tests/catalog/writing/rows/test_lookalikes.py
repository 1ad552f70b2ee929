"""Findings about names that look alike, as skills are added, changed and removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model.change import Removal
from catalog.model.naming import mixed_word, skeleton
from catalog.reading import status as reading_status
from catalog.writing.store import Store
from pipeline.cli.commands import status as output_status
from tests.support.records import NOON, ROOT, judged, refused, rooted
from tests.support.sites import Site

LATIN, CYRILLIC = "paypal", "pаypal"  # the second letter


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return an empty catalog."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    yield store
    store.close()


def marked(store: Store) -> dict[str, str]:
    """Return the messages by the name of the skill."""
    return dict(
        store.db.execute(
            "SELECT s.name, f.message FROM findings AS f JOIN skills AS s"
            " ON s.id = f.skill WHERE f.code = 'name-confusable'"
        )
    )


def test_both_names_are_marked_until_one_is_removed(store: Store) -> None:
    """In either order; each finding names the other skill and its path."""
    store.apply([judged(LATIN)], trigger="event", at=NOON)
    assert marked(store) == {}
    store.apply([judged("evil", name="PаyPаl"), judged("other")], trigger="event", at=NOON)
    messages = marked(store)
    assert messages.keys() == {LATIN, "PаyPаl"}
    assert f"PаyPаl in {ROOT}/evil" in messages[LATIN]
    assert f"{LATIN} in {ROOT}/{LATIN}" in messages["PаyPаl"]
    assert all(
        "In evil, а is the cyrillic small letter a." in message for message in messages.values()
    )
    store.apply([Removal(ROOT, LATIN)], trigger="event", at=NOON)
    assert "mixes letters" in marked(store).pop("PаyPаl")
    store.apply([judged("evil", name="plain")], trigger="event", at=NOON)
    assert marked(store) == {}


def test_a_rescan_of_the_same_name_is_unchanged(store: Store) -> None:
    """The finding does not come from the folder, so another scan changes nothing."""
    store.apply([judged(LATIN), judged(CYRILLIC)], trigger="event", at=NOON)
    before = marked(store)
    (again,) = store.apply([judged(LATIN)], trigger="re-scan", at=NOON)
    assert (again.outcome, marked(store)) == ("unchanged", before)


def test_only_active_skills_are_compared(store: Store) -> None:
    """A rejected folder with such a name does not count; a last good version does."""
    store.apply([judged(LATIN), refused(CYRILLIC)], trigger="event", at=NOON)
    assert marked(store) == {}
    store.apply([judged(CYRILLIC)], trigger="event", at=NOON)
    store.apply([refused(CYRILLIC)], trigger="event", at=NOON)
    assert marked(store).keys() == {LATIN, CYRILLIC}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("paypal", "pаypаl", True),
        ("modern", "modem", True),
        ("csv-t00l", "csv-tool", True),
        ("word-1ist", "word-list", True),
        ("αpi", "api", True),
        ("word-list", "word-lists", False),
        ("会议纪要", "会议记要", False),
        ("step-1", "step-2", False),
    ],
)
def test_names_that_look_alike_have_one_skeleton(one: str, other: str, alike: bool) -> None:
    """Letters of other scripts, digits and rn count as alike; other words stay different."""
    assert (skeleton(one) == skeleton(other)) == alike


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("pаypal", "pаypal"),
        ("обзор", None),
        ("обзор-api", None),
        ("β-test", None),
        ("αpi-x", "αpi"),
        ("pdf工具", None),
        ("plain", None),
    ],
)
def test_a_word_of_several_scripts_is_found(name: str, word: str | None) -> None:
    """Latin, Greek, Cyrillic and Armenian must not mix in one word; Chinese and Latin may."""
    assert mixed_word(name) == word


def test_the_mark_is_shown(site: Site, catalog: Path) -> None:
    """In lists, in search results, on the page of the skill, and in status."""
    store = Store.open(catalog)
    store.apply([judged(LATIN), judged(CYRILLIC)], trigger="event", at=NOON)
    output = output_status.report(reading_status.load(store.db))
    store.close()
    for page in ("/skills", f"/skills?q={LATIN}", f"/skills/{LATIN}", f"/skills/{CYRILLIC}"):
        assert "name looks like another" in site.get(page).text
    assert "name looks like another" not in site.get("/skills/word-count").text
    assert f"name looks like another: {LATIN}" in output
