"""Directories of agents, with links to skills among foreign entries."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from catalog.audit import published_files as audit_links
from catalog.filesystem.operations import exchange_names
from catalog.model.setting import LinkedDirectory
from catalog.reading import status
from catalog.writing.links import directory
from catalog.writing.store import Store
from pipeline.service.open_catalog import packaging_of, publish
from tests.support.linking import Linking, links_in, names_in
from tests.support.records import NOON
from tests.support.skills import write_skill

AGENTSKILLS = Path(sys.executable).with_name("agentskills")


class Killed(BaseException):
    """End of the process at this point: the program does not catch it."""


def killed(*_: object, **__: object) -> None:
    """Stand in for a system call that the process did not live to make."""
    raise Killed


def identity(path: Path) -> tuple[int, int, int]:
    """Return inode, mode and time of change of an entry; reading it changes none of them."""
    stat = path.lstat()
    return stat.st_ino, stat.st_mode, stat.st_mtime_ns


def test_links_lead_to_the_published_skills(tmp_path: Path) -> None:
    """The name of a link is that of the skill, in Chinese, too, or else its skill_id."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("pdf", "数据分析")
    write_skill(it.root / "odd", name="My Odd/Name")
    it.scan()
    assert links_in(agent) == {
        name: str(it.skills / name) for name in ("my-odd-name", "pdf", "数据分析")
    }
    for name in ("pdf", "数据分析"):
        assert (agent / name / "SKILL.md").read_text("utf-8").startswith(f"---\nname: {name}\n")
        subprocess.run([AGENTSKILLS, "validate", agent / name], check=True)
    assert it.differences() == []


def test_only_an_agent_that_hides_them_gets_skills_for_users_alone(tmp_path: Path) -> None:
    """They are linked to their package; no other agent gets them, and nobody by an index."""
    places: dict[str, dict[str, Any]] = {
        "claude": {"path": tmp_path / "x/.claude/skills"},
        "named": {"path": tmp_path / "named", "for": "claude-code", "copy": True},
        "by index": {"path": tmp_path / "index", "for": "claude-code", "index": "default"},
        "codex": {"path": tmp_path / "x/.agents/skills"},
        "unknown": {"path": tmp_path / "unknown"},
    }
    for place in places.values():
        place["path"].parent.mkdir(parents=True, exist_ok=True)
    it = Linking(tmp_path, links=list(places.values()))
    it.add("both")
    write_skill(it.root / "command", more="disable-model-invocation: true")
    write_skill(it.root / "off", more="disable-model-invocation: true\nuser-invocable: false")
    it.scan()
    found = {agent: names_in(place["path"]) for agent, place in places.items()}
    with_command, others = {"claude", "named"}, ["both"]
    assert found == {
        place: ["both", "command"] if place in with_command else others for place in places
    }
    link = tmp_path / "x/.claude/skills/command"
    assert "name: command" in (link / "SKILL.md").read_text()
    assert it.differences() == []
    write_skill(it.root / "command")
    write_skill(it.root / "both", more="disable-model-invocation: true")
    it.scan()
    assert names_in(tmp_path / "unknown") == names_in(it.skills) == ["command"]
    assert links_in(link.parent) == {
        "both": str(it.settings.packages_folder / "both/current"),
        "command": str(it.skills / "command"),
    }
    assert it.differences() == []


def test_links_follow_the_catalog(tmp_path: Path) -> None:
    """New skills come, removed ones go, renamed ones change; a new version needs no new link."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a", "b", "c")
    it.scan()
    before = identity(agent / "b")
    shutil.rmtree(it.root / "a")
    write_skill(it.root / "b", body="# Another\n")
    write_skill(it.root / "c", name="d")
    it.scan()
    assert names_in(agent) == ["b", "d"]
    assert identity(agent / "b") == before
    assert "# Another" in (agent / "b" / "SKILL.md").read_text()
    assert it.differences() == []


@pytest.mark.parametrize(
    ("harm", "difference"),
    [
        (lambda agent: (agent / "a").unlink(), "a: it does not lead to "),
        (shutil.rmtree, ": its skills cannot be compared: No such file or directory"),
    ],
    ids=["lost", "all lost"],
)
def test_harm_to_links_is_a_difference_that_a_scan_repairs(
    tmp_path: Path, harm: Callable[[Path], None], difference: str
) -> None:
    """One link, or the directory with all of them."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a", "b")
    it.scan()
    before = links_in(agent)
    harm(agent)
    (found,) = it.differences()
    assert found.startswith(difference)
    it.scan()
    assert links_in(agent) == before
    assert it.differences() == []


