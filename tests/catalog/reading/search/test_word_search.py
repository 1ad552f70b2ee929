"""Searches in a catalog."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.database import connection
from catalog.model.change import Removal
from catalog.model.errors import CatalogUnusable, NotInCatalog
from catalog.reading import status as reading_status
from catalog.reading.search import name_search, word_search
from catalog.reading.search.filters import Filters
from catalog.reading.search.stemmer import stem, word_of
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, rooted


@pytest.fixture(scope="module")
def catalog() -> Iterator[Store]:
    """Return a catalog of a few skills with a word in different fields."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged("invoice", "Takes a bill, gives its sum."),
            judged("billing", "Reads an invoice as PDF and gives its fields."),
            judged("archive", "Stores documents.", body="# Steps\n\nOne per invoice.\n"),
            judged(
                "会议纪要",
                "把会议录音的文字稿整理成纪要。用于会议之后。",
                body="# 步骤\n\n写下结论。\n",
            ),
            judged("gone", "Reads an invoice, too."),
            judged("tagged", "Nothing to see.", tags=("spreadsheet", "表格")),
        ],
        trigger="command",
        at=NOON,
    )
    store.apply([Removal(ROOT, "gone")], trigger="command", at=NOON)
    yield store
    store.close()


def names(store: Store, words: str) -> list[str]:
    """Return the names that a search finds, best first."""
    return [hit.name for hit in word_search.search(store.db, words).hits]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("invoice", ["invoice", "billing", "archive"]),  # name before description before body
        ("Invoice", ["invoice", "billing", "archive"]),  # in any case
        ("invoices", ["invoice", "billing", "archive"]),  # by its stem
        ("pdf of an invoice", ["billing", "invoice", "archive"]),  # more and rarer words first
        ("Please can you get me the sum of this bill?", ["invoice", "billing"]),  # a sentence
        ("invo", ["invoice", "billing", "archive"]),  # the beginning of a word
        ("invoise", ["invoice", "billing", "archive"]),  # a misspelling
        ("纪要", ["会议纪要"]),  # two characters, inside a longer run
        ("会议录音的文字稿", ["会议纪要"]),
        ("请帮我整理录音", ["会议纪要"]),  # a sentence
        ("要", ["会议纪要"]),  # the end of a word
        ("会", ["会议纪要"]),  # one character, the beginning of a pair
        ("bi", []),  # too short for the beginning of a word
        ("PDF纪要", ["会议纪要", "billing"]),
        ("结论", ["会议纪要"]),  # only in its text
        ("spreadsheet", ["tagged"]),
        ("表格", ["tagged"]),
        ("run.py", ["invoice", "billing", "archive", "会议纪要", "tagged"]),  # by file name
        ("nowhere", []),
        ("", []),
        ("--- ***", []),
    ],
)
def test_search_finds(catalog: Store, query: str, found: list[str]) -> None:
    """Any word may match, by its stem or pairs of CJK characters; removed skills never do."""
    assert set(names(catalog, query)) == set(found)
    assert query in ("run.py", "PDF纪要") or names(catalog, query)[:1] == found[:1]


def test_a_skill_whose_name_is_the_query_comes_first(catalog: Store) -> None:
    """Whatever its text; case and punctuation do not matter."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged("sum-up", "Adds numbers."),
            judged("other", "Sum up, sum up, sum up.", body="# Sum up\n\nSum up.\n" * 9),
        ],
        trigger="command",
        at=NOON,
    )
    assert names(store, "Sum up") == names(store, "sum-up") == ["sum-up", "other"]
    together = word_search.search(store.db, "sumup")  # no word of any skill, but found
    assert ([hit.name for hit in together.hits], together.note) == (["sum-up"], "")
    store.close()


@pytest.mark.parametrize(
    "query",
    ["pdf-processing", "PDF Processing", "pdfprocessing", "pdf-procesing", "dpf processing"],
)
def test_a_name_with_a_slip_comes_first(query: str) -> None:
    """Case, spaces, hyphens and one typing slip do not matter."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged("pdf-processing", "Nothing else to say."),
            judged("other", "PDF processing.", body="# PDF\n\nPDF processing, processing PDF.\n"),
        ],
        trigger="command",
        at=NOON,
    )
    assert names(store, query)[:1] == ["pdf-processing"]
    store.close()


@pytest.mark.parametrize(
    ("query", "first"),
    [
        pytest.param("port", "other", id="a short name"),
        pytest.param("data raeber", "other", id="two slips"),
        pytest.param("data reader", "data-reader", id="the name itself"),
        pytest.param("data readers", "data-reader", id="one slip"),
        pytest.param("CSV", "csv", id="a short name in another case"),
    ],
)
def test_only_a_longer_name_with_one_slip_comes_first(query: str, first: str) -> None:
    """Else the words decide."""
    music = "Plays music.\n" * 20
    store = stored(
        porta=(music, music),
        csv=(music, music),
        other=("Data reader, port, CSV.", "Data reader, port, CSV.\n"),
        **{"data-reader": (music, music)},
    )
    assert names(store, query)[0] == first
    store.close()


