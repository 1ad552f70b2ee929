"""Repair of differences between catalog and packages."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.packages import World, later
from tests.support.skills import SkillWriter


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> Iterator[World]:
    """Return a catalog with two skills, one of them of two versions."""
    made = World(tmp_path)
    skill(made.root / "b", files={"x.txt": "same"})
    skill(made.root / "a", files={"x.txt": "same", "y.txt": "y1"})
    made.scan()
    skill(made.root / "a", files={"x.txt": "same", "y.txt": "y2"})
    made.scan()
    yield made
    made.store.close()


def check(world: World, *, deep: bool = False) -> list[str]:
    """Check all packages and return the paths of skills to scan again."""
    return [path for again in world.store.repair.check(later(1), deep=deep) for _, path in again]


@pytest.mark.parametrize(
    "harm", ["file lost", "file cut", "file added", "link instead", "directory instead"]
)
def test_a_damaged_package_is_rebuilt(world: World, harm: str) -> None:
    """A difference in files or sizes is enough."""
    package = world.current("a")
    package.chmod(0o755)
    file = package / "x.txt"
    if harm == "file added":
        (package / "more.txt").write_text("more")
    else:
        file.unlink()
    if harm == "file cut":
        file.write_text("sam")
    elif harm == "link instead":
        file.symlink_to("SKILL.md")
    elif harm == "directory instead":
        file.mkdir()
    assert world.differences() != []
    assert check(world) == []
    assert world.differences() == []
    assert world.current("a") == package


def test_the_link_replaces_a_directory_named_current(world: World) -> None:
    """A backup that follows links creates one."""
    current = world.packages / "a/current"
    package = current.resolve()
    current.unlink()
    shutil.copytree(package, current)
    assert world.differences() != []
    world.restart()
    assert current.is_symlink()
    assert current.resolve() == package
    assert world.differences() == []


@pytest.mark.parametrize("is_public", [True, False])
@pytest.mark.parametrize("name", ["current", ".current"])
@pytest.mark.parametrize("what", ["directory", "directory like a package", "empty", "file"])
def test_a_foreign_file_in_place_of_a_link_is_renamed(
    world: World, caplog: pytest.LogCaptureFixture, what: str, name: str, is_public: bool
) -> None:
    """It is kept, the log names its new path, and the link takes its place."""
    place = world.packages / "a" / name
    package = world.current("a")
    (world.packages / "a/current").unlink()
    if what == "file":
        place.write_text("mine")
    elif what == "directory like a package":
        shutil.copytree(package, place)
        (place / "SKILL.md").chmod(0o644)
        (place / "SKILL.md").write_bytes((place / "SKILL.md").read_bytes().swapcase())
    else:
        place.mkdir()
        if what == "directory":
            (place / "thesis.txt").write_text("mine")
    before = contents(place)
    if not is_public:
        shutil.rmtree(world.root / "a")
        world.scan()
    world.restart()
    aside = place.with_name(f"{name}.~1~")
    assert contents(aside) == before
    assert f"{place} was not made by skilldrop; it was renamed to {aside.name}" in caplog.text
    assert os.path.lexists(world.packages / "a/current") is is_public
    assert world.current("a") == package or not is_public


def contents(place: Path) -> dict[str, bytes]:
    """Return the contents at and below a path, by relative path."""
    return {
        str(path.relative_to(place)): b"" if path.is_dir() else path.read_bytes()
        for path in (place, *place.rglob("*"))
    }


def test_a_deep_check_finds_altered_bytes(tmp_path: Path, skill: SkillWriter) -> None:
    """The package is made again from its folder, and the previous version stays."""
    world = World(tmp_path / "another")
    for number in (1, 2):
        skill(world.root / "a", files={"x.txt": "same", "y.txt": f"y{number}"})
        world.scan()
    file = world.current("a") / "x.txt"
    file.chmod(0o644)
    file.write_text("SAME")
    file.chmod(0o444)
    assert check(world) == []
    assert world.differences() == ["a/" + file.parent.name + "/x.txt"]
    assert check(world, deep=True) == []
    assert world.differences() == []
    assert (world.current("a") / "x.txt").read_text() == "same"
    assert world.rows(
        "SELECT package_path IS NULL FROM versions WHERE skill_id = 'a' ORDER BY id"
    ) == [(0,), (0,)]
    world.store.close()


def test_a_damaged_package_whose_folder_changed_is_not_published(world: World) -> None:
    """The skill is pending, because its package cannot be rebuilt."""
    package = world.current("a")
    package.chmod(0o755)
    (package / "y.txt").unlink()
    (world.root / "a/y.txt").write_text("changed")
    assert check(world) == ["a"]
    assert world.rows("SELECT status, package_path FROM skills WHERE path = 'a'") == [
        ("pending", None)
    ]
    world.scan()
    assert (world.current("a") / "y.txt").read_text() == "changed"
    assert world.differences() == []


def test_packages_stay_beside_a_new_catalog(world: World) -> None:
    """Agents keep reading while a lost catalog is rebuilt; the next start removes old packages."""
    before = world.current("a")
    world.store.close()
    for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
        (world.folder / name).unlink(missing_ok=True)
    world.store = world.opened()
    assert world.current("a") == before
    assert (before / "SKILL.md").is_file()
    world.scan()
    world.restart()
    assert world.differences() == []


def test_packages_of_a_killed_first_scan_are_removed(world: World) -> None:
    """No `current` ever led to any, so no agent reads them, even with an empty catalog."""
    world.store.close()
    for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
        (world.folder / name).unlink(missing_ok=True)
    for current in world.packages.glob("*/current"):
        current.unlink()
    world.store = world.opened()
    assert not any(path.is_dir() for path in (world.packages / "a").glob("*"))


def test_leftovers_of_every_kind_are_removed(world: World) -> None:
    """Unfinished packages, links beside `current`, and directories of unknown skills."""
    (world.packages / "a/20200101-000000/deep").mkdir(parents=True)
    os.symlink("nowhere", world.packages / "a/.current")
    (world.packages / "unknown").mkdir()
    os.symlink("20200101-000000", world.packages / "unknown/current")
    world.restart()
    assert sorted(path.name for path in (world.packages / "a").iterdir()) == sorted(
        [
            *(
                version
                for (version,) in world.rows("SELECT version FROM versions WHERE skill_id = 'a'")
            ),
            "current",
        ]
    )
    assert not (world.packages / "unknown").exists()


A_YEAR = 60 * 24 * 365
"""Minutes."""


def alter(file: Path) -> None:
    """Change bytes of a published file, so that its size and mode stay."""
    mode = file.stat().st_mode & 0o777
    file.chmod(0o644)
    file.write_bytes(file.read_bytes().upper())
    file.chmod(mode)


def verify(world: World, minutes: int) -> list[str]:
    """Verify as many packages as a re-scan does, at a time long after all tests.

    Return the paths to scan again.
    """
    return [
        path
        for again in world.store.repair.verify(lambda: later(A_YEAR + minutes))
        for _, path in again
    ]


def test_the_longest_unverified_packages_are_verified_next(
    world: World, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """A tenth each time, so that any damage is eventually repaired, logged and counted."""
    for number in range(20):
        skill(world.root / f"s{number}", files={"x.txt": f"text {number}"})
    world.scan()
    (count,) = world.rows("SELECT count(*) FROM versions WHERE package_path IS NOT NULL")[0]
    alter(world.current("s19") / "x.txt")
    alter(world.current("s7") / "SKILL.md")
    assert count == 23
    for turn in range(8):
        assert verify(world, turn) == []
        verified = world.rows(
            "SELECT count(*) FROM versions WHERE verified_at > ?",
            later(A_YEAR - 1).isoformat(timespec="milliseconds"),
        )
        assert verified == [(min(3 * (turn + 1), count),)]
    assert world.differences() == []
    assert world.rows("SELECT packages_repaired FROM health") == [(2,)]
    assert f"{world.current('s7')}: SKILL.md differs from the accepted version; it was rebuilt" in (
        caplog.text
    )


def test_an_older_version_that_is_damaged_is_removed(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """No folder has its files any more, and it must not be published with other files."""
    (oldest,) = world.rows("SELECT min(package_path) FROM versions WHERE skill_id = 'a'")[0]
    alter(world.packages / str(oldest) / "y.txt")
    for turn in range(3):
        verify(world, turn)
    assert not (world.packages / str(oldest)).exists()
    assert "removed, because its files exist nowhere else" in caplog.text
    assert world.differences() == []


@pytest.mark.parametrize("mode", [0o777, 0o644, 0])
@pytest.mark.parametrize("path", ["", "x.txt", "SKILL.md"])
def test_wrong_modes_are_corrected(world: World, path: str, mode: int) -> None:
    """Even for a version that could not be rebuilt, which stays."""
    (oldest,) = world.rows("SELECT min(package_path) FROM versions WHERE skill_id = 'a'")[0]
    place = world.packages / str(oldest) / path
    inode = place.stat().st_ino
    place.chmod(mode)
    assert check(world) == []
    assert (place.stat().st_ino, place.stat().st_mode & 0o777) == (inode, 0o444 if path else 0o555)
    assert world.rows("SELECT packages_repaired FROM health") == [(1,)]


def test_a_file_with_a_wrong_mode_is_hashed(world: World) -> None:
    """Its content may have changed."""
    file = world.current("a") / "x.txt"
    file.chmod(0o644)
    file.write_text("SAME")
    assert check(world) == []
    assert file.read_text() == "same"
    assert world.differences() == []
