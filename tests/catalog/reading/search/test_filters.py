"""Filters of lists and searches."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from catalog.model.errors import FilterInvalid
from catalog.model.skill import GitOrigin, RootSpec
from catalog.reading.search import facet_counts, skill_lists, word_search
from catalog.reading.search.filters import Filters, parse
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, refused, rooted

LATER = NOON + timedelta(days=3)
COMPANY = "/srv/company"
URL = "https://git.example.org/all/shop.git"


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Return a catalog whose skills all count words, and each has a property of its own."""
    company = RootSpec(COMPANY, "enterprise", origin=GitOrigin(URL, None, ""))
    store = rooted(Store.in_memory(), RootSpec(ROOT), company)
    store.apply(
        [
            judged("plain", inventory=judged("x").verdict.inventory._replace(has_scripts=False)),
            judged("tagged", tags=("Office", "text")),
            judged("authored", author="Ada Lovelace", tags=("writing",)),
            judged("licensed", license="MIT", tags=("writing",)),
            judged("tooled", allowed_tools="Read Bash(git add:*) Write"),
            judged("wrong", spec_valid=False),
            judged("ours", root=COMPANY, level="enterprise"),
            judged("plugged", level="plugin", plugin="office"),
            judged("mine/rival", "Counts words of sheep.", name="rival", author="Bob"),
            judged("rival", "Counts words.", root=COMPANY, level="enterprise"),
            refused("refused"),
        ],
        trigger="command",
        at=NOON,
    )
    store.apply([judged("recent")], trigger="event", at=LATER)
    yield store
    store.close()


def found(store: Store, words: str, **texts: str) -> set[str]:
    """Return the names that a search with filters finds."""
    filters = parse(texts, LATER + timedelta(hours=1))
    return {hit.name for hit in word_search.search(store.db, words, filters=filters).hits}


@pytest.mark.parametrize(
    ("name", "value", "names"),
    [
        ("level", "enterprise", {"ours", "rival"}),
        ("root", COMPANY, {"ours", "rival"}),
        ("root", "company", {"ours", "rival"}),
        ("root", URL, {"ours", "rival"}),
        ("root", "shop", {"ours", "rival"}),
        ("root", "shop.git", {"ours", "rival"}),
        ("namespace", "Office", {"office:plugged"}),
        ("plugin", "Office", {"office:plugged"}),
        ("tag", "office", {"tagged"}),
        ("author", "ada lovelace", {"authored"}),
        ("license", "mit", {"licensed"}),
        ("tool", "bash", {"tooled"}),
        ("tool", "Write", {"tooled"}),
        ("has_scripts", "no", {"plain"}),
        ("valid", "no", {"wrong"}),
        ("changed_since", "2d", {"recent"}),
        ("changed_since", "2026-11-22", {"recent"}),
        ("status", "shadowed", {"rival"}),
        ("status", "rejected", {"refused"}),
    ],
)
def test_a_filter_goes_with_words_and_without(
    store: Store, name: str, value: str, names: set[str]
) -> None:
    """With words it searches, without words it lists, and the page of the list agrees."""
    filters = {name: value}
    words = "refused" if value == "rejected" else "count words"
    assert found(store, words, **filters) == names
    assert found(store, "", **filters) == names
    wanted = parse(filters, LATER)
    rows = skill_lists.cards_of(store.db, skill_lists.skills(store.db, wanted))
    _, total = facet_counts.of(store.db, wanted)
    assert ({row["name"] for row in rows}, total) == (names, len(names))


def test_filters_add_up(store: Store) -> None:
    """A skill must have all of the properties."""
    assert found(store, "words", status="all", root="root", changed_since="2026-11-20") >= {
        "plain",
        "rival",
        "recent",
    }
    assert found(store, "words", level="enterprise", tag="office") == set()


def test_a_rejected_skill_is_neither_valid_nor_has_it_scripts(store: Store) -> None:
    """Both are unknown of it."""
    for name in ("valid", "has_scripts"):
        assert found(store, "", status="rejected", **{name: "no"}) == {"refused"}
        assert found(store, "", status="rejected", **{name: "yes"}) == set()


def test_a_rare_value_is_found_among_more_matches_than_are_ranked() -> None:
    """Filters hold before the ranking is cut off."""
    store = rooted(Store.in_memory())
    many = [judged(f"s{n}", "Counts words, words and words.") for n in range(450)]
    rare = judged("rare", "A long text about sheep that has few words.", license="Rare")
    store.apply([*many, rare], trigger="command", at=NOON)
    assert found(store, "words", license="Rare") == {"rare"}
    store.close()


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"license": "GPL"}, "No skill has the license 'GPL'; known: MIT."),
        ({"tool": "Bsh"}, "No skill has the tool 'Bsh'; known: Bash, Read, Write."),
        ({"tool": "Rea"}, "No skill has the tool 'Rea'; known: Read, Bash, Write."),
        ({"tag": "txt"}, "No skill has the tag 'txt'; known: text, writing, Office."),
        ({"root": "nowhere"}, f"No skill has the root 'nowhere'; known: {ROOT}, {URL}."),
        (
            {"author": "Bob"},
            (
                "No skill matches these filters; without them 10 active skills match."
                " 1 shadowed skill matches; the filter status=shadowed finds it."
            ),
        ),
        (
            {"tag": "office", "author": "Ada Lovelace"},
            "No skill matches these filters; without them 10 active skills match.",
        ),
    ],
)
def test_an_empty_result_says_which_filter_is_to_blame(
    store: Store, texts: dict[str, str], sentence: str
) -> None:
    """It names the known values, or counts the matches without filters."""
    filters = parse(texts, NOON)
    for words in ("words", ""):
        results = word_search.search(store.db, words, filters=filters)
        assert (results.hits, results.why_empty) == ((), sentence)


@pytest.mark.parametrize("words", ["refused", "is there a description"])
def test_a_rejected_skill_is_found_without_a_word_in_the_index(store: Store, words: str) -> None:
    """By its name or reason, which is shown; no word is reported as missing."""
    results = word_search.search(store.db, words, filters=Filters(status=("rejected",)))
    (hit,) = results.hits
    assert (hit.snippet, results.note) == ("There is no description.", "")


def test_words_that_no_skill_has_are_the_reason_beside_filters(store: Store) -> None:
    """The filters are not blamed."""
    results = word_search.search(store.db, "xyzzy", filters=parse({"license": "MIT"}, NOON))
    assert (results.query.unknown, results.why_empty) == (("xyzzy",), "")


def test_words_of_a_shadowed_skill_alone_are_reported(store: Store) -> None:
    """The note names the filter that finds it."""
    for filters in (Filters(), Filters(model_invocable=True)):
        assert word_search.search(store.db, "sheep", filters=filters).note.startswith(
            "1 shadowed skill matches; the filter status=shadowed finds it."
        )
    assert found(store, "sheep", status="shadowed") == {"rival"}


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"status": "actve"}, "known: active, shadowed, rejected, pending, removed, all."),
        ({"level": "team"}, "known: enterprise, personal, project, plugin."),
        ({"valid": "maybe"}, "The filter valid cannot be 'maybe'; it is yes or no."),
        ({"changed_since": "tomorrow"}, "an age such as 12h, 7d or 2w."),
        ({"changed_since": "999999w"}, "an age such as 12h, 7d or 2w."),
    ],
)
def test_a_value_that_cannot_be_is_an_error_with_the_known_ones(
    texts: dict[str, str], sentence: str
) -> None:
    """It is one sentence."""
    with pytest.raises(FilterInvalid, match=f"{sentence}$"):
        parse(texts, datetime.now(UTC))
