"""Skills of a catalog in an index, and their order."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.model.change import Judged, Removal
from catalog.model.errors import NotInCatalog
from catalog.model.skill import RootSpec
from catalog.model.values import LEVELS, Level
from catalog.prompt_index import builder
from catalog.prompt_index import query as prompt_index_query
from catalog.prompt_index.query import count_indexable
from catalog.prompt_index.spec import IndexSpec
from catalog.writing.store import Store
from pipeline.config import loader
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.records import NOON, ROOT, judged, rooted

ROOTS = [RootSpec(ROOT), *(RootSpec(f"/{level}", level) for level in LEVELS)]


def filled(*changes: Judged) -> Store:
    """Return a catalog of skills from roots of all levels."""
    store = rooted(Store.in_memory(), *ROOTS)
    store.apply(changes, trigger="command", at=NOON)
    return store


@pytest.fixture(scope="module")
def catalog() -> Iterator[Store]:
    """Return a catalog of a few skills."""
    store = filled(
        judged("invoice"),
        judged("billing"),
        judged("会议纪要"),
        judged("tagged", tags=("spreadsheet", "表格")),
        judged("hidden", "Only people start it.", model_invocable=False),
    )
    yield store
    store.close()


def names(store: Store, spec: IndexSpec) -> list[str]:
    """Return the names in index order."""
    return [candidate.name for candidate in prompt_index_query.ranked(store.db, spec)]


@pytest.mark.requirement("textbook/budget-order")
def test_an_index_ranks_by_feature_level_priority_and_name() -> None:
    """Featured skills in their order, then levels, declared priority, names by code point."""
    store = filled(
        judged("zebra", root="/enterprise", level="enterprise"),
        judged("b"),
        judged("a"),
        judged("urgent", priority=0.9),
        judged("Ä"),
        judged("low", priority=0.1),
        judged("Z"),
        judged("｡"),
        judged("𠀀"),
        judged("hidden", model_invocable=False),
    )
    rest = ["zebra", "urgent", "low", "Z", "a", "b", "Ä", "｡", "𠀀"]
    assert names(store, IndexSpec()) == rest
    assert sorted(rest[3:]) == rest[3:]  # Python and SQLite agree, beyond the basic plane, too
    assert names(store, IndexSpec(featured=("b", "nowhere", "hidden", "low"))) == [
        "b",
        "low",
        "zebra",
        "urgent",
        "Z",
        "a",
        "Ä",
        "｡",
        "𠀀",
    ]
    store.close()


@pytest.mark.requirement("textbook/levels-order")
def test_levels_rank_from_enterprise_to_plugin() -> None:
    """Whatever the names are, and the priorities."""
    store = filled(
        judged("a", root="/plugin", level="plugin", plugin="office", priority=1.0),
        judged("b", root="/project", priority=0.5),
        judged("c", root="/personal", level="personal"),
        judged("d", root="/enterprise", level="enterprise"),
    )
    assert names(store, IndexSpec()) == ["d", "c", "b", "office:a"]
    store.close()


@pytest.mark.requirement("prd/index-bound")
@pytest.mark.requirement("client-guide/hidden", "textbook/mode-users-hidden")
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (IndexSpec(names=("invoice", "hidden")), ["invoice"]),
        (IndexSpec(names=("tagged", "invoice"), featured=("tagged",)), ["tagged", "invoice"]),
        (IndexSpec(tags=("表格",)), ["tagged"]),
        (IndexSpec(tags=("spreadsheet", "表格")), ["tagged"]),
        (IndexSpec(tags=("表格",), featured=("invoice",)), ["tagged"]),
        (IndexSpec(levels=("enterprise",)), []),
        (IndexSpec(levels=("plugin", "project")), ["billing", "invoice", "tagged", "会议纪要"]),
    ],
)
def test_a_filter_admits_matching_skills(
    catalog: Store, spec: IndexSpec, expected: list[str]
) -> None:
    """Names, tags and levels also filter featured skills; hidden skills never match."""
    assert names(catalog, spec) == expected
    assert prompt_index_query.count_indexable(catalog.db, spec) == len(expected)


def test_the_report_of_an_index_lists_skills_that_do_not_fit(catalog: Store) -> None:
    """Counts and names of the skills left out, most important first."""
    spec = IndexSpec(format="xml", budget_chars=200, overflow="exclude")
    report = builder.report(spec, prompt_index_query.build_index(catalog.db, spec))
    assert (report["full"], report["left_out"]) == (1, 3)
    assert report["left_out_names"] == ("invoice", "tagged", "会议纪要")


def test_a_semibot_index_lists_files_and_discovery_digests(catalog: Store) -> None:
    """The fields that a format needs come from the catalog."""
    spec = IndexSpec(names=("invoice",), format="semibot")
    assert (
        "Files: SKILL.md, scripts/run.py" in prompt_index_query.build_index(catalog.db, spec).text
    )
    found = prompt_index_query.build_index(catalog.db, replace(spec, format="discovery")).text
    (digest,) = catalog.db.execute(
        "SELECT skill_md_hash FROM skills WHERE name = 'invoice'"
    ).fetchone()
    assert f'"url": "/skills/invoice/files/SKILL.md", "digest": "sha256:{digest}"' in found


def test_a_url_as_base_leads_to_the_site(catalog: Store) -> None:
    """The published file of each skill, percent-encoded."""
    spec = IndexSpec(names=("会议纪要",), format="xml", location_base="http://h:1/skills")
    assert "<location>http://h:1/skills/%E4%BC%9A%E8%AE%AE%E7%BA%AA%E8%A6%81/files/SKILL.md<" in (
        prompt_index_query.build_index(catalog.db, spec).text
    )


def test_the_error_for_an_unknown_index_lists_the_indexes(catalog: Store) -> None:
    """A mistyped name is easy to correct."""
    catalog.indexes.configure([IndexSpec("default"), IndexSpec("small")])
    with pytest.raises(NotInCatalog, match=r"'big'. The indexes are: default, small"):
        prompt_index_query.index_spec(catalog.db, "big")


def test_settings_of_an_index_survive_the_catalog(catalog: Store) -> None:
    """All settings of an index are stored."""
    spec = IndexSpec(
        name="mine",
        format="json",
        budget_tokens=7,
        overflow="exclude",
        language="zh",
        levels=("plugin",),
        tags=("t",),
        names=("n",),
        featured=("f",),
        location_base="https://example.org/skills",
    )
    catalog.indexes.configure([spec])
    assert prompt_index_query.index_spec(catalog.db, "mine") == spec


def test_real_skills_all_keep_their_names(corpus: Path, tmp_path: Path) -> None:
    """300 fit into the default budget, as against twenty or thirty whole entries."""
    texts = [path.read_text("utf-8") for path in sorted(corpus.rglob("SKILL.md"))]
    named = [
        text
        for text in texts
        if re.search(
            "^name: *[a-z-]+$(?=.*^description: *[^ ]).*^---$", text, re.MULTILINE | re.DOTALL
        )
    ]
    for number in range(300):
        folder = tmp_path / "watched" / f"skill-{number:03d}"
        folder.mkdir(parents=True)
        own = re.sub(
            "^(name: *[a-z-]+)$",
            rf"\1-{number}",
            named[number % len(named)],
            count=1,
            flags=re.MULTILINE,
        )
        (folder / "SKILL.md").write_text(
            own.replace("disable-model-invocation", "was-hidden"), encoding="utf-8"
        )
    settings = loader.load().model_copy(update={"settle_quiet": 0.0})
    store = open_store(settings)
    scan_once(settings, store, engine=serial)
    spec = IndexSpec(location_base="http://127.0.0.1:8001/skills")
    fit = prompt_index_query.build_index(store.db, spec)
    whole = prompt_index_query.build_index(
        store.db, replace(spec, format="xml", overflow="exclude")
    )
    store.close()
    assert (len(fit.entries), fit.left_out) == (300, 0)
    assert len(fit.text) <= 16_000
    assert len(whole.entries) < 45


# Agreement

SKILLS = st.lists(
    st.tuples(
        st.sampled_from("abcdÄ中"),
        st.sampled_from(LEVELS),
        st.none() | st.floats(0, 1),
        st.sets(st.sampled_from("xyz")),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda s: s[0],
)
FILTERS = st.builds(
    IndexSpec,
    format=st.sampled_from(["xml", "semibot"]),
    budget_chars=st.integers(1, 1500),
    levels=st.lists(st.sampled_from(LEVELS), unique=True, max_size=3).map(tuple),
    tags=st.sets(st.sampled_from("xyz"), max_size=2).map(tuple),
    names=st.lists(st.sampled_from("abcdeÄ中"), max_size=4).map(tuple),
    featured=st.lists(st.sampled_from("abcde中"), max_size=3).map(tuple),
)


def changes(skills: list[tuple[str, Level, float | None, set[str], bool]]) -> list[Judged]:
    """Return accepted skills as tuples of name, level, priority, tags, and seen by agents."""
    return [
        judged(
            name,
            "Reads a table. " * 9,
            root=f"/{level}",
            level=level,
            priority=priority,
            tags=tuple(sorted(tags)),
            model_invocable=seen,
        )
        for name, level, priority, tags, seen in skills
    ]


@pytest.mark.requirement("prd/index-active")
@settings(max_examples=30, deadline=None)
@given(SKILLS, FILTERS, st.randoms())
def test_every_active_skill_is_in_the_index_or_left_out_with_a_reason(
    skills: list[tuple[str, Level, float | None, set[str], bool]],
    spec: IndexSpec,
    rng: random.Random,
) -> None:
    """Each exactly once; the order of arrival changes no byte."""
    store = filled(*changes(skills))
    store.indexes.configure([spec])
    index = prompt_index_query.build_index(store.db, spec)
    store.indexes.record(spec, index, NOON)
    out = {row["name"]: row["reason"] for row in store.db.query("SELECT * FROM index_left_out")}
    inside = [entry.skill.name for entry in index.entries]
    assert sorted([*inside, *out]) == sorted(skill[0] for skill in skills)
    for name, level, _, tags, seen in skills:
        if name in out:
            wanted = (
                (not spec.levels or level in spec.levels)
                and (not spec.names or name in spec.names)
                and (not spec.tags or bool(set(spec.tags) & tags))
            )
            assert out[name] == ("hidden" if not seen else "over_budget" if wanted else "filtered")
    assert index.left_out == list(out.values()).count("over_budget")
    assert set(index.left_out_names) == {n for n, reason in out.items() if reason == "over_budget"}
    rng.shuffle(skills)
    again = filled(*changes(skills))
    assert prompt_index_query.build_index(again.db, spec).text == index.text
    store.close()
    again.close()


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(LEVELS),
            st.booleans(),
            st.sampled_from([(), ("x",), ("x", "y"), ("y", "y")]),
            st.sampled_from([None, 0.5]),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_counts_of_levels_and_tags_follow_every_change(
    steps: list[tuple[str, Level, bool, tuple[str, ...], float | None, bool]],
) -> None:
    """They equal a fresh count after skills are added, removed, moved or hidden."""
    store = filled()
    for name, level, seen, tags, priority, goes in steps:
        root = f"/{level}"
        store.apply(
            [
                Removal(root, name)
                if goes
                else judged(
                    name, root=root, level=level, model_invocable=seen, tags=tags, priority=priority
                )
            ],
            trigger="event",
            at=NOON,
        )
    listed = "status = 'active' AND model_invocable = 1"
    for level in LEVELS:
        counted = count_indexable(store.db, IndexSpec(levels=(level,)))
        fresh = f"SELECT count(*) FROM skills WHERE {listed} AND level = ?"
        assert counted == store.db.execute(fresh, [level]).fetchone()[0]
    for tag in {tag for *_, tags, _, _ in steps for tag in tags}:
        fresh = (
            "SELECT count(DISTINCT s.id) FROM skills AS s, json_each(s.tags) AS t"
            f" WHERE {listed} AND t.value = ?"
        )
        counted = count_indexable(store.db, IndexSpec(tags=(tag,)))
        assert counted == store.db.execute(fresh, [tag]).fetchone()[0]
    store.close()


def test_ranking_sorts_nothing(catalog: Store) -> None:
    """The order comes from an index of the database, level by level."""
    statements: list[str] = []
    catalog.db.conn.set_trace_callback(statements.append)
    list(prompt_index_query.ranked(catalog.db, IndexSpec(levels=("project", "plugin"))))
    catalog.db.conn.set_trace_callback(None)
    asked = [statement for statement in statements if "skills AS s" in statement]
    assert len(asked) == 2
    for statement in asked:
        told = [row[3] for row in catalog.db.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert told[0] == "SEARCH s USING INDEX skills_in_index_order (level_rank=?)"
        assert "B-TREE" not in " ".join(told)
