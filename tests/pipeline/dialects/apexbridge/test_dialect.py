import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.database import connection
from catalog.database.queries import Database
from catalog.model.declarations import AbpTool, ApexBridge
from catalog.model.values import Acceptance
from catalog.reading.search import word_search
from catalog.writing.store import Store
from pipeline.authoring.convert import ConversionOptions, migrate_paths
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.config import loader
from pipeline.config.settings import Settings
from pipeline.dialects.apexbridge.dialect import APEXBRIDGE
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.records import NOON, rooted
from tests.support.records import judged as accepted
from tests.support.sites import serving

SAMPLES = Path(__file__).parents[3] / "samples" / "apexbridge"


def judged(folder: Path, acceptance: Acceptance) -> list[Judgement]:
    """Return the judgements of the packages in a folder."""
    return list(judge_paths([folder], acceptance=acceptance, profiles=["apexbridge"]))


def codes(judgement: Judgement) -> Counter[str]:
    """Return how often each finding is made, without what every package has."""
    return Counter(f.code for f in judgement.findings if f.code != "field-not-in-specification")


@pytest.mark.requirement("own/package-good")
@pytest.mark.parametrize("name", ["weather-query", "unit-converter"])
@pytest.mark.parametrize("acceptance", ["strict", "lenient"])
def test_a_good_package_is_loadable_and_has_no_finding(name: str, acceptance: Acceptance) -> None:
    """Good packages of each protocol, with every field of the format, have no findings."""
    (only,) = judged(SAMPLES / "good" / name, acceptance)
    assert (only.name, only.loadable, codes(only)) == (name, True, Counter())


@pytest.mark.requirement("apexbridge/package-documented")
def test_the_documented_package_is_loadable_with_its_findings() -> None:
    """ApexBridge's own examples lack required fields: lenient loads them, strict does not."""
    (lenient,) = judged(SAMPLES / "lenient", "lenient")
    (strict,) = judged(SAMPLES / "lenient", "strict")
    assert (lenient.loadable, strict.loadable) == (True, False)
    assert (
        codes(lenient) == codes(strict) == {"required-field-missing": 6, "permissions-outdated": 1}
    )


@pytest.mark.requirement("own/package-all")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "wrong-fields",
            {
                "required-field-missing": 1,
                "field-malformed": 5,
                "version-not-semantic": 1,
                "value-unknown": 4,
                "triggers-empty": 1,
                "schema-invalid": 1,
                "security-incomplete": 1,
                "permissions-outdated": 1,
                "resource-outside-folder": 1,
                "resource-missing": 1,
                "section-missing": 5,
            },
        ),
        (
            "wrong-tools",
            {
                "field-malformed": 3,
                "schema-invalid": 1,
                "allowlist-missing": 1,
                "tool-twice": 1,
                "tool-incomplete": 1,
            },
        ),
        ("wrong-files", {"entry-missing": 1, "resource-missing": 1, "code-outside-scripts": 1}),
    ],
)
def test_a_bad_package_has_all_its_findings_at_once(name: str, expected: dict[str, int]) -> None:
    """No error hides another; lenient loads the package, strict does not."""
    (lenient,) = judged(SAMPLES / "bad" / name, "lenient")
    (strict,) = judged(SAMPLES / "bad" / name, "strict")
    assert codes(lenient) == expected
    assert (lenient.loadable, strict.loadable) == (True, False)