def test_the_same_letters_come_before_a_slip() -> None:
    """Whatever the other words of the skills are."""
    store = stored(
        datareaders=("A datareader.", "A datareader.\n"), **{"data-reader": ("Sings.", "Sings.\n")}
    )
    assert names(store, "datareader") == ["data-reader", "datareaders"]
    store.close()


def test_a_slip_is_forgiven_only_if_no_skill_has_the_name() -> None:
    """Else the words decide on all but the named skill."""
    store = stored(
        other=("Data reader.", "Data reader.\n"),
        **{"data-reader": ("Sings.", "Sings.\n" * 20), "data-readers": ("Sings.", "Sings.\n" * 20)},
    )
    assert names(store, "data-reader")[:2] == ["data-reader", "other"]
    store.close()


def test_a_correction_is_a_word_that_finds_skills() -> None:
    """Though the index stores its stem, whose own stem is another one."""
    store = rooted(Store.in_memory())
    store.apply([judged("a", "To analyse a text.")], trigger="command", at=NOON)
    results = word_search.search(store.db, "anlyse")
    assert [hit.name for hit in results.hits] == ["a"]
    assert results.note == "No published skill contains 'anlyse'; searched for 'analyse'."
    store.close()


def test_of_two_similar_words_the_more_frequent_one_is_searched() -> None:
    """It is the likelier one."""
    store = rooted(Store.in_memory())
    texts = {"a": "Reads CDW.", "b": "Reads CSV.", "c": "Writes CSV."}
    records = [judged(name, text) for name, text in texts.items()]
    store.apply(records, trigger="command", at=NOON)
    assert word_search.search(store.db, "csw").query.corrections == (("csw", "csv"),)
    store.close()


def test_the_last_word_is_a_beginning_only_while_somebody_types(catalog: Store) -> None:
    """A finished word stands for itself; so does a word before a space."""
    store = rooted(Store.in_memory())
    store.apply([judged("a", "A port."), judged("b", "A portal.")], trigger="command", at=NOON)

    def found(query: str, *, is_typing: bool) -> set[str]:
        return {hit.name for hit in word_search.search(store.db, query, is_typing=is_typing).hits}

    assert found("port", is_typing=True) == {"a", "b"}
    assert found("port", is_typing=False) == {"a"}
    assert found("port ", is_typing=True) == {"a"}
    assert found("po", is_typing=True) == set()
    assert found("port xyzzy", is_typing=True) == {"a"}
    store.close()


def test_a_hit_names_the_other_skills_of_its_name(catalog: Store) -> None:
    """Their number, and where the first ones lie; shadowed skills name the active one, too.

    Removed ones do not count.
    """
    store = rooted(Store.in_memory())
    rivals = [judged(f"{n}/same", f"Sheep {n}.", name="same") for n in range(7)]
    store.apply([*rivals, judged("alone", "Sheep.")], trigger="command", at=NOON)
    store.apply([Removal(ROOT, "6/same")], trigger="command", at=NOON)
    hits = {hit.name: hit for hit in word_search.search(store.db, "sheep").hits}
    assert hits["same"].others.count == 5
    assert hits["same"].others.first == (f"{ROOT}/1/same", f"{ROOT}/2/same", f"{ROOT}/3/same")
    assert hits["alone"].others.count == 0
    shadowed = word_search.search(store.db, "sheep 4", filters=Filters(status=("shadowed",))).hits
    assert shadowed[0].location == f"{ROOT}/4/same/SKILL.md"
    assert f"{ROOT}/0/same" in shadowed[0].others.first
    store.close()


def test_a_query_without_words_is_reported(catalog: Store) -> None:
    """So an agent that sends none knows why nothing is found."""
    assert word_search.search(catalog.db, "😀 ?!").note == "The query has no words."
    assert word_search.search(catalog.db, "").note == "The query has no words."


def test_words_that_no_skill_has_lead_to_the_nearest_names(catalog: Store) -> None:
    """To none if no name is near."""
    results = word_search.search(catalog.db, "qqqinvoice")
    assert (results.hits, results.nearest) == ((), ("invoice",))
    assert results.note == "No published skill contains 'qqqinvoice'. Did you mean 'invoice'?"
    tagged = Filters(tag=("spreadsheet",))
    assert word_search.search(catalog.db, "qqqtagged", filters=tagged).nearest == ("tagged",)
    assert word_search.search(catalog.db, "zxqv blorptang").nearest == ()


