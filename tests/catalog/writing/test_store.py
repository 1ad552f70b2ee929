"""Changes applied to the catalog."""

import errno
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from catalog.database.connection import explained
from catalog.model import finding
from catalog.model.change import Change, Judged, Removal
from catalog.model.errors import CatalogBusy, CatalogUnusable, NotPossible
from catalog.model.skill import Place, RootSpec, SkillRecord
from catalog.prompt_index.builder import IndexEntry, PromptIndex
from catalog.prompt_index.spec import IndexSpec
from catalog.writing.rows import derived
from catalog.writing.store import Store
from catalog.writing.tables.removals import NO_ROOT
from tests.support.candidates import a
from tests.support.records import NOON, ODD, ROOT, WRONG, judged, refused, rooted, sha

LATER = NOON + timedelta(minutes=5)


@pytest.fixture
def store() -> Iterator[Store]:
    """Return an empty catalog in memory with one root."""
    store = rooted(Store.in_memory())
    yield store
    store.close()


def apply(store: Store, *changes: Change, at: Any = NOON) -> list[str]:
    """Apply changes, and return their outcomes."""
    return [result.outcome for result in store.apply(changes, trigger="command", at=at)]


def row(store: Store, path: str) -> dict[str, Any]:
    """Return the `skills` row of a path."""
    return next(iter(store.db.query("SELECT * FROM skills WHERE path = ?", [path])))