# The whole flow: from a watched folder to catalog, search, pages and index


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return the settings of a lenient root with all samples, the old ones migrated, too."""
    top = tmp_path_factory.mktemp("samples")
    shutil.copytree(SAMPLES, top / "watched")
    list(
        migrate_paths(
            [SAMPLES / "old"],
            ConversionOptions(APEXBRIDGE, output=top / "watched" / "migrated"),
        )
    )
    (top / "skilldrop.toml").write_text(
        'settle_quiet = 0\n[[roots]]\npath = "watched"\nprofiles = ["spec", "apexbridge"]\n',
        "utf-8",
    )
    return loader.load(top / "skilldrop.toml")


@pytest.fixture(scope="module")
def scanned(settings: Settings) -> Iterator[Database]:
    """Return the catalog after one pass over the samples."""
    store = open_store(settings)
    scan_once(settings, store, engine=serial)
    store.close()
    db = connection.open_catalog(settings.catalog_path)
    yield db
    db.conn.close()


def test_a_scan_takes_in_what_lenient_loads(scanned: Database) -> None:
    """Only the old layouts, which have no description in SKILL.md, are rejected as they are."""
    statuses = dict(scanned.execute("SELECT path, status FROM skills").fetchall())
    rejected = {path for path, status in statuses.items() if status == "rejected"}
    assert rejected == {path for path in statuses if path.startswith("old/")}
    assert rejected
    assert set(statuses.values()) == {"active", "rejected"}
    assert (statuses["migrated/dice"], statuses["migrated/greeting"]) == ("active", "active")
    assert {row[0] for row in scanned.execute("SELECT DISTINCT profile FROM findings")} >= {
        "spec",
        "apexbridge",
    }


@pytest.mark.requirement("apexbridge/schema-types", "apexbridge/stored")
def test_declared_fields_are_columns(scanned: Database) -> None:
    """Numbers are numbers; lists and schemas are JSON."""
    (weather,) = scanned.query(
        "SELECT a.* FROM apexbridge_skills AS a JOIN skills AS s ON s.id = a.skill"
        " WHERE s.name = 'weather-query'"
    )
    assert (weather["type"], weather["protocol"], weather["network"]) == (
        "service",
        "vcp",
        "allowlist",
    )
    assert (weather["timeout_ms"], weather["memory_mb"], weather["ttl"]) == (5000, 128, 300.0)
    assert (weather["cacheable"], weather["requires_filesystem"]) == (1, 1)
    assert json.loads(weather["environment"]) == {"TZ": "Asia/Shanghai"}
    city = json.loads(weather["input_schema"])["properties"]
    assert (city["days"]["maximum"], city["postcode"]["default"]) == (7, "01067")
    assert json.loads(weather["output_schema"])["properties"]["rain"]["default"] is False


@pytest.mark.requirement("apexbridge/stored-tools")
def test_declared_tools_are_rows(scanned: Database) -> None:
    """They keep their order; their parameters are JSON."""
    tools = [
        tuple(row)
        for row in scanned.execute(
            "SELECT t.position, t.name, t.kind FROM abp_tools AS t"
            " JOIN skills AS s ON s.id = t.skill WHERE s.name = 'unit-converter'"
            " ORDER BY t.position"
        )
    ]
    assert tools == [(0, "convert", None), (1, "list-units", "query")]
    (parameters,) = scanned.execute(
        "SELECT parameters FROM abp_tools WHERE name = 'convert'"
    ).fetchone()
    assert json.loads(parameters)["quantity"] == {"type": "number", "required": True}


@pytest.mark.requirement("apexbridge/searched-triggers", "own/searched-words")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("will it rain", "weather-query"),
        ("今天天气", "weather-query"),
        ("weather_query", "weather-query"),
        ("convert to celsius", "unit-converter"),
        ("气温", "weather-query"),  # a keyword
        ("compare-cities", "weather-query"),  # a capability
        ("utilities", "weather-query"),  # the domain
        ("实用工具", "weather-query"),  # the category
        ("list-units", "unit-converter"),  # a tool
    ],
)
def test_the_search_finds_a_skill_by_its_declared_words(
    scanned: Database, words: str, name: str
) -> None:
    """Phrases, intents, keywords, capabilities, domain, category and tools are found."""
    assert name in [hit.name for hit in word_search.search(scanned, words).hits]


@pytest.mark.requirement("apexbridge/ranked")
def test_the_index_lists_packages_by_their_priority(scanned: Database, settings: Settings) -> None:
    """The higher priority comes first; skills without one come last, by name."""
    text = (settings.index_folder / "default.txt").read_text("utf-8")
    names = ["weather-query", "unit-converter", "dice", "documented", "greeting", "wrong-fields"]
    assert sorted(names, key=lambda name: text.index(f"\n{name}: ")) == names


def ask(settings: Settings, query: str, **params: str) -> list[dict[str, Any]]:
    """Return the rows of a canned query, asked of the real site."""
    with serving() as serve:
        site = serve(settings.catalog_path)
        answer = site.get(f"/catalog/{query}.json", _shape="array", **params)
        page = site.get(f"/catalog/{query}", **params)
    assert (answer.status_code, page.status_code) == (200, 200)
    rows: list[dict[str, Any]] = answer.json()
    return rows


@pytest.mark.requirement("own/queries")
def test_canned_queries_answer_the_questions_of_an_operator(
    scanned: Database, settings: Settings
) -> None:
    """Queries find packages with network access, tools and triggers."""
    network = ask(settings, "may_reach_the_network")
    assert {(row["name"], row["network_allowlist"], row["declared_in"]) for row in network} == {
        ("weather-query", '["https://api.weather.example"]', "security"),
        ("documented", "[]", "permissions"),
        ("wrong-tools", "[]", "security"),
        ("wrong-fields", "[]", "security"),
    }
    assert [
        (row["tool"], row["kind"]) for row in ask(settings, "abp_tools_by_skill", name="unit")
    ] == [("convert", "query"), ("list-units", "query")]
    assert [(row["skill"], row["kind"]) for row in ask(settings, "triggered_by", words="RAIN")] == [
        ("weather-query", "phrase")
    ]


@pytest.mark.requirement("own/pages")
def test_every_package_has_its_pages(scanned: Database, settings: Settings) -> None:
    """The site shows the rows of a package, of its tools and of its fields."""
    pages = ["apexbridge_skills", "abp_tools"] + [
        f"{table}/{row[0]}"
        for table, key in (("skills", "id"), ("apexbridge_skills", "skill"))
        for row in scanned.execute(f"SELECT {key} FROM {table}")
    ]
    with serving() as serve:
        site = serve(settings.catalog_path)
        answers = {page: site.get(f"/catalog/{page}").status_code for page in pages}
    assert set(answers.values()) == {200}, answers
    assert len(pages) >= 20


def test_a_second_scan_finds_nothing_new(scanned: Database, settings: Settings) -> None:
    """Unchanged rows of a package are not written again."""
    before = scanned.execute("SELECT count(*) FROM ingestions").fetchone()
    store = open_store(settings)
    result = scan_once(settings, store, engine=serial, deep=True)
    store.close()
    assert result.report.outcomes["unchanged"] == result.report.folders > 5
    assert scanned.execute("SELECT count(*) FROM ingestions").fetchone() == before


def test_a_package_of_an_older_catalog_is_filled_in(scanned: Database, settings: Settings) -> None:
    """If the tables are new, the next scan of an unchanged folder fills them, as for all tests."""
    assert scanned.execute("SELECT count(*) FROM abp_tools").fetchone()[0] >= 2
    store = open_store(settings)
    store.db.execute("DELETE FROM apexbridge_skills")
    store.db.execute("UPDATE skills SET search_words = '[]'")
    assert store.db.execute("SELECT count(*) FROM abp_tools").fetchone() == (0,)
    scan_once(settings, store, engine=serial, deep=True)
    assert store.db.execute("SELECT count(*) FROM abp_tools").fetchone()[0] >= 2
    found = word_search.search(store.db, "will it rain").hits
    assert [hit.name for hit in found] == ["weather-query"]
    assert store.db.execute("SELECT count(*) FROM versions").fetchone()[0] == 8
    store.close()


def test_a_package_that_becomes_an_ordinary_skill_leaves_the_tables() -> None:
    """Rows of removed fields and tools are deleted; changed ones are replaced."""
    store = rooted(Store.in_memory())
    first = ApexBridge(type="direct", tools=(AbpTool("a"), AbpTool("b", parameters={"x": 1})))
    second = ApexBridge(network="none", cacheable=False, tools=(AbpTool("c", kind="query"),))
    for declared, expected in ((first, ["a", "b"]), (second, ["c"]), (None, [])):
        dialects = {"apexbridge": declared} if declared else {}
        change = accepted("weather", dialects=dialects, body=str(declared))
        store.apply([change], trigger="event", at=NOON)
        assert [row[0] for row in store.db.execute("SELECT name FROM abp_tools")] == expected
        assert store.db.execute("SELECT count(*) FROM apexbridge_skills").fetchone() == (
            int(declared is not None),
        )
    store.db.conn.close()
