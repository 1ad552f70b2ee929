"""Skills in the search index, after any sequence of changes to a root and its catalog."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from catalog.audit import verdicts
from catalog.model.errors import NotInCatalog
from catalog.model.skill import RootSpec
from catalog.writing.store import Store
from catalog.writing.tables.removals import NO_ROOT
from pipeline.service.scanning.scanner import place_of
from tests.support.packages import World, later
from tests.support.scanning import scan_all
from tests.support.skills import SkillWriter, write_skill

FOLDERS = ("p/one", "p/two", "q/one", "q/two", "r/one", "r/three")
folders = st.sampled_from(FOLDERS)


class Lives(RuleBasedStateMachine):
    """Folders that are added, changed and removed; scans notice that soon, late or in parts."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="rows-"))
        self.world = World(self.top)
        self.aside = self.top / "aside"
        self.aside.mkdir()
        self.number = 0

    @property
    def store(self) -> Store:
        """The catalog."""
        return self.world.store

    # The folders

    @rule(folder=folders, ending=st.sampled_from(["\n", "\r\n"]))
    def write(self, folder: str, ending: str) -> None:
        """Write a skill with a word that no other content has."""
        self.number += 1
        skill_md = [
            "---",
            f"name: {folder[2:]}",
            "description: Counts.",
            "---",
            "",
            f"# Steps\n\nword{self.number} 会议 \x00 é",
            "",
        ]
        write_skill(self.world.root / folder, files={"SKILL.md": ending.join(skill_md)})

    @rule(folder=folders)
    def spoil(self, folder: str) -> None:
        """Write content that is rejected."""
        write_skill(self.world.root / folder, files={"SKILL.md": "---\nname: x\n---\n"})

    @rule(folder=folders)
    def delete(self, folder: str) -> None:
        """Delete a folder."""
        shutil.rmtree(self.world.root / folder, ignore_errors=True)

    @rule(folder=folders, other=folders)
    def rename(self, folder: str, other: str) -> None:
        """Rename a folder to an unused path."""
        source, target = self.world.root / folder, self.world.root / other
        if source.exists() and not target.exists():
            target.parent.mkdir(exist_ok=True)
            source.rename(target)

    @rule()
    def exchange_with_aside(self) -> None:
        """Remove all folders, or restore them."""
        for folder in (self.aside, self.world.root):
            folder.mkdir(exist_ok=True)
        self.world.root.rename(self.top / "swap")
        self.aside.rename(self.world.root)
        (self.top / "swap").rename(self.aside)

    # The catalog

    @rule(some=st.sets(folders, min_size=1, max_size=3))
    def look(self, some: set[str]) -> None:
        """Scan some of the folders, as after events."""
        self.world.look(*sorted(some))

    @rule(deep=st.booleans(), accepts=st.booleans())
    def scan(self, deep: bool, accepts: bool) -> None:
        """Scan all folders, perhaps accepting held removals."""
        scan_all(self.store, self.world.roots, deep=deep, accepts_removals=accepts)

    @rule(name=st.sampled_from(["one", "two"]), number=st.integers(0, 5))
    def pin(self, name: str, number: int) -> None:
        """Pin a skill to one of its versions."""
        versions = self.world.rows("SELECT version FROM versions WHERE skill_id = ?", name)
        if versions:
            with suppress(NotInCatalog):
                self.store.pin(name, str(versions[number % len(versions)][0]), later(1))

    @rule(name=st.sampled_from(["one", "two"]))
    def unpin(self, name: str) -> None:
        """Make a skill follow its folder again."""
        with suppress(NotInCatalog):
            self.store.unpin(name, later(1))

    @rule(folder=folders)
    def forget(self, folder: str) -> None:
        """Discard the stored state of a folder."""
        self.store.skills.doubt([(str(self.world.root), folder)])

    @rule(folder=folders)
    def pend(self, folder: str) -> None:
        """Show a folder as still changing."""
        place = place_of(self.world.roots[0], folder)
        name, since = place.folder_name, later(1)
        self.store.skills.set_pending(place, name, name, since, "still changing")

    @rule(which=st.booleans())
    def reconfigure(self, which: bool) -> None:
        """Change the level of the root, as a new configuration does at a start."""
        self.world.roots = [RootSpec(str(self.world.root), "plugin" if which else "project")]
        self.world.restart()

    @rule()
    def lose_packages(self) -> None:
        """Delete all packages, and start again."""
        for folder, _, _ in os.walk(self.world.packages):
            os.chmod(folder, 0o755)
        shutil.rmtree(self.world.packages, ignore_errors=True)
        self.world.restart()

    # Invariants

    @invariant()
    def the_search_has_the_accepted_skills(self) -> None:
        """Check that the search has exactly these, and finds each by its own word."""
        assert list(verdicts.of_catalog(self.store.db)) == []
        accepted = self.world.rows(
            "SELECT s.id, s.current_version_id, v.skill_md_content FROM skills AS s"
            " JOIN version_contents AS v ON v.id = s.current_version_id"
            " WHERE s.status IN ('active', 'shadowed') ORDER BY s.id"
        )
        texts = self.world.rows("SELECT id, version FROM skill_text ORDER BY id")
        assert texts == [row[:2] for row in accepted]
        for skill, _, content in accepted:
            word = str(content).partition("word")[2].split()[0]
            hits = self.world.rows(
                "SELECT rowid FROM skill_text_fts WHERE skill_text_fts MATCH ?", f"word{word}"
            )
            assert (skill,) in hits
        for table in ("skills_fts", "skill_text_fts"):
            check = f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)"
            self.store.db.execute(check)

    def teardown(self) -> None:
        """Remove the folders."""
        self.store.close()
        shutil.rmtree(self.top, ignore_errors=True)