def test_a_long_sentence_is_no_name(catalog: Store) -> None:
    """Its words that no skill has are named, and it is compared with no name."""
    results = word_search.search(catalog.db, "zqa zqb zqc zqd zqe zqf zqg zqh zqi")
    assert (results.hits, results.nearest) == ((), ())
    assert results.note == "No published skill contains 'zqa', 'zqb', 'zqc', 'zqd', 'zqe'."
    few = "invoice a b c d e f g"
    assert name_search.nearest(catalog.db, few, Filters()) == ("invoice",)
    assert name_search.nearest(catalog.db, f"{few} h", Filters()) == ()


@pytest.mark.parametrize(
    "query",
    [
        "?!" * 20_000,
        "😀" * 20_000,
        "\0" * 20_000,
        "invoice\0pdf",
        "\ud800 invoice \udfff",
        "a" * 100_000,
        "纪要" * 20_000,
        " ".join(f"word{number}" for number in range(10_000)),
        "² ª ½ e\u0301",
    ],
)
def test_no_text_is_an_error(catalog: Store, query: str) -> None:
    """With filters or without, and while somebody types."""
    for filters in (Filters(), Filters(license=("MIT",)), Filters(status=("rejected",))):
        word_search.search(catalog.db, query, filters=filters, is_typing=True)


def test_a_query_of_stop_words_finds_skills_with_these_words(catalog: Store) -> None:
    """They count only if there is nothing else."""
    assert names(catalog, "nothing to") == ["tagged"]
    assert names(catalog, "nothing to invoice") == ["invoice", "billing", "archive"]


def test_unknown_words_are_reported_with_the_words_used_instead(catalog: Store) -> None:
    """The other words still find skills."""
    results = word_search.search(catalog.db, "spreadsheat for xyzzy")
    assert [hit.name for hit in results.hits] == ["tagged"]
    assert results.note == (
        "No published skill contains 'spreadsheat'; searched for 'spreadsheet'. "
        "No published skill contains 'xyzzy'."
    )


def test_a_hit_has_its_words_version_and_score(catalog: Store) -> None:
    """So an agent can choose."""
    hits = word_search.search(catalog.db, "Which fields has the PDF invoice?").hits
    assert hits[0].matched == ("fields", "pdf", "invoice")
    assert hits[0].score > hits[1].score >= 0
    version = catalog.db.execute("SELECT version FROM versions WHERE skill_id = 'billing'")
    assert (hits[0].version,) == version.fetchone()


def test_further_results_follow_the_first_ones(catalog: Store) -> None:
    """In one order."""
    every = names(catalog, "invoice")
    pages = [
        word_search.search(catalog.db, "invoice", 1, offset=number).hits for number in range(4)
    ]
    assert [hit.name for page in pages for hit in page] == every
    assert word_search.search(catalog.db, "invoice", 2).next_offset == 2
    assert word_search.search(catalog.db, "invoice", 2, offset=2).next_offset is None


def test_a_snippet_marks_the_words_that_matched(catalog: Store) -> None:
    """The snippet is from the description, or else from the body."""
    snippets = {hit.name: hit.snippet for hit in word_search.search(catalog.db, "invoice").hits}
    assert "an [invoice] as PDF" in snippets["billing"]
    assert "per [invoice]" in snippets["archive"]


@given(
    words=st.text(max_size=40)
    | st.sampled_from(
        ['"', "AND", "NOT a", "a OR", "name:", "a* b^", "NEAR(a b)", "()", "grams : x", "\x00", "_"]
    )
)
def test_no_input_is_a_syntax_error(catalog: Store, words: str) -> None:
    """Operators, quotes and brackets are words or ignored."""
    word_search.search(catalog.db, words)


def test_a_long_query_costs_no_more_than_its_rarest_words(catalog: Store) -> None:
    """A paragraph of any length is neither an error nor slow."""
    paragraph = "invoice " + " ".join(f"steps{number} run.py" for number in range(5000))
    statements: list[str] = []
    catalog.db.conn.set_trace_callback(statements.append)
    assert "invoice" in names(catalog, paragraph)
    catalog.db.conn.set_trace_callback(None)
    assert max(map(len, statements)) < 5000
    assert sum(not statement.startswith("--") for statement in statements) < 500


def test_of_a_long_query_the_rarest_words_count() -> None:
    """Wherever they stand."""
    common = " ".join(f"common{number}" for number in range(20))
    store = stored(a=(common, "Sings.\n"), b=(common, "Sings.\n"), c=("A needle.", "Sings.\n"))
    results = word_search.search(store.db, f"{common} needle")
    assert "c" in [hit.name for hit in results.hits]
    assert results.query.left_out == 5
    store.close()