def test_no_copy_is_made_in_a_directory_that_took_the_place_of_the_open_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The scan says so, and opens it before it makes them there."""
    agent, other = tmp_path / "agent", tmp_path / "other"
    agent.mkdir()
    other.mkdir()
    it = Linking(tmp_path, links=[{"path": agent, "copy": True}])
    it.add("a")
    stage = directory.Entries._stage

    def replaced(self: directory.Entries, *given: Any) -> Any:
        if self.path == agent and other.exists():
            agent.rename(tmp_path / "moved")
            other.rename(agent)
        return stage(self, *given)

    monkeypatch.setattr(directory.Entries, "_stage", replaced)
    it.scan()
    assert f"{agent} cannot be updated: it was replaced." in caplog.text
    assert names_in(agent) == ["a"]


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("call", ["symlink", "rename", "mkdir"])
def test_after_a_kill_every_entry_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, *, copy: bool
) -> None:
    """Whichever call is the last, each entry has a skill, and the next start does the rest."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent, "copy": not copy}])
    it.add("a", "b", "c")
    it.scan()
    shutil.rmtree(it.root / "c")
    it.add("d")
    it.with_settings(links=[{"path": agent, "copy": copy}])
    with monkeypatch.context() as patch:
        patch.setattr(directory.os, call, killed)  # type: ignore[attr-defined]
        with suppress(Killed):
            it.scan()
    for folder in (it.skills, agent):
        assert all((folder / name / "SKILL.md").exists() for name in ("a", "b"))
    it.scan()
    assert links_in(agent) == (
        {} if copy else {name: str(it.skills / name) for name in ("a", "b", "d")}
    )
    assert names_in(agent) == names_in(it.skills) == ["a", "b", "d"]
    assert it.differences() == []


