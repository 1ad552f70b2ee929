"""Nothing is removed but what skilldrop itself made, whatever lies beside it or is linked there.

A scan that could follow a link or a mount runs where only the test's own folder can be written.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from catalog.filesystem.ownership import MARKER
from catalog.model.errors import FolderNotOwned
from pipeline.service.reconcile import compare
from pipeline.service.scanning.engines import serial
from tests.support.confinement import run_confined
from tests.support.program import run
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter

SKILLDROP = Path(sys.executable).with_name("skilldrop")


def scan(folder: Path, *more: str) -> tuple[int, str]:
    """Make one pass in this process; return the exit code and what was said of errors.

    Only for what reaches nothing outside even where it goes wrong: nothing is linked or mounted.
    """
    catalog = ("--watched", folder / "watched", "--data", folder / "data")
    done = run(*catalog, *(more or ("scan",)))
    return done.returncode, done.stderr


def scan_confined(folder: Path, *more: str) -> tuple[int, str]:
    """Make one pass, confined to a folder; return the exit code and what was said of errors."""
    done = run_confined(
        folder,
        SKILLDROP,
        "--watched",
        folder / "watched",
        "--data",
        folder / "data",
        *(more or ("scan",)),
    )
    return done.returncode, done.stderr


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, through no link, with its content."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }


@pytest.fixture
def top(tmp_path: Path, skill: SkillWriter) -> Path:
    """Return a folder with one root of one skill."""
    skill(tmp_path / "top/watched/count", files={"scripts/run.py": "print(1)"})
    return tmp_path / "top"


@pytest.fixture
def outside(top: Path) -> Path:
    """Return a folder that has nothing to do with the catalog beside it."""
    for path in ("20250101-000000/thesis.txt", "notes/a.txt", "top.txt"):
        file = top / "outside" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    return top / "outside"


PLACES = [
    "elsewhere",
    "count",
    "tally/current",
    "tally/20250101-000000",
    "tally/else",
    "gone/20250101-000000",
]


def test_a_link_among_the_packages_is_never_followed(
    top: Path, outside: Path, skill: SkillWriter
) -> None:
    """The target of a link with any name is unchanged."""
    skill(top / "watched/tally")
    assert scan(top) == (0, "")
    before = files(outside)
    for place in PLACES:
        link = top / "data/packages" / place
        shutil.copytree(outside, top / "led to" / place)
        if os.path.lexists(link):
            link.rename(top / f"away-{link.name}")
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(top / "led to" / place)
    assert scan_confined(top)[0] == 0
    assert {place: files(top / "led to" / place) for place in PLACES} == dict.fromkeys(
        PLACES, before
    )
    for name in ("count", "tally"):
        assert (top / "data/packages" / name / "current/SKILL.md").is_file()


@pytest.mark.parametrize("name", ["packages", "index", "outcomes"])
def test_a_folder_of_somebody_else_is_refused(top: Path, outside: Path, name: str) -> None:
    """In one sentence, before anything is written, and as often as it is tried."""
    shutil.copytree(outside, top / "data" / name)
    before = files(top / "data")
    for _ in range(2):
        code, said = scan(top)
        assert (code, files(top / "data")) == (2, before)
        assert said.count("\n") == 1
        assert f"{top}/data/{name} " in said


@pytest.mark.parametrize("name", ["packages", "index"])
def test_a_link_in_place_of_a_folder_is_refused(top: Path, outside: Path, name: str) -> None:
    """Also where the catalog had a folder of its own there before."""
    assert scan(top)[0] == 0
    (top / "data" / name).rename(top / "away")
    (top / "data" / name).symlink_to(outside)
    before = files(outside)
    code, said = scan_confined(top)
    assert (code, files(outside)) == (2, before)
    assert f"{top}/data/{name} " in said


def test_the_folders_of_another_catalog_are_refused(top: Path) -> None:
    """Each has its own identity, though both are made by skilldrop."""
    assert scan(top)[0] == 0
    before = files(top / "data/packages")
    code, said = scan(top, "--data", str(top / "other"), "scan")
    assert code == 0, said
    shutil.rmtree(top / "other/packages")
    (top / "other/packages").symlink_to(top / "data/packages")
    code, said = scan_confined(top, "--data", str(top / "other"), "scan")
    assert (code, files(top / "data/packages")) == (2, before)
    assert "belongs to another catalog" in said


def test_a_packages_folder_that_cannot_be_written_is_named(top: Path, skill: SkillWriter) -> None:
    """In one sentence that says what stands in the way; the catalog is as it was."""
    assert scan(top)[0] == 0
    skill(top / "watched/tally")
    packages = top / "data/packages"
    done = run_confined(
        top,
        "sh",
        "-c",
        'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
        packages,
        SKILLDROP,
        "--watched",
        top / "watched",
        "--data",
        top / "data",
        "scan",
    )
    assert done.returncode == 2
    assert f"{packages}/tally" in done.stderr
    assert "cannot be used: Read-only file system." in done.stderr
    assert done.stderr.count("\n") == 1
    assert scan(top)[0] == 0
    assert (packages / "tally/current/SKILL.md").is_file()


# What removes nothing but its own also where it goes wrong needs no confinement


@pytest.fixture
def shelf(top: Path) -> Shelf:
    """Return the same root with its catalog, which is scanned in this process."""
    return Shelf(top)


def test_an_empty_marker_hands_a_folder_over(
    shelf: Shelf, outside: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its contents stay, except entries with a name that skilldrop gives."""
    shutil.copytree(outside, shelf.packages)
    with pytest.raises(FolderNotOwned, match="hand it over with an empty file"):
        shelf.scan()
    (shelf.packages / MARKER).touch()
    shelf.scan()
    assert f"{shelf.packages}/top.txt was not made by skilldrop" in caplog.text
    assert files(shelf.packages / "notes") == files(outside / "notes")
    assert (shelf.packages / "count/current/SKILL.md").is_file()


