"""Sources of skills, which depend on the folders beside them."""

from collections.abc import Iterator, Mapping

import pytest

from catalog.model.change import Change, Judged, Removal
from catalog.model.skill import GitOrigin, RootSpec
from catalog.reading import sources
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, refused, rooted


@pytest.fixture
def store() -> Iterator[Store]:
    """Return an empty catalog."""
    made = rooted(Store.in_memory(), RootSpec(ROOT))
    yield made
    made.close()


def sources_after(store: Store, *changes: Change) -> Mapping[str, tuple[str, str]]:
    """Apply changes; return the name and the kind of the source of each present skill."""
    store.apply(list(changes), trigger="command", at=NOON)
    rows = store.db.execute(
        "SELECT path, source, source_kind FROM skills WHERE status != 'removed'"
    )
    return {path: (source, kind) for path, source, kind in rows}


def by_ada(path: str) -> Judged:
    """Return a skill with an author."""
    return judged(path, author="Ada <ada@acme.dev>")


def test_a_skill_comes_from_the_folder_that_it_shares_else_its_author_else_its_root(
    store: Store,
) -> None:
    """A rejected neighbour counts, too, and an archive is a folder."""
    assert sources_after(
        store, by_ada("team/a"), refused("team/deep/b"), by_ada("c"), judged("d"),
        by_ada("team-b/e"), judged("pack.zip!/f"), judged("pack.zip!/g"),
    ) == {
        "team/a": ("team", "folder"),
        "team/deep/b": ("team", "folder"),
        "c": ("Ada", "author"),
        "d": ("root", "root"),
        "team-b/e": ("Ada", "author"),
        "pack.zip!/f": ("pack", "folder"),
        "pack.zip!/g": ("pack", "folder"),
    }  # fmt: skip


def test_the_source_follows_when_neighbours_come_leave_and_move(store: Store) -> None:
    """The first skill of a folder belongs to it from the second one on, until it is alone again."""
    assert sources_after(store, by_ada("team/a")) == {"team/a": ("Ada", "author")}
    both = {"team/a": ("team", "folder"), "team/b": ("team", "folder")}
    assert sources_after(store, judged("team/b")) == both
    more = {f"team/{name}": ("team", "folder") for name in "abcde"}
    assert sources_after(store, *(judged(f"team/{name}") for name in "cde")) == more
    gone = [Removal(ROOT, f"team/{name}") for name in "bcd"]
    assert sources_after(store, *gone)["team/a"] == ("team", "folder")
    moved = judged("else/e")._replace(moved_from=(ROOT, "team/e"))
    assert sources_after(store, moved) == {"team/a": ("Ada", "author"), "else/e": ("root", "root")}


def test_a_repository_comes_before_all_else_and_a_plugin_before_folders() -> None:
    """Neither its folders nor the authors of its skills name another source."""
    origin = GitOrigin("https://github.com/acme/skills.git")
    store = rooted(Store.in_memory(), RootSpec(ROOT), RootSpec("/mirror", origin=origin))
    assert sources_after(
        store,
        judged("team/a", root="/mirror", author="Ada"),
        judged("office/b", level="plugin", plugin="office"),
    ) == {"team/a": ("github.com/acme/skills", "repository"), "office/b": ("office", "namespace")}
    store.close()


def test_a_source_has_its_skills_and_findings_and_the_ways_to_it(store: Store) -> None:
    """A skill that only declares the name of a folder as its author is told apart."""
    sources_after(store, judged("team/a"), refused("team/b"), judged("c", author="team"))
    (listed,) = sources.listed(store.db)
    assert (listed["name"], listed["skills"], listed["dangerous"]) == ("team", 2, 0)
    found = sources.find(store.db, "team")
    assert found
    assert found["statuses"] == {"active": 2, "rejected": 1}
    assert [(place["kind"], place["skills"]) for place in found["places"]] == [
        ("folder", 2),
        ("author", 1),
    ]
    assert [(each["severity"], each["skills"]) for each in found["findings"]] == [("error", 1)]
    assert sources.find(store.db, "nobody") is None
