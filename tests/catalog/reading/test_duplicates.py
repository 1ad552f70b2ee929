"""Duplicates: groups of skills of one content, similar bodies or one description."""

import pytest

from catalog.model.change import Removal
from catalog.reading import duplicates
from catalog.reading.duplicates import SHOWN, Group
from catalog.writing.store import Store
from tests.support.bodies import edited, made_body
from tests.support.records import NOON, ROOT, judged, refused, rooted

BODY = made_body(1)
OTHER = made_body(2)


@pytest.fixture
def store() -> Store:
    """Return a catalog with two families of similar skills, copies, and skills of their own."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged("pdf", "Reads.", body=BODY),
            judged("copy/pdf", "Reads.", body=BODY),
            judged("reader", "Reads papers.", body=edited(BODY, 0.05)),
            judged("papers", "Reads papers.", body=edited(BODY, 0.25, seed=2)),
            judged("chart", "Draws.", body=OTHER),
            judged("graph", "Paints.", body=edited(OTHER, 0.05)),
            judged("one", "Is alone.", body=made_body(3)),
            judged("small-a", "Small a.", body="# Steps"),
            judged("small-b", "Small b.", body="# Steps"),
        ],
        trigger="start",
        at=NOON,
    )
    return store


def groups_of(store: Store, kind: str, number: int = 1) -> tuple[list[Group], int]:
    """Return a page of the groups of a kind, and the number of all groups."""
    found = duplicates.groups(store.db, kind)
    return duplicates.page(store.db, found, number), len(found)


def paths(groups: list[Group]) -> list[list[str]]:
    """Return the paths of the listed skills."""
    return [[row["path"] for row in group.skills] for group in groups]


def test_similar_bodies_are_groups_of_any_status(store: Store) -> None:
    """The shadowed copy counts as well; short bodies and others are in no group."""
    groups, total = groups_of(store, "near")
    assert paths(groups) == [["papers", "pdf", "reader", "copy/pdf"], ["chart", "graph"]]
    assert total == 2
    assert [row["percent"] for row in groups[1].skills] == [100, groups[1].skills[1]["percent"]]
    assert 80 < groups[1].skills[1]["percent"] < 100


def test_equal_files_and_equal_descriptions_are_groups(store: Store) -> None:
    """Each kind has its own list; copies alone are not listed as similar."""
    assert paths(groups_of(store, "content")[0]) == [["pdf", "copy/pdf"]]
    assert paths(groups_of(store, "description")[0]) == [
        ["pdf", "copy/pdf"],
        ["papers", "reader"],
    ]
    store.apply([Removal(ROOT, "reader"), Removal(ROOT, "papers")], trigger="event", at=NOON)
    assert paths(groups_of(store, "near")[0]) == [["chart", "graph"]]
    assert paths(groups_of(store, "description")[0]) == [["pdf", "copy/pdf"]]


def test_skills_without_a_description_are_no_group(store: Store) -> None:
    """A rejected skill has none."""
    store.apply([refused("bad-a", "a"), refused("bad-b", "b")], trigger="event", at=NOON)
    groups, _ = groups_of(store, "description")
    assert not any("bad-a" in group for group in paths(groups))


def test_only_the_same_files_are_a_hundred_percent(store: Store) -> None:
    """The same instructions with another description are not."""
    store.apply([judged("pdf-two", "Reads on.", body=BODY)], trigger="event", at=NOON)
    (row,) = store.db.query("SELECT * FROM skills WHERE path = 'pdf-two'")
    percents = {row["path"]: row["percent"] for row in duplicates.similar(store.db, row)}
    assert percents["pdf"] == percents["copy/pdf"] == 99


def test_a_skill_has_its_similar_skills(store: Store) -> None:
    """Those under other identifiers, most similar first; never itself or its rivals."""

    def similar(path: str) -> list[str]:
        (row,) = store.db.query("SELECT * FROM skills WHERE path = ?", [path])
        found = duplicates.similar(store.db, row)
        assert all(70 <= row["percent"] <= 99 for row in found)
        return [row["path"] for row in found]

    assert similar("pdf") == ["reader", "papers"]
    assert set(similar("reader")) == {"pdf", "copy/pdf", "papers"}
    assert similar("one") == similar("small-a") == []


def test_only_the_current_content_counts(store: Store) -> None:
    """Neither an earlier version nor the rejected content of a folder does."""
    store.apply([judged("graph", body=made_body(4)), refused("pdf")], trigger="event", at=NOON)
    (group,), _ = groups_of(store, "near")
    assert {row["path"] for row in group.skills} == {"papers", "pdf", "reader", "copy/pdf"}
    store.apply([judged("line", body=edited(OTHER, 0.1))], trigger="event", at=NOON)
    _, total = groups_of(store, "near")
    assert total == 2


def test_a_group_of_hundreds_is_counted(store: Store) -> None:
    """Its first skills are listed, and the time does not grow with the square of the group."""
    store.apply(
        [judged(f"many-{n:03}", "Many.", body=edited(BODY, 0.05, seed=n)) for n in range(400)],
        trigger="event",
        at=NOON,
    )
    compared = 0

    def count() -> int:
        nonlocal compared
        compared += 1
        return 0

    store.db.conn.set_progress_handler(count, 1000)
    groups, _ = groups_of(store, "near")
    store.db.conn.set_progress_handler(None, 0)
    assert groups[0].size == 404
    assert len(groups[0].skills) == SHOWN
    assert compared < 300


def test_a_page_of_groups_goes_on_behind_the_one_before() -> None:
    """Each group is on one page, largest first."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged(f"{kind}/{n}", f"Does {n}.", name=f"{kind}-{n}")
            for n in range(40)
            for kind in ("a", "b", "c")[: 3 if n == 39 else 2]
        ],
        trigger="start",
        at=NOON,
    )
    first, total = groups_of(store, "description")
    second, _ = groups_of(store, "description", 2)
    assert (len(first), len(second), total) == (duplicates.PAGE, 10, 40)
    assert first[0].size == 3
    assert len({group.skills[0]["description"] for group in (*first, *second)}) == 40