def test_the_error_for_a_missing_catalog_names_the_commands_that_make_one(tmp_path: Path) -> None:
    """A search before the first scan gives no traceback."""
    with pytest.raises(NotInCatalog, match="skilldrop scan"):
        connection.open_catalog(tmp_path / "catalog.db")


def test_a_file_that_is_no_catalog_is_reported(tmp_path: Path) -> None:
    """A foreign file gives one sentence."""
    (tmp_path / "catalog.db").write_text("something else entirely")
    with pytest.raises(CatalogUnusable, match="cannot be read"):
        connection.open_catalog(tmp_path / "catalog.db")


def test_a_reader_sees_what_the_writer_has_committed(tmp_path: Path) -> None:
    """Reading beside the writer needs no lock and writes nothing."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    db = connection.open_catalog(tmp_path / "catalog.db")
    store.apply([judged("a")], trigger="command", at=NOON)
    assert reading_status.load(db)["counts"]["active"] == 1
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("DELETE FROM skills")
    db.conn.close()
    store.close()


def stored(**skills: tuple[str, str]) -> Store:
    """Return a catalog of skills with these descriptions and bodies."""
    store = rooted(Store.in_memory())
    records = [judged(name, text, body=body) for name, (text, body) in skills.items()]
    store.apply(records, trigger="command", at=NOON)
    return store


def test_words_that_stand_together_count_more_than_the_same_words_apart() -> None:
    """Of two skills with the same words, the one with two neighbours of the query is first."""
    store = stored(
        apart=("Checks a request to pull.", "Plays music.\n"),
        together=("Checks to a pull request.", "Plays music.\n"),
        other=("Sings.", "Plays music.\n"),
        more=("Dances.", "Plays music.\n"),
        last=("Cooks.", "Plays music.\n"),
    )
    assert names(store, "request, and pull") == ["apart", "together"]
    assert names(store, "review my pull request") == ["together", "apart"]
    store.close()


def test_a_word_that_most_skills_have_finds_them_only_if_it_stands_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside a rarer word it would match most of a large catalog, and weigh nothing."""
    monkeypatch.setattr(word_search, "COMMON_FROM", 1)
    store = stored(a=("Sings a song.", "\n"), b=("Sings.", "\n"), c=("Dances.", "\n"))
    assert names(store, "sings song") == ["a"]
    assert set(names(store, "sings")) == {"a", "b"}
    store.close()


def test_skills_without_a_rare_word_are_not_ranked_unless_there_are_filters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Enough others match better, but filters may leave only skills with frequent words."""
    monkeypatch.setattr(word_search, "RARE_FROM", 1)
    store = stored(a=("Sings a song.", "\n"), b=("Sings.", "\n"), c=("Sings and dances.", "\n"))
    assert names(store, "sings song") == ["a"]
    found = word_search.search(store.db, "sings song", filters=Filters(has_scripts=("yes",)))
    assert {hit.name for hit in found.hits} == {"a", "b", "c"}
    store.close()


def test_one_character_of_a_chinese_query_suffices() -> None:
    """A query whose pairs no skill has finds the skills with its characters."""
    store = stored(买卖=("比较价格。", "写下结论。\n"), 其他=("画图。", "写下。\n"))
    assert names(store, "想购买茶叶") == ["买卖"]
    assert names(store, "想") == []
    store.close()


def test_letters_beside_chinese_are_a_word() -> None:
    """A word is found where it touches Chinese characters, in full-width letters, too."""
    store = stored(表格=("导出CSV文件。", "写下结论。\n"), 其他=("画图。", "写下。\n"))
    assert names(store, "csv") == ["表格"]
    assert names(store, "ＣＳＶ") == ["表格"]
    store.close()


def test_full_width_letters_are_found_as_plain_ones() -> None:
    """In a query and in a text, also where they are a word of their own."""
    store = stored(
        wide=("Reads ＰＤＦ files.", "Use ＸＬＳＸ １２３.\n"), other=("Draws.", "Do.\n")
    )
    for query in ("pdf", "ＰＤＦ", "xlsx", "ｘｌｓｘ", "１２３"):
        assert names(store, query) == ["wide"], query
    assert names(store, "ｗｉｄｅ") == ["wide"]
    store.close()


@pytest.mark.parametrize(
    ("word", "its_stem"),
    [("converting", "convert"), ("analyse", "analys"), ("纪要", "纪要"), ("²", "²"), ("", "")],
)
def test_a_word_of_a_stem_has_that_stem(word: str, its_stem: str) -> None:
    """The stem of a stem may be another one, so a search needs a word."""
    assert stem(word) == its_stem
    assert stem(word_of(its_stem)) == its_stem
