"""Superseded versions, whose SKILL.md no search finds, and current ones, whose has its name."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalog.filesystem.safe_open import open_file
from catalog.model.superseded import is_skill_file, stored_path
from catalog.prompt_index.builder import IndexSpec
from catalog.reading import skill_files
from catalog.reading.published import package_of
from catalog.writing.index_publisher import publish_indexes
from catalog.writing.packages import folder as packages_folder
from tests.support.packages import World, audits, later
from tests.support.records import NOON
from tests.support.skills import SkillWriter

HIDDEN = ".skilldrop-SKILL.md.superseded"


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> Iterator[World]:
    """Return a catalog with a skill of two versions, whose files hold other skills' SKILL.md."""
    made = World(tmp_path)
    for number in (1, 2):
        write(skill, made, number)
        made.scan()
    yield made
    made.store.close()


def write(skill: SkillWriter, world: World, number: int) -> None:
    """Write the skill with a number in every file."""
    skill(
        world.root / "a",
        description=f"Does {number}.",
        files={
            "scripts/run.sh": f"echo {number}\n",
            "assets/new/SKILL.md": f"template {number}",
            "assets/old/skill.MD": f"template {number}",
        },
    )


def versions(world: World) -> list[Path]:
    """Return the folders of the versions, oldest first."""
    rows = world.rows(
        "SELECT package_path FROM versions WHERE skill_id = 'a' AND package_path NOT NULL"
        " ORDER BY id"
    )
    return [world.packages / path for (path,) in rows]


def seen(world: World) -> set[Path]:
    """Return the folders in which a recursive search that follows no link finds a skill."""
    return {file.parent for file in world.packages.rglob("*") if is_skill_file(file.name)}


def of(version: Path) -> set[Path]:
    """Return the folders that hold a skill file in a version that is current."""
    return {version, version / "assets/new", version / "assets/old"}


def contents(version: Path) -> dict[str, tuple[bytes, int]]:
    """Return bytes and mode of each file of a version, by its path on the disk."""
    return {
        str(file.relative_to(version)): (file.read_bytes(), file.stat().st_mode & 0o777)
        for file in version.rglob("*")
        if file.is_file()
    }


def test_a_search_finds_only_the_current_version(world: World, skill: SkillWriter) -> None:
    """At any depth and in any case; the other files of a superseded version stay as they are."""
    former = contents(versions(world)[1])
    write(skill, world, 3)
    world.scan()
    first, second, third = versions(world)
    assert seen(world) == of(third)
    assert contents(second) == {
        stored_path(path, is_current=False): file for path, file in former.items()
    }
    assert {path.name for path in first.iterdir()} == {HIDDEN, "scripts", "assets"}
    folders = [path for version in (first, second) for path in version.rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in (first, second, *folders)} == {0o555}
    assert audits(world) == []


def test_a_rollback_shows_a_version_again_and_hides_the_other(world: World) -> None:
    """So does its end."""
    first, second = versions(world)
    world.store.pin("a", first.name, later(1))
    assert seen(world) == of(first)
    assert world.current("a") == first
    assert audits(world) == []
    world.store.unpin("a", later(2))
    assert seen(world) == of(second)
    assert audits(world) == []


def test_a_new_version_of_a_held_skill_is_not_found(world: World, skill: SkillWriter) -> None:
    """It has a package, but agents get the held version."""
    first, _ = versions(world)
    world.store.pin("a", first.name, later(1))
    write(skill, world, 3)
    world.scan()
    assert len(versions(world)) == 3
    assert seen(world) == of(first)
    assert audits(world) == []


def test_a_rebuilt_version_of_a_held_skill_is_hidden_again(world: World) -> None:
    """Its folder has the files, but agents get the held version."""
    first, second = versions(world)
    world.store.pin("a", first.name, later(1))
    second.chmod(0o755)
    (second / HIDDEN).unlink()
    assert [*world.store.repair.check(later(1))]
    assert versions(world) == [first, second]
    assert seen(world) == of(first)
    assert audits(world) == []


