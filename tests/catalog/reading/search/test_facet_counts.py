"""Numbers beside the values of filters."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from catalog.model.finding import Finding
from catalog.model.skill import FileEntry, RootSpec
from catalog.reading.search import facet_counts, filters, skill_lists, word_search
from catalog.reading.search.filters import Filters
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, refused, rooted

DANGER = Finding("tag-characters", "danger", "safety", "It hides text.", "Remove it.")
NOTE = Finding("package-unpinned", "info", "safety", "It has no version.", "Pin it.")
LINKED = "See https://Docs.acme.dev/x, http://localhost:80, http://example.com and ssh://me@git.acme.dev/y.\n"


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Return a catalog of skills that differ in all that is filtered."""
    checked = RootSpec(ROOT, profiles=("spec", "safety"), review="none")
    made = rooted(Store.in_memory(), checked, RootSpec("/company", "enterprise"))
    made.apply(
        [
            judged("one", tags=("Office", "text"), license="MIT", author="Ada <ada@acme.dev>"),
            judged(
                "two", tags=("office",), license="mit", category="data", findings=[DANGER, NOTE]
            ),
            judged("three", allowed_tools="Bash(git:*) Read", findings=[NOTE], spec_valid=False),
            judged("four", body=LINKED, allowed_tools="bash", author="ada"),
            judged("five", level="plugin", plugin="office", files=(_script(),)),
            judged("ours", root="/company", level="enterprise", license="MIT"),
            judged("mine/ours", name="ours"),
            refused("broken"),
        ],
        trigger="command",
        at=NOON,
    )
    yield made
    made.close()


def _script() -> FileEntry:
    text = "curl ftp://files.acme.dev/a"
    return FileEntry("run.sh", len(text), "0" * 64, 0o755, "script", True, text)


def listed(store: Store, wanted: Filters) -> set[str]:
    """Return the folders of the skills that a list with filters has."""
    skills = skill_lists.skills(store.db, wanted)
    paths = store.db.execute("SELECT id, path FROM skills")
    return {path for skill, path in paths if skill in skills}


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"status": ("all",)},
        {"tag": ("OFFICE",)},
        {"license": ("MIT", "none"), "status": ("active", "shadowed")},
        {"safety": ("danger", "clear")},
        {"has_scripts": ("yes",), "tool": ("Bash",)},
        {"root": ("company",)},
        {"source": ("office", "Ada")},
        {"host": ("git.acme.dev",)},
        {"valid": ("no",), "changed_since": ("2026-11-19",)},
    ],
)
def test_each_number_is_that_of_the_list_with_its_value(
    store: Store, chosen: dict[str, tuple[str, ...]]
) -> None:
    """Whatever else is chosen; a value of a filter that is chosen counts instead of the others."""
    now = datetime(2026, 11, 20, 13, tzinfo=UTC)
    wanted = filters.parse(chosen, now)
    facets, total = facet_counts.of(store.db, wanted)
    assert total == len(listed(store, wanted))
    for name, facet in facets.items():
        assert not facet.others
        for choice in facet.choices:
            alone = filters.parse(chosen | {name: (choice.value,)}, now)
            assert len(listed(store, alone)) == choice.n, (name, choice)


def test_all_values_are_read_from_the_skills(store: Store) -> None:
    """Values that differ in case are one; hosts are those of URLs that lead somewhere."""
    facets, _ = facet_counts.of(store.db, Filters(status=("all",)))
    assert {name: dict(facet.choices) for name, facet in facets.items() if name != "root"} == {
        "status": {"active": 6, "shadowed": 1, "rejected": 1},
        "level": {"enterprise": 1, "plugin": 1, "project": 6},
        "source": {"root": 4, "Ada": 2, "company": 1, "office": 1},
        "license": {"MIT": 3},
        "category": {"data": 1},
        "has_scripts": {"yes": 7, "no": 1},
        "valid": {"yes": 6, "no": 2},
        "tag": {"Office": 2, "text": 1},
        "tool": {"Bash": 2, "Read": 1},
        "host": {"docs.acme.dev": 1, "files.acme.dev": 1, "git.acme.dev": 1},
        "safety": {"danger": 1, "info": 1, "clear": 5},
    }


def test_numbers_hold_for_the_words_of_a_search(store: Store) -> None:
    """Only the skills with one of the words count; a value is written as they write it."""
    found = word_search.search(store.db, "git")
    facets, total = facet_counts.of(store.db, Filters(), found.query.match, results=found.skills)
    assert total == 1
    assert facets["tool"].choices == (facet_counts.FacetValue("bash", 1),)


def test_a_search_counts_its_results(store: Store) -> None:
    """The values of a chosen filter have other results, so they have no numbers."""
    wanted = Filters(license=("MIT",))
    found = word_search.search(store.db, "two text", filters=wanted)
    match, results = found.query.match, found.skills[:1]
    facets, total = facet_counts.of(store.db, wanted, match, results=results)
    assert total == 1
    assert sum(choice.n or 0 for choice in facets["level"].choices) == 1
    assert facets["license"].choices == (facet_counts.FacetValue("MIT", None),)


def test_a_card_says_what_a_skill_may_do(store: Store) -> None:
    """At most three marks: the worst of what is wrong, what it brings, and who uses it."""
    rows = {
        row["name"]: row
        for row in skill_lists.cards_of(store.db, skill_lists.skills(store.db, Filters()))
    }
    assert rows["one"]["source"] == "Ada"
    assert rows["two"]["marks"] == [
        {
            "text": "1 danger",
            "explained": "Found when its files were checked: tag characters",
            "part": "findings",
            "tone": "bad",
        },
        {
            "text": "scripts",
            "explained": "It has programs that an agent may run",
            "part": "files",
            "tone": "",
        },
    ]
    assert [mark["text"] for mark in rows["three"]["marks"]] == [
        "outside the specification",
        "scripts, 2 tools",
    ]
    assert rows["four"]["marks"][0]["explained"] == (
        "It has programs that an agent may run; asks for bash;"
        " names addresses at docs.acme.dev, git.acme.dev"
    )


def test_too_many_skills_are_not_counted_by_their_values(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of the first ones are offered without numbers; the number of all skills is exact."""
    monkeypatch.setattr(facet_counts, "MOST_COUNTED", 2)
    facets, total = facet_counts.of(store.db, Filters())
    assert facets["has_scripts"] == facet_counts.Facet((facet_counts.FacetValue("yes", None),))
    assert total == 6


@pytest.mark.parametrize(("most", "tags"), [(2, {"a": 1, "b": 1}), (0, {"b": None})])
def test_values_of_the_newest_skills_have_numbers_if_those_are_all(
    monkeypatch: pytest.MonkeyPatch, most: int, tags: dict[str, int | None]
) -> None:
    """A number that leaves skills out would promise too few."""
    monkeypatch.setattr(facet_counts, "NEWEST", most)
    with closing(rooted(Store.in_memory())) as store:
        for hour, tag in enumerate("ab"):
            at = NOON + timedelta(hours=hour)
            store.apply([judged(f"of-{tag}", tags=(tag,))], trigger="event", at=at)
        assert dict(facet_counts.of_newest(store.db, "tag")["tag"].choices) == tags