def count(store: Store, table: str) -> int:
    """Return the number of a table's rows."""
    return int(store.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def moved(change: Judged, path: str) -> Judged:
    """Return a judged folder as if its content had been at another path before."""
    return change._replace(moved_from=(ROOT, path))


@pytest.mark.requirement("client-guide/record")
def test_an_accepted_skill_is_stored_with_version_files_findings_and_text(store: Store) -> None:
    """One verdict is stored in skills, versions, files, findings, the search and the history."""
    assert apply(store, judged("count-words", findings=[ODD])) == ["added"]
    skill = row(store, "count-words")
    assert (skill["status"], skill["name"], skill["first_seen"]) == (
        "active",
        "count-words",
        "2026-11-20T12:00:00.000+00:00",
    )
    version = next(iter(store.db.query("SELECT * FROM version_contents")))
    assert (version["version"], version["id"]) == ("20261120-120000", skill["current_version_id"])
    assert version["skill_md_content"].startswith("---\nname: count-words")
    files = list(store.db.query("SELECT path, kind, mode, text FROM file_contents ORDER BY path"))
    assert files[1] == {
        "path": "scripts/run.py",
        "kind": "script",
        "mode": "755",
        "text": "print(1)\n",
    }
    assert [row["code"] for row in store.db.query("SELECT code FROM findings")] == [ODD.code]
    steps = store.db.execute("SELECT outcome, steps FROM ingestions").fetchone()
    assert steps[0] == "added"
    assert '"stepName":"read"' in steps[1]


@pytest.mark.requirement("own/packages-hash-same")
def test_the_same_content_again_changes_nothing_but_the_fingerprint(store: Store) -> None:
    """A folder that was touched but not changed adds no history."""
    apply(store, judged("a"))
    before = row(store, "a")
    assert apply(store, judged("a", fingerprint="touched"), at=LATER) == ["unchanged"]
    assert row(store, "a") == before | {"fingerprint": "touched"}
    assert count(store, "ingestions") == 1


def test_new_content_becomes_a_new_version_and_supersedes_the_old(store: Store) -> None:
    """An edit adds a version; the old one stays, with the time it was superseded."""
    apply(store, judged("a"))
    assert apply(store, judged("a", "Counts lines."), at=LATER) == ["updated"]
    versions = list(store.db.query("SELECT version, superseded_at FROM versions ORDER BY id"))
    assert versions == [
        {"version": "20261120-120000", "superseded_at": LATER.isoformat(timespec="milliseconds")},
        {"version": "20261120-120500", "superseded_at": None},
    ]
    assert row(store, "a")["description"] == "Counts lines."


@pytest.mark.requirement("own/packages-version-unique")
def test_versions_of_one_skill_id_never_share_a_name(store: Store) -> None:
    """Two contents accepted in the same second get a suffix, also across folders."""
    apply(store, judged("x/a"), judged("y/a", "Another."), judged("z/a", "A third."))
    names = [row["version"] for row in store.db.query("SELECT version FROM versions ORDER BY id")]
    assert names == ["20261120-120000", "20261120-120000-2", "20261120-120000-3"]


def test_new_findings_on_the_same_content_are_an_update_without_a_version(store: Store) -> None:
    """New rules change the findings; the content stays one version."""
    apply(store, judged("a"))
    assert apply(store, judged("a", findings=[ODD]), at=LATER) == ["updated"]
    assert (count(store, "findings"), count(store, "versions")) == (1, 1)


@pytest.mark.requirement("client-guide/diagnostics")
def test_a_rejected_newcomer_is_a_row_with_its_reason(store: Store) -> None:
    """A broken skill is visible with a reason, but without a version."""
    assert apply(store, refused("broken")) == ["rejected"]
    skill = row(store, "broken")
    assert (skill["status"], skill["status_reason"]) == ("rejected", WRONG.message)
    assert (count(store, "findings"), count(store, "versions")) == (1, 0)
    assert apply(store, refused("broken"), at=LATER) == ["unchanged"]


def test_rejected_content_leaves_the_last_good_version_in_place(store: Store) -> None:
    """The skill stays active, with the time of the rejection and the new findings."""
    apply(store, judged("a"))
    assert apply(store, refused("a"), at=LATER) == ["rejected"]
    skill = row(store, "a")
    assert (skill["status"], skill["description"]) == ("active", "Counts words.")
    assert skill["newest_rejected_at"] == "2026-11-20T12:05:00.000+00:00"
    assert skill["seen_digest"] != skill["digest"]
    assert [row["code"] for row in store.db.query("SELECT code FROM findings")] == [
        WRONG.code,
        finding.LAST_GOOD_VERSION_STANDS.code,
    ]


def test_a_skill_recovers_when_its_content_is_good_again(store: Store) -> None:
    """Restoring the last good content ends the rejection without a new version."""
    apply(store, judged("a"))
    apply(store, refused("a"))
    assert apply(store, judged("a"), at=LATER) == ["updated"]
    assert row(store, "a")["newest_rejected_at"] is None
    assert (count(store, "versions"), count(store, "findings")) == (1, 0)


@pytest.mark.requirement("own/life-removal")
def test_a_removed_skill_keeps_row_and_history_and_leaves_the_search(store: Store) -> None:
    """Removal is a status; a second removal has no effect."""
    apply(store, judged("a", findings=[ODD]))
    assert apply(store, Removal(ROOT, "a"), at=LATER) == ["removed"]
    assert row(store, "a")["status"] == "removed"
    assert [count(store, table) for table in ("versions", "findings", "skill_text")] == [1, 0, 0]
    assert apply(store, Removal(ROOT, "a")) == []


def test_a_skill_that_returns_keeps_its_row_and_version(store: Store) -> None:
    """The same folder with the same content is the same skill again."""
    apply(store, judged("a"))
    before = row(store, "a")
    apply(store, Removal(ROOT, "a"))
    assert apply(store, judged("a"), at=LATER) == ["added"]
    after = row(store, "a")
    assert (after["id"], after["current_version_id"], after["status"]) == (
        before["id"],
        before["current_version_id"],
        "active",
    )
    assert count(store, "skill_text") == 1


def test_a_rename_keeps_the_row(store: Store) -> None:
    """A moved folder is the same skill at another path; its history has the old path."""
    apply(store, judged("old", name="a"))
    before = row(store, "old")
    assert apply(store, moved(judged("new", name="a"), "old"), at=LATER) == ["renamed"]
    assert row(store, "new")["id"] == before["id"]
    assert count(store, "skills") == count(store, "versions") == 1
    detail = store.db.execute("SELECT detail FROM ingestions WHERE outcome = 'renamed'").fetchone()
    assert detail == ("folder moved from old",)


def test_a_rename_that_changes_the_skill_id_is_a_version_of_the_new_one(store: Store) -> None:
    """A package path contains the skill_id, so content under another one is a new version."""
    apply(store, judged("old"))
    renamed = judged("new", skill_id="new", digest=row(store, "old")["digest"])
    apply(store, moved(renamed, "old"), at=LATER)
    versions = [
        tuple(row.values())
        for row in store.db.query("SELECT skill_id, version FROM versions ORDER BY id")
    ]
    assert versions == [("old", "20261120-120000"), ("new", "20261120-120500")]


def test_of_skills_with_one_skill_id_the_first_path_is_active(store: Store) -> None:
    """The shallowest comes first, then by code point; the others are shadowed by it."""
    apply(store, judged("b/deep/start"), judged("b/start"), judged("a/start"))
    status = {
        path: (row(store, path)["status"], row(store, path)["status_reason"])
        for path in ("a/start", "b/start", "b/deep/start")
    }
    reason = "shadowed by the project skill in /root/a/start, {}, with the same content"
    assert status == {
        "a/start": ("active", None),
        "b/start": ("shadowed", reason.format("first by path")),
        "b/deep/start": ("shadowed", reason.format("less deep in the root")),
    }


@pytest.mark.requirement("own/levels-next")
def test_the_next_skill_replaces_a_removed_winner_at_once(store: Store) -> None:
    """The same batch that removes the winner makes the runner-up active."""
    apply(store, judged("a/start"), judged("b/start"))
    apply(store, Removal(ROOT, "a/start"), at=LATER)
    assert (row(store, "b/start")["status"], row(store, "b/start")["shadowed_by"]) == (
        "active",
        None,
    )


def test_a_skill_that_changes_its_name_frees_the_old_one(store: Store) -> None:
    """The old and the new skill_id are both decided again."""
    apply(store, judged("a", name="one"), judged("b", name="one"), judged("c", name="two"))
    apply(store, judged("a", name="two"), at=LATER)
    assert {path: row(store, path)["status"] for path in "abc"} == {
        "a": "shadowed",
        "b": "active",
        "c": "active",
    }


@pytest.mark.requirement("textbook/levels-one-name")
def test_a_higher_level_wins_in_any_order_of_roots(store: Store) -> None:
    """Level decides before the order of roots, and that before depth and path."""
    rooted(store, RootSpec("/p1"), RootSpec("/p2"), RootSpec("/e", level="enterprise"))
    apply(store, judged("start", root="/p2"), judged("deep/start", root="/p1"))
    assert row(store, "deep/start")["status"] == "active"
    apply(store, judged("x/y/z/start", root="/e", level="enterprise"))
    assert row(store, "deep/start")["status_reason"] == (
        "shadowed by the enterprise skill in /e/x/y/z/start, with the same content"
    )


def test_another_order_of_roots_lets_the_skills_compete_again(store: Store) -> None:
    """A changed configuration takes effect without reading any folder."""
    rooted(store, RootSpec("/p1"), RootSpec("/p2"))
    apply(store, judged("a/start", root="/p1"), judged("b/start", root="/p2"))
    rooted(store, RootSpec("/p2"), RootSpec("/p1"))
    assert (row(store, "b/start")["status"], row(store, "a/start")["status"]) == (
        "active",
        "shadowed",
    )


def test_changed_rules_make_the_next_scan_read_the_root_again(store: Store) -> None:
    """Without a fingerprint no folder counts as unchanged."""
    apply(store, judged("a"))
    store.roots.configure([RootSpec(ROOT)], "rules-1", NOON)
    assert store.skills.known(ROOT).fingerprints["a"]
    store.roots.configure([RootSpec(ROOT, acceptance="strict")], "rules-1", NOON)
    assert store.skills.known(ROOT).fingerprints["a"] == ""


def test_skills_of_a_root_that_is_no_longer_configured_are_named(store: Store) -> None:
    """The next scan holds their removal; configuring the root again releases them."""
    apply(store, judged("a"))
    before = row(store, "a")
    rooted(store, RootSpec("/other"))
    assert store.roots.unconfigured() == {ROOT: ["a"]}
    store.removals.hold(ROOT, ["a"], NO_ROOT, trigger="command", at=NOON)
    assert row(store, "a")["pending_reason"] == "its root is no longer configured"
    assert store.removals.held() == 1
    assert (store.roots.unconfigured(), store.roots.unconfigured(with_held=True)) == (
        {},
        {ROOT: ["a"]},
    )
    rooted(store)
    assert store.roots.unconfigured() == {}
    assert row(store, "a") == before


def test_a_configured_root_comes_before_one_that_is_no_longer_configured(store: Store) -> None:
    """Of equal skills, the one in the configured root is published."""
    rooted(store, RootSpec("/p1"))
    apply(store, judged("a/start", root="/p1"))
    rooted(store, RootSpec("/p2"))
    apply(store, judged("b/start", root="/p2"))
    assert (row(store, "a/start")["status"], row(store, "b/start")["status"]) == (
        "shadowed",
        "active",
    )


def test_known_folders_are_those_at_or_below_a_path(store: Store) -> None:
    """Paths that only share a prefix are not below it."""
    apply(store, *map(judged, ("a", "a/b", "a-c", "a0", "b")))
    assert sorted(store.skills.known(ROOT, "a").fingerprints) == ["a", "a/b"]
    assert len(store.skills.known(ROOT).fingerprints) == 5


def test_a_folder_that_does_not_settle_is_shown_as_pending(store: Store) -> None:
    """A new folder gets a row; an accepted one stays active, with the time."""
    apply(store, judged("old"))
    for path in ("new", "old"):
        store.skills.set_pending(Place(ROOT, path, "project"), path, path, NOON, "still changing")
    assert (row(store, "new")["status"], row(store, "old")["status"]) == ("pending", "active")
    assert row(store, "old")["pending_reason"] == "still changing"
    assert apply(store, judged("new"), judged("old"), at=LATER) == ["added", "updated"]
    assert row(store, "old")["pending_since"] is None


def test_a_new_pending_folder_gets_the_status_of_its_verdict(store: Store) -> None:
    """It is no longer pending after that."""
    store.skills.set_pending(Place(ROOT, "new", "project"), "new", "new", NOON, "still changing")
    apply(store, refused("new"))
    assert (row(store, "new")["status"], row(store, "new")["pending_since"]) == ("rejected", None)


def test_loose_findings_below_a_path_are_replaced_and_others_kept(store: Store) -> None:
    """Findings without a skill belong to the scanned part of the root."""
    store.skills.set_loose_findings(ROOT, "", [("a/SKILL.md", ODD), ("b", ODD)])
    store.skills.set_loose_findings(ROOT, "a", [])
    assert [f["folder"] for f in store.db.query("SELECT folder FROM findings")] == ["b"]


def test_an_index_build_is_recorded_only_if_it_is_new(store: Store) -> None:
    """Each publication is a row, except for an unchanged text."""
    apply(store, judged("a"))
    store.indexes.configure([IndexSpec()])
    index = PromptIndex("text", (IndexEntry(a("a", skill=row(store, "a")["id"]), "full", "text"),))
    assert store.indexes.published_at(IndexSpec(), index) is None
    store.indexes.record(IndexSpec(), index, NOON)
    assert store.indexes.published_at(IndexSpec(), index) == NOON.isoformat(timespec="milliseconds")
    one_more = replace(index, left_out=3)
    assert store.indexes.published_at(IndexSpec(), one_more) is None
    store.indexes.record(IndexSpec(), one_more, LATER)
    assert (count(store, "index_builds"), count(store, "index_texts")) == (2, 1)


@pytest.mark.requirement("textbook/budget-told")
def test_skills_left_out_of_an_index_are_queryable_with_the_reason(store: Store) -> None:
    """Every active skill is in index_entries or, with a reason, in index_left_out."""
    apply(
        store,
        judged("in"),
        judged("big"),
        judged("hidden", model_invocable=False),
        judged("other", tags=("x",)),
    )
    spec = IndexSpec(names=("in", "big", "hidden"))
    store.indexes.configure([spec])
    store.indexes.record(
        spec,
        PromptIndex("t", (IndexEntry(a("in", skill=row(store, "in")["id"]), "full", "t"),), 1),
        NOON,
    )
    reasons = {r["name"]: r["reason"] for r in store.db.query("SELECT * FROM index_left_out")}
    assert reasons == {"big": "over_budget", "hidden": "hidden", "other": "filtered"}


@pytest.mark.requirement(
    "prd/definition-id",
    "prd/definition-name",
    "prd/definition-description",
    "prd/definition-inventory",
    "prd/definition-version",
    "prd/definition-active",
    "prd/definition-content",
    "prd/package-version",
    "prd/package-hash",
    "prd/package-inventory",
    "prd/package-path",
)
def test_the_product_views_have_the_columns_of_the_specification(store: Store) -> None:
    """skill_definitions has a row for each skill, skill_packages one for each version."""
    first = judged("a")
    apply(store, first)
    apply(store, judged("a", "Counts lines."), refused("b"), at=LATER)
    definition, rejected = store.db.query("SELECT * FROM skill_definitions ORDER BY id")
    inventory = json.loads(definition.pop("fileInventory"))
    assert (inventory["scriptFiles"], inventory["totalFiles"]) == (["scripts/run.py"], 2)
    assert definition == {
        "id": row(store, "a")["id"],
        "skillId": "a",
        "name": "a",
        "description": "Counts lines.",
        "currentVersion": "20261120-120500",
        "isActive": 1,
        "skill_md_content": "---\nname: a\ndescription: Counts lines.\n---\n# Steps\n",
    }
    assert (rejected["skillId"], rejected["isActive"]) == ("b", 0)
    old, new = store.db.query("SELECT * FROM skill_packages ORDER BY version")
    assert isinstance(first.verdict, SkillRecord)
    assert (old["version"], old["skill_md_hash"]) == (
        "20261120-120000",
        first.verdict.skill_md_hash,
    )
    assert (new["version"], json.loads(new["file_inventory"])) == ("20261120-120500", inventory)
    assert "package_path" in new


@pytest.mark.requirement("prd/skills-columns")
def test_skills_has_the_inventory_and_the_package_beside_each_skill(store: Store) -> None:
    """The text of SKILL.md is in the view of definitions."""
    apply(store, judged("a"))
    assert json.loads(row(store, "a")["file_inventory"])["totalFiles"] == 2
    assert row(store, "a")["package_path"] is None  # this catalog publishes nothing
    (definition,) = store.db.query("SELECT * FROM skill_definitions WHERE skillId = 'a'")
    assert definition["skill_md_content"].startswith("---\nname: a\n")


def test_a_batch_that_fails_leaves_the_catalog_as_it_was(store: Store) -> None:
    """A row that SQLite refuses rolls back its whole batch."""
    apply(store, judged("a"))
    with pytest.raises(sqlite3.IntegrityError):
        apply(store, judged("b"), judged("c", root="/not-configured"))
    assert count(store, "skills") == 1


def test_a_second_writer_is_refused_by_the_process_id(tmp_path: Path) -> None:
    """The lock names its owner, and is free again after that one closes the catalog."""
    first = Store.open(tmp_path / "catalog.db")
    with pytest.raises(CatalogBusy, match=r"by process \d+"):
        Store.open(tmp_path / "catalog.db")
    first.close()
    Store.open(tmp_path / "catalog.db").close()


class BreakableConnection(sqlite3.Connection):
    """Connection to a disk that may fail in the end."""

    error: Exception | None = None

    def close(self) -> None:
        """Close it, or fail."""
        if self.error:
            raise self.error
        super().close()


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "I/O error"), sqlite3.OperationalError("disk I/O error")]
)
def test_a_catalog_that_cannot_be_closed_well_is_opened_again_by_the_same_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """It is not refused by its own lock, and nothing that was stored is lost."""
    path = tmp_path / "catalog.db"
    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=BreakableConnection))
        store = Store.open(path)
    store.count_overflow()
    assert isinstance(store.db.conn, BreakableConnection)
    store.db.conn.error = error
    store.close()
    store = Store.open(path)
    assert store.db.execute("SELECT overflows FROM health").fetchone() == (1,)
    store.close()


