"""What is found amiss between catalog and packages, and mended."""

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
    """Look at all packages and return the paths of skills to look at again."""
    return [path for again in world.store.repair.check(later(1), deep=deep) for _, path in again]


@pytest.mark.parametrize(
    "harm", ["file lost", "file cut", "file added", "link instead", "directory instead"]
)
def test_a_damaged_package_is_made_again(world: World, harm: str) -> None:
    """Its list of files and their sizes tell it."""
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


def test_a_directory_instead_of_current_gives_way_to_the_link(world: World) -> None:
    """A backup whose links were followed has one."""
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
def test_what_is_not_ours_in_the_place_of_a_link_is_put_aside(
    world: World, caplog: pytest.LogCaptureFixture, what: str, name: str, is_public: bool
) -> None:
    """Nothing of it is lost, the log says where it is, and the link comes into its place."""
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
    before = found(place)
    if not is_public:
        shutil.rmtree(world.root / "a")
        world.scan()
    world.restart()
    aside = place.with_name(f"{name}.~1~")
    assert found(aside) == before
    assert f"{place} was not made by skilldrop; it was renamed to {aside.name}" in caplog.text
    assert os.path.lexists(world.packages / "a/current") is is_public
    assert world.current("a") == package or not is_public


def found(place: Path) -> dict[str, bytes]:
    """Return what lies at and below a place, by path."""
    return {
        str(path.relative_to(place)): b"" if path.is_dir() else path.read_bytes()
        for path in (place, *place.rglob("*"))
    }


def test_bytes_that_were_altered_are_found_by_a_deep_look(world: World) -> None:
    """They are not taken over from the version before, which shares the file."""
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
    ) == [(1,), (0,)]


def test_a_damaged_package_whose_folder_changed_waits(world: World) -> None:
    """What cannot be made again is not given out any more."""
    package = world.current("a")
    package.chmod(0o755)
    (package / "x.txt").unlink()
    (world.root / "a/x.txt").write_text("changed")
    assert check(world) == ["a"]
    assert world.rows("SELECT status, package_path FROM skills WHERE path = 'a'") == [
        ("pending", None)
    ]
    world.scan()
    assert (world.current("a") / "x.txt").read_text() == "changed"
    assert world.differences() == []


def test_packages_are_left_alone_beside_a_new_catalog(world: World) -> None:
    """Agents read on while a lost catalog is made anew; at the next start the old ones go."""
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


def test_packages_of_a_first_ingest_that_was_killed_are_swept(world: World) -> None:
    """No `current` ever led to them, so nobody reads them, though the catalog is still empty."""
    world.store.close()
    for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
        (world.folder / name).unlink(missing_ok=True)
    (world.packages / "a/current").unlink()
    world.store = world.opened()
    assert not any(path.is_dir() for path in (world.packages / "a").glob("*"))


def test_leftovers_of_every_kind_are_swept(world: World) -> None:
    """Half made packages, links beside `current`, and shelves of nobody."""
    (world.packages / "a/20200101-000000/deep").mkdir(parents=True)
    os.symlink("nowhere", world.packages / "a/.current")
    (world.packages / "nobody").mkdir()
    os.symlink("20200101-000000", world.packages / "nobody/current")
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
    assert not (world.packages / "nobody").exists()


A_YEAR = 60 * 24 * 365
"""Minutes."""


def alter(file: Path) -> None:
    """Change bytes of a published file, so that its size and mode stay."""
    mode = file.stat().st_mode & 0o777
    file.chmod(0o644)
    file.write_bytes(file.read_bytes().upper())
    file.chmod(mode)


def verify(world: World, minutes: int) -> list[str]:
    """Verify as many packages as a re-scan does, long after all that tests do, which is today.

    Return the paths to look at again.
    """
    return [
        path
        for again in world.store.repair.verify(lambda: later(A_YEAR + minutes))
        for _, path in again
    ]


def test_what_was_verified_longest_ago_is_verified_next(
    world: World, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """A tenth of all each time, so that damage anywhere is mended, told and counted in the end."""
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
    assert world.rows("SELECT packages_mended FROM health") == [(2,)]
    assert f"{world.current('s7')}: SKILL.md differs from the accepted version; it was rebuilt" in (
        caplog.text
    )


def test_an_older_version_that_is_damaged_is_removed(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """No folder holds its files any more, and nobody is to be given others."""
    (oldest,) = world.rows("SELECT min(package_path) FROM versions WHERE skill_id = 'a'")[0]
    alter(world.packages / str(oldest) / "y.txt")
    for turn in range(3):
        verify(world, turn)
    assert not (world.packages / str(oldest)).exists()
    assert "removed, because its files exist nowhere else" in caplog.text
    assert world.differences() == []


@pytest.mark.parametrize("mode", [0o777, 0o644, 0])
@pytest.mark.parametrize("path", ["", "SKILL.md"])
def test_wrong_modes_are_set_right(world: World, path: str, mode: int) -> None:
    """Also of a version that could not be made again, which stays."""
    (oldest,) = world.rows("SELECT min(package_path) FROM versions WHERE skill_id = 'a'")[0]
    place = world.packages / str(oldest) / path
    inode = place.stat().st_ino
    place.chmod(mode)
    assert check(world) == []
    assert (place.stat().st_ino, place.stat().st_mode & 0o777) == (inode, 0o444 if path else 0o555)
    assert world.rows("SELECT packages_mended FROM health") == [(1,)]


def test_a_file_whose_mode_was_wrong_is_read_before_it_is_believed(world: World) -> None:
    """Somebody may have written to it."""
    file = world.current("a") / "x.txt"
    file.chmod(0o644)
    file.write_text("SAME")
    assert check(world) == []
    assert file.read_text() == "same"
    assert world.differences() == []