def test_a_removed_skill_is_not_found_once_no_index_names_it(
    world: World, skill: SkillWriter
) -> None:
    """Until then `current` leads to it; when the skill returns, so does its name."""
    _, second = versions(world)
    shutil.rmtree(world.root / "a")
    world.scan()
    assert seen(world) == of(second)
    publish_indexes(world.store, [], world.folder / "index", NOON)
    assert seen(world) == set()
    assert audits(world) == []
    write(skill, world, 2)
    world.scan()
    assert seen(world) == of(second)
    assert world.current("a") == second
    assert audits(world) == []


def test_a_superseded_version_is_read_under_its_own_paths(world: World) -> None:
    """Readers by command, HTTP and MCP name the files as the skill does."""
    first, _ = versions(world)
    package = package_of(world.store.db, world.packages, "a", first.name)
    assert "Does 1." in skill_files.read(package).text
    assert skill_files.read(package, "assets/new/SKILL.md").text == "template 1"
    assert skill_files.read(package, "assets/old/skill.MD").text == "template 1"


def test_a_version_is_read_while_its_files_are_renamed(world: World) -> None:
    """It has one name or the other at every moment, and both are tried, whichever is first."""
    first, _ = versions(world)
    package = package_of(world.store.db, world.packages, "a", first.name)
    states: list[bool] = []

    def renaming(*args: object) -> object:
        if states:
            rename(world, f"a/{first.name}", is_current=states.pop())
        return open_file(*args)  # type: ignore[arg-type]

    for first_states in ([], [True], [False], [True, False], [False, True]):
        states[:] = first_states
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("catalog.reading.skill_files.open_file", renaming)
            assert "Does 1." in skill_files.read(package).text


def rename(world: World, package_path: str, *, is_current: bool) -> None:
    """Give the SKILL.md of a package the name for a state."""
    assert world.store.packager.packaging
    with world.store.packager.packaging.folder.opened() as packages:
        packages.set_names(package_path, ["SKILL.md"], is_current=is_current)


def test_an_equal_skill_md_is_shared_with_a_hidden_one(world: World, skill: SkillWriter) -> None:
    """The newest version of a held skill is hidden, and the next version links to its files."""
    world.store.pin("a", versions(world)[0].name, later(1))
    (world.root / "a/scripts/run.sh").write_text("echo 3\n")
    world.scan()
    _, second, third = versions(world)
    assert (third / HIDDEN).samefile(second / HIDDEN)
    assert audits(world) == []


def test_an_older_data_directory_is_converted_by_the_next_start(world: World) -> None:
    """There, all versions have plain names; a current one that is hidden is shown again, too."""
    first, second = versions(world)
    for version, is_current in ((first, True), (second, False)):
        for folder, name in (("", "SKILL.md"), ("assets/new/", "SKILL.md")):
            move(
                version / stored_path(f"{folder}{name}", is_current=not is_current),
                version / stored_path(f"{folder}{name}", is_current=is_current),
            )
    world.store.db.execute("UPDATE versions SET retired_at = '2001' WHERE retired_at NOT NULL")
    assert {difference.message for difference in audits(world)} == {
        f"SKILL.md should be {HIDDEN}, as the version is not current",
        f"assets/new/SKILL.md should be assets/new/{HIDDEN}, as the version is not current",
        f"{HIDDEN} should be SKILL.md, as the version is current",
        f"assets/new/{HIDDEN} should be assets/new/SKILL.md, as the version is current",
    }
    world.restart()
    assert seen(world) == of(second)
    assert audits(world) == []


def move(file: Path, target: Path) -> None:
    """Rename a file in a read-only directory."""
    file.parent.chmod(0o755)
    file.rename(target)
    file.parent.chmod(0o555)


def test_a_directory_that_a_crash_left_writable_is_locked_by_the_next_start(world: World) -> None:
    """The crash came after the file was renamed."""
    first, _ = versions(world)
    first.chmod(0o755)
    world.restart()
    assert first.stat().st_mode & 0o777 == 0o555
    assert audits(world) == []