def test_links_of_the_layout_before_are_replaced(tmp_path: Path) -> None:
    """They led to packages; a lost catalog knows them by that."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a")
    it.scan()
    (agent / "a").unlink()
    (agent / "a").symlink_to(it.settings.packages_folder / "a" / "current")
    for file in it.settings.data.glob("catalog.db*"):
        file.unlink()
    it.scan()
    assert links_in(agent) == {"a": str(it.skills / "a")}


# Directories of others


def test_a_configured_directory_has_the_skills_of_its_filter(tmp_path: Path) -> None:
    """By level, tag and name, or by the filter of an index; each change of it is followed."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent, "tags": ["office"]}])
    write_skill(it.root / "a", more="metadata:\n  tags: office")
    write_skill(it.root / "b", more="tags: [office]")
    write_skill(it.root / "c")
    it.scan()
    by_tag = list(links_in(agent))
    assert by_tag
    assert "c" not in by_tag
    it.with_settings(links=[{"path": agent, "names": ["a", "c"]}]).scan()
    assert links_in(agent) == {name: str(it.skills / name) for name in ("a", "c")}
    index = {"name": "few", "names": ["c"]}
    it.with_settings(indexes=[index], links=[{"path": agent, "index": "few"}]).scan()
    assert list(links_in(agent)) == ["c"]
    it.with_settings(links=[]).scan()
    assert names_in(agent) == []


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling"])
def test_entries_of_others_stay_and_are_told(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever has the name of a skill, and whether the skill comes or goes."""
    agent, mine = tmp_path / "agent", tmp_path / "agent" / "pdf"
    write_skill(tmp_path / "own-pdf")
    agent.mkdir()
    if kind == "file":
        mine.write_text("mine")
    elif kind == "folder":
        write_skill(mine)
    else:
        mine.symlink_to(tmp_path / ("own-pdf" if kind == "link" else "nowhere"))
    before = identity(mine)
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("pdf", "xlsx")
    it.scan()
    it.scan()
    assert identity(mine) == before
    assert caplog.text.count("agent/pdf is unknown to this catalog") == 1
    store = it.open()
    ((taken, linked),) = [
        (row["taken"], row["linked"]) for row in status.load(store.db)["links"] if row["taken"]
    ]
    store.close()
    assert (taken, linked) == (["pdf"], 1)
    assert it.differences() == []
    shutil.rmtree(it.root / "pdf")
    it.with_settings(links=[]).scan()
    assert identity(mine) == before
    assert names_in(agent) == ["pdf"]


def test_a_name_that_becomes_free_is_linked(tmp_path: Path) -> None:
    """Once its owner has moved the foreign entry away, the next scan makes the link."""
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "pdf").write_text("mine")
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("pdf")
    it.scan()
    (agent / "pdf").unlink()
    it.scan()
    assert list(links_in(agent)) == ["pdf"]


def test_a_link_that_its_user_has_changed_is_no_longer_ours(tmp_path: Path) -> None:
    """It stays, even where the skill is removed."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("pdf")
    it.scan()
    (agent / "pdf").unlink()
    (agent / "pdf").symlink_to(tmp_path)
    it.scan()
    shutil.rmtree(it.root / "pdf")
    it.scan()
    assert links_in(agent) == {"pdf": str(tmp_path)}


def test_an_identical_link_of_somebody_else_stays(tmp_path: Path) -> None:
    """It leads into a root, was there before, and is reported."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path)
    it.add("mine", "other")
    agent.mkdir()
    (agent / "mine").symlink_to(it.root / "mine")
    before = identity(agent / "mine")
    it.with_settings(links=[{"path": agent}]).scan()
    it.scan()
    assert links_in(agent) == {
        "mine": str(it.root / "mine"),
        "other": str(it.skills / "other"),
    }
    assert it.differences() == []
    shutil.rmtree(it.root / "mine")
    it.with_settings().scan()
    assert names_in(agent) == ["mine"]
    assert identity(agent / "mine") == before


def test_links_of_a_lost_catalog_are_recognised(tmp_path: Path) -> None:
    """They lead into the packages, so the next catalog removes them with their skills."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a", "b")
    it.scan()
    for file in it.settings.data.glob("catalog.db*"):
        file.unlink()
    it.scan()
    assert list(links_in(agent)) == ["a", "b"]
    shutil.rmtree(it.root / "a")
    it.scan()
    assert names_in(agent) == ["b"]
    it.with_settings().scan()
    assert names_in(agent) == []


def test_an_entry_that_takes_the_name_during_the_change_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came after the check, so the exchange finds it."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent, "copy": True}])
    it.add("a")
    it.scan()

    taken: list[str] = []

    def interrupted(one: str, other: str, dir_fd: int) -> None:
        if os.path.samestat(os.fstat(dir_fd), agent.stat()) and not taken:
            taken.append(other)
            shutil.rmtree(agent / "a")
            (agent / "a").write_text("mine")
        exchange_names(one, other, dir_fd)

    monkeypatch.setattr(directory, "exchange_names", interrupted)
    it.with_settings(links=[{"path": agent}]).scan()
    assert names_in(agent) == ["a"]
    assert (agent / "a").read_text() == "mine"


def test_missing_parents_are_made_in_the_home_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Elsewhere, a missing parent may be a disk that is not mounted."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    inside, outside = tmp_path / "home/.claude/skills", tmp_path / "disk/agents"
    it = Linking(tmp_path, links=[{"path": inside}, {"path": outside}])
    it.add("a")
    it.scan()
    assert names_in(inside) == ["a"]
    assert not outside.parent.exists()
    assert f"updated: {outside.parent} does not exist; make it first." in caplog.text


def test_no_removal_follows_a_link(tmp_path: Path) -> None:
    """The published skills behind the links keep all their files."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a")
    it.scan()
    it.with_settings().scan()
    assert names_in(agent) == []
    assert (it.skills / "a" / "SKILL.md").exists()


def test_a_directory_that_cannot_be_written_stops_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its trouble is logged once, kept in the catalog, and over once its cause is."""
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    agent = tmp_path / "disk" / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a")
    it.scan()
    it.scan()
    assert caplog.text.count(f"The links in {agent} cannot be updated") == 1
    assert names_in(it.skills) == ["a"]
    assert it.differences() == [": its skills cannot be compared: No such file or directory"]
    agent.parent.mkdir()
    it.scan()
    assert list(links_in(agent)) == ["a"]
    assert it.differences() == []