def test_a_file_of_somebody_else_is_no_marker(top: Path, outside: Path) -> None:
    """Though it has the name of a marker and begins with an empty line, it is not written over."""
    shutil.copytree(outside, top / "data/packages")
    (top / "data/packages" / MARKER).write_text("\nTo do: buy milk.\n")
    before = files(top / "data")
    code, said = scan(top)
    assert (code, files(top / "data")) == (2, before)
    assert f"{top}/data/packages " in said


@pytest.mark.parametrize("has_packages", [True, False])
def test_a_lost_catalog_is_no_dead_end(shelf: Shelf, has_packages: bool) -> None:
    """A new catalog takes over the folders of the lost one."""
    shelf.scan()
    data = shelf.settings.data
    for file in data.glob("catalog.db*"):
        file.unlink()
    if not has_packages:
        shelf.packages.rename(data / "away")
    shelf.scan()
    assert (shelf.packages / "count/current/SKILL.md").is_file()
    marked = [(data / name / MARKER).read_text().split()[:3] for name in ("packages", "index")]
    assert [words[:2] for words in marked] == [["skilldrop", "packages"], ["skilldrop", "index"]]
    assert marked[0][2] == marked[1][2]


def test_what_is_not_ours_among_the_packages_is_told(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log at a start, and as a difference until it is moved away."""
    shelf.scan()
    paths = ("README.txt", "count/notes.txt", "Not An Id/x.txt", "count/20250101-000000x/y")
    for path in paths:
        (shelf.packages / path).parent.mkdir(exist_ok=True)
        (shelf.packages / path).write_text("mine")
    shelf.scan()
    assert caplog.text.count("was not made by skilldrop") == len(paths)
    assert [(shelf.packages / path).read_text() for path in paths] == ["mine"] * len(paths)
    assert len(compare(shelf.settings, engine=serial).differences) == len(paths)


def test_what_is_mounted_among_the_packages_stays(top: Path, outside: Path) -> None:
    """A mount is no link, and what is mounted is no package, whatever name its place has."""
    assert scan(top)[0] == 0
    place = top / "data/packages/count/20250101-000000"
    place.mkdir()
    before = files(outside)
    done = run_confined(
        top,
        "sh",
        "-c",
        'mount --bind "$1" "$2" && shift 2 && exec "$@"',
        "sh",
        outside,
        place,
        SKILLDROP,
        "--watched",
        top / "watched",
        "--data",
        top / "data",
        "scan",
    )
    assert files(outside) == before
    assert f"{place} cannot be used: a file system is mounted there" in done.stderr