def test_the_search_has_just_the_accepted_skills(monkeypatch: pytest.MonkeyPatch) -> None:
    """After any events, in any order."""
    monkeypatch.setattr("pipeline.service.scanning.removals.FEWEST", 3)
    lives = settings(
        max_examples=25,
        stateful_step_count=30,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(2)(Lives), settings=lives)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return an empty root and its catalog."""
    made = World(tmp_path)
    yield made
    made.store.close()


def test_the_search_does_not_find_a_pending_runner_up(world: World, skill: SkillWriter) -> None:
    """Its folder vanished after the winner's, and its removal is held; that is no difference."""
    for folder in ("a", "b"):
        skill(world.root / folder / "start", description=f"In {folder}.")
    world.scan()
    shutil.rmtree(world.root / "a")
    shutil.rmtree(world.root / "b")
    world.look("a")
    world.store.removals.hold(str(world.root), ["b/start"], NO_ROOT, trigger="event", at=later(1))
    assert world.rows("SELECT status FROM skills WHERE path = 'b/start'") == [("pending",)]
    assert world.rows("SELECT id FROM skill_text") == []
    assert list(verdicts.of_catalog(world.store.db)) == []


def test_a_removed_skill_whose_packages_are_lost_does_not_return_to_the_search(
    world: World, skill: SkillWriter
) -> None:
    """It was pinned, and is unpinned."""
    skill(world.root / "one", description="First.")
    world.scan()
    ((version,),) = world.rows("SELECT version FROM versions")
    world.store.pin("one", str(version), later(1))
    shutil.rmtree(world.root / "one")
    world.scan()
    world.store.unpin("one", later(2))
    assert world.rows("SELECT status, pinned_version_id FROM skills") == [("removed", None)]
    assert world.rows("SELECT id FROM skill_text") == []


def test_the_search_finds_a_last_good_version_by_its_new_name(
    world: World, skill: SkillWriter
) -> None:
    """Its root became a plugin root, while its newest content is rejected."""
    skill(world.root / "tools/start")
    world.scan()
    (world.root / "tools/start/SKILL.md").write_text("---\nname: start\n---\n")
    world.roots = [RootSpec(str(world.root), "plugin")]
    world.restart()
    world.scan()
    assert world.rows("SELECT name FROM skills") == [("tools:start",)]
    assert world.rows(
        "SELECT f.name, t.version = s.current_version_id FROM skill_text_fts AS f"
        " JOIN skill_text AS t ON t.id = f.rowid JOIN skills AS s ON s.id = t.id"
    ) == [("tools:start", 1)]