def test_the_directory_of_another_catalog_is_left_alone(tmp_path: Path) -> None:
    """That catalog would remove every link that is not its own."""
    (tmp_path / "other").mkdir()
    other = Linking(tmp_path / "other")
    other.scan()
    it = Linking(tmp_path, links=[{"path": other.skills}])
    it.add("a")
    it.scan()
    assert names_in(other.skills) == []


def test_a_moved_catalog_moves_its_links(tmp_path: Path) -> None:
    """A copy of a data directory takes nothing from the original beside it."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a")
    it.scan()
    before = identity(it.skills / "a")
    shutil.copytree(tmp_path / "data", tmp_path / "copy", symlinks=True)
    it.settings = it.settings.model_copy(update={"data": tmp_path / "copy"})
    it.scan()
    assert identity(it.skills / "a") == before
    assert names_in(it.settings.skills_folder) == ["a"]
    assert links_in(agent) == {"a": str(tmp_path / "copy" / "skills" / "a")}


def test_a_command_keeps_a_directory_until_another_ends_it(tmp_path: Path) -> None:
    """It is stored in the catalog, and survives settings without it, and damage to the catalog."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path)
    it.add("a", "b")
    it.scan()
    store = it.open()
    kept = store.links.link(LinkedDirectory(str(agent), names=("a",)))
    assert (kept.linked, kept.made, kept.taken) == (1, ("a",), ())
    store.close()
    it.scan()
    assert list(links_in(agent)) == ["a"]
    with open(it.settings.catalog_path, "r+b") as file:
        file.write(bytes(16))
    it.scan()
    shutil.rmtree(it.root / "a")
    it.scan()
    assert names_in(agent) == []
    store = it.open()
    row = store.links.find(str(agent))
    assert row
    assert store.links.unlink(row).directory == str(agent)
    assert store.links.find(str(agent)) is None
    store.close()


def test_a_kill_between_record_and_link_leaves_nothing_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every link on the disk is recorded, so it goes with its skill."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a", "b")
    with monkeypatch.context() as patch:
        patch.setattr(directory.Entries, "put", killed)
        with pytest.raises(Killed):
            it.scan()
    shutil.rmtree(it.root / "a")
    it.scan()
    assert names_in(it.skills) == ["b"]
    assert list(links_in(agent)) == ["b"]


def place(store: Store) -> None:
    """Update the directories of skills."""
    store.links.update(store.packager.changed)
    store.packager.changed.clear()


def test_publishing_without_a_change_writes_nothing(tmp_path: Path) -> None:
    """Neither to the directories nor to the catalog."""
    it = Linking(tmp_path, links=[{"path": tmp_path / "agent"}])
    it.add("a")
    it.scan()
    store = it.open()
    place(store)
    before = os.stat(it.skills).st_mtime_ns, store.db.conn.total_changes
    store.links.check_all()
    publish(it.settings, store, NOON)
    assert (os.stat(it.skills).st_mtime_ns, store.db.conn.total_changes) == before
    store.close()


def test_an_update_after_a_change_counts_no_links(tmp_path: Path) -> None:
    """Its cost depends on the changed skills, not on all of them."""
    it = Linking(tmp_path)
    it.add("a")
    it.scan()
    store = it.open()
    place(store)
    statements: list[str] = []
    store.db.conn.set_trace_callback(statements.append)
    store.packager.changed.add("a")
    place(store)
    assert statements
    assert not [statement for statement in statements if "count(" in statement]
    store.close()


def test_the_status_is_json(tmp_path: Path) -> None:
    """Each directory with its origin, links and trouble."""
    it = Linking(tmp_path)
    it.add("a")
    it.scan()
    store = it.open()
    (row,) = json.loads(json.dumps(status.load(store.db)["links"]))
    assert row == {
        "path": str(it.skills),
        "origin": "data",
        "is_copy": 1,
        "trouble": None,
        "linked": 1,
        "told": None,
        "taken": [],
        "foreign": [],
    }
    assert list(audit_links.of_links(store.db, packaging_of(it.settings))) == []
    store.close()