@pytest.mark.parametrize("harm", ["directory", "link to a file", "link above", "missing"])
def test_damage_stops_no_publication_and_no_link_is_followed(
    world: World, skill: SkillWriter, tmp_path: Path, harm: str
) -> None:
    """The verification that follows finds the damage."""
    _, second = versions(world)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("mine")
    second.chmod(0o755)
    (second / "assets").chmod(0o755)
    if harm == "directory":
        (second / HIDDEN).mkdir()
    elif harm == "link to a file":
        (second / HIDDEN).symlink_to(outside / "SKILL.md")
    elif harm == "link above":
        (second / "assets/new").chmod(0o755)
        shutil.rmtree(second / "assets/new")
        (second / "assets/new").symlink_to(outside)
    else:
        (second / "SKILL.md").unlink()
    write(skill, world, 3)
    world.scan()
    third = versions(world)[-1]
    assert world.current("a") == third
    assert of(third) <= seen(world)
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("SKILL.md", "mine")]
    assert [*world.store.repair.check(later(1), deep=True)]
    assert seen(world) == of(third)
    assert audits(world) == []


def test_a_renaming_that_fails_is_repeated(
    world: World, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new version is public already; the next publication hides the former one."""

    def failing(*_: object) -> None:
        raise OSError(5, "Input/output error")

    write(skill, world, 3)
    with monkeypatch.context() as patch:
        patch.setattr(packages_folder, "_rename", failing)
        with pytest.raises(OSError, match="Input/output error"):
            world.scan()
    *_, third = versions(world)
    assert world.current("a") == third
    publish_indexes(world.store, [], world.folder / "index", NOON)
    assert seen(world) == of(third)
    assert audits(world) == []


def died(world: World, owner: object, name: str, nth: int, then: Callable[[World], object]) -> int:
    """Return the exit code of a process that is killed at the nth call of a function."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        real, calls = getattr(owner, name), iter(range(1, 1000))

        def deadly(*args: object, **kwargs: object) -> object:
            if next(calls) == nth:
                os._exit(9)
            return real(*args, **kwargs)

        again = World(world.folder)
        setattr(owner, name, deadly)
        then(again)
        os._exit(0)
    finally:
        os._exit(1)  # even after an error, this process must not continue the tests


@pytest.mark.parametrize("nth", range(1, 7))
@pytest.mark.parametrize("name", ["rename", "replace"])
def test_a_crash_of_a_rollback_leaves_a_current_version_with_its_skill_md(
    world: World, name: str, nth: int
) -> None:
    """At any step; the next start ends the rollback."""
    first, _ = versions(world)
    world.store.close()
    status = died(world, os, name, nth, lambda it: it.store.pin("a", first.name, later(1)))
    assert status == 9 or (name, nth) > ("replace", 1)
    assert of(world.current("a")) <= seen(world)
    world.store = world.opened()
    assert world.current("a") == first
    assert seen(world) == of(first)
    assert audits(world) == []


def test_versions_named_by_an_index_keep_their_skill_md(world: World) -> None:
    """For agents that hold their paths; not with an index of URLs, which the site answers."""
    current = versions(world)[-1]
    assert seen(world) == of(current)
    for base, found in ((None, versions(world)), ("https://x.example/skills", [current])):
        spec = IndexSpec(locations="version", location_base=base)
        world.store.indexes.configure([spec])
        world.restart()
        assert seen(world) == set().union(*map(of, found))
        assert audits(world) == []


def test_a_version_named_by_an_index_stays_when_the_next_one_comes(
    world: World, skill: SkillWriter
) -> None:
    """Nothing is hidden for a moment."""
    world.store.indexes.configure([IndexSpec(locations="version")])
    world.restart()
    write(skill, world, 3)
    world.scan()
    assert len(versions(world)) == 3
    assert seen(world) == set().union(*map(of, versions(world)))
    assert audits(world) == []


def test_a_reader_of_a_service_may_finish_with_a_version(
    world: World, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For two seconds after `current` leads elsewhere."""
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    world.store.packager.leave_to_readers(2.0)
    (former,) = seen(world) & set(versions(world))
    write(skill, world, 3)
    world.scan()
    assert former in seen(world)
    now += 1.9
    world.store.packager.switch_current()
    assert former in seen(world)
    now += 0.2
    world.store.packager.switch_current()
    assert seen(world) == of(versions(world)[-1])