@pytest.mark.parametrize("foreign", ["database", "text"])
def test_a_file_of_another_program_is_not_touched(tmp_path: Path, foreign: str) -> None:
    """A foreign database or another file is reported, and keeps its bytes."""
    path = tmp_path / "catalog.db"
    if foreign == "database":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE diary (day TEXT)")
        connection.close()
    else:
        path.write_text("not a database " * 100)
    before = sha(path.read_bytes().hex())
    with pytest.raises(CatalogUnusable, match=r"another program|not a database"):
        Store.open(path)
    assert sha(path.read_bytes().hex()) == before


def test_migrations_are_applied_once(tmp_path: Path) -> None:
    """Opening a catalog again keeps its rows."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    apply(store, judged("a"))
    store.close()
    again = Store.open(tmp_path / "catalog.db")
    assert count(again, "skills") == 1
    again.close()


def test_a_full_disk_is_reported_and_rolls_back_the_batch(tmp_path: Path) -> None:
    """SQLite really runs out of room, rolls back the batch, and continues once it has room."""
    path = tmp_path / "catalog.db"
    store = rooted(Store.open(path))
    pages = store.db.execute("PRAGMA page_count").fetchone()[0]
    store.db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(NotPossible, match="no room left"), explained(path):
        store.apply([judged("big", body="x" * 1_000_000)], trigger="command", at=NOON)
    assert (count(store, "skills"), count(store, "ingestions")) == (0, 0)
    store.db.execute("PRAGMA max_page_count = 1000000")
    assert apply(store, judged("big", body="x" * 1_000_000)) == ["added"]
    store.close()


def test_a_rename_onto_the_path_of_a_removed_skill_is_removal_and_return(store: Store) -> None:
    """The new path keeps its own history, and the row of the old path is removed."""
    apply(store, judged("a", name="x"), judged("b", "Another."))
    apply(store, Removal(ROOT, "b"))
    assert apply(store, moved(judged("b", name="x"), "a"), at=LATER) == ["removed", "added"]
    assert (row(store, "a")["status"], row(store, "b")["status"]) == ("removed", "active")


def test_a_pending_folder_without_changes_is_no_longer_pending(store: Store) -> None:
    """Nor is a removed folder that returned incomplete and was removed again."""
    apply(store, judged("a"), judged("b"))
    apply(store, Removal(ROOT, "b"))
    for path in ("a", "b"):
        store.skills.set_pending(Place(ROOT, path, "project"), path, path, NOON, "still changing")
    assert row(store, "b")["status"] == "pending"
    assert "a" in store.skills.known(ROOT).pending
    store.skills.clear_pending(ROOT, ["a"])
    assert "a" not in store.skills.known(ROOT).pending
    apply(store, Removal(ROOT, "b"))
    assert (row(store, "b")["status"], row(store, "b")["pending_since"]) == ("removed", None)


def test_a_last_good_version_takes_the_new_level_of_its_root(store: Store) -> None:
    """Its name is qualified by its new plugin, so it shadows no bare name."""
    apply(store, judged("pack/a"))
    store.roots.configure([RootSpec(ROOT, level="plugin")], "rules-1", NOON)
    broken = refused("pack/a")
    place = Place(ROOT, "pack/a", "plugin", "pack")
    there = broken.verdict._replace(place=place)
    apply(store, derived.judged(there, broken.steps, broken.started_at, broken.took_ms))
    skill = row(store, "pack/a")
    assert (skill["level"], skill["name"], skill["skill_id"]) == ("plugin", "pack:a", "pack--a")


def test_findings_without_a_skill_are_deleted_with_their_root(store: Store) -> None:
    """Findings of an unconfigured root no longer matter."""
    store.skills.set_loose_findings(ROOT, "", [("SKILL.md", ODD)])
    rooted(store, RootSpec("/other"))
    assert count(store, "findings") == 0


def test_overflows_are_counted_permanently(store: Store) -> None:
    """Health reports how often events were lost, over all runs of the service."""
    store.count_overflow()
    store.count_overflow()
    assert store.db.execute("SELECT overflows FROM health").fetchone() == (2,)


def test_a_scan_that_brings_many_skills_joins_the_parts_of_the_search(store: Store) -> None:
    """Each batch adds a part, which every search reads; a few changes are not worth the work."""
    scan = store.begin_scan("start", NOON)
    for name in ("a", "b", "c"):
        apply(store, judged(name))
    store.finish_scan(scan, NOON, 1.0, 100, {"added": 3}, 0)
    parts = "SELECT count(DISTINCT segid) FROM skill_text_fts_idx"
    assert store.db.execute(parts).fetchone() == (3,)
    store.finish_scan(scan, NOON, 1.0, 3, {"added": 3}, 0)
    assert store.db.execute(parts).fetchone() == (1,)
