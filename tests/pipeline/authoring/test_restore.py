"""Removed skills that come back as new folders."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catalog.model.errors import NotInCatalog, NotPossible, PackageDamaged
from catalog.model.skill import GitOrigin, RootSpec
from catalog.reading.skills.versions import history
from pipeline.authoring.restore import restore
from tests.support.made_archives import pack_zip
from tests.support.program import run
from tests.support.shelf import Shelf
from tests.support.skills import write_skill


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Return a root from which a skill with two versions was removed."""
    made = Shelf(tmp_path)
    folder = made.root / "team/a"
    for word in ("One", "Two"):
        write_skill(folder, description=f"{word}.", files={"scripts/run.sh": f"echo {word}"})
        (folder / "scripts/run.sh").chmod(0o755)
        made.scan()
    (made.root / "team").rename(tmp_path / "away")
    made.scan()
    yield made
    made.close()


def bring_back(
    shelf: Shelf, name: str = "a", roots: Sequence[RootSpec] | None = None, **wishes: Any
) -> str:
    """Restore a skill of the shelf, and return its place."""
    options = {"version": None, "to": None, "progress": lambda _: None} | wishes
    roots = shelf.settings.root_specs if roots is None else roots
    return restore(shelf.db, shelf.packages, roots, name, **options)[2]


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and modes of the files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode) for path in files
    }


def test_a_skill_whose_folder_went_after_the_last_scan_comes_back(
    shelf: Shelf, tmp_path: Path
) -> None:
    """The catalog does not know yet that it is removed."""
    bring_back(shelf)
    shelf.scan()
    (shelf.root / "team/a").rename(tmp_path / "later")
    bring_back(shelf)
    assert content(shelf.root / "team/a") == content(tmp_path / "later")


def test_a_removed_skill_is_again_what_it_was(shelf: Shelf, tmp_path: Path) -> None:
    """Its last version has its place, and its history goes on."""
    counts: list[int] = []
    done = bring_back(shelf, progress=counts.append)
    assert (done, counts) == (f"{shelf.root}/team/a", [1, 2])
    assert content(shelf.root / "team/a") == content(tmp_path / "away/a")
    assert [path.name for path in (shelf.root / "team").iterdir()] == ["a"]
    shelf.scan()
    assert shelf.db.execute("SELECT status FROM skills").fetchall() == [("active",)]
    assert len(history(shelf.db, "a")["versions"]) == 2


def test_an_earlier_version_comes_back_elsewhere(shelf: Shelf, tmp_path: Path) -> None:
    """As a new folder with the name of the skill's."""
    first = history(shelf.db, "a")["versions"][-1]["version"]
    (tmp_path / "here").mkdir()
    bring_back(shelf, version=first, to=tmp_path / "here")
    assert (tmp_path / "here/a/scripts/run.sh").read_text() == "echo One"
    with pytest.raises(NotInCatalog, match="no longer kept"):
        bring_back(shelf, version="20000101-000000", to=tmp_path / "here")


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_nothing_is_replaced(shelf: Shelf, tmp_path: Path, kind: str) -> None:
    """Neither an empty folder, nor what a link leads to."""
    place = shelf.root / "team/a"
    place.parent.mkdir()
    place.mkdir() if kind == "folder" else place.symlink_to(tmp_path)
    with pytest.raises(NotPossible, match="File exists"):
        bring_back(shelf)
    assert [path.name for path in place.parent.iterdir()] == ["a"]
    assert place.is_symlink() or not any(place.iterdir())


def test_no_link_on_the_way_is_followed(shelf: Shelf, tmp_path: Path) -> None:
    """A person names the directory instead."""
    (tmp_path / "out").mkdir()
    (shelf.root / "team").symlink_to(tmp_path / "out")
    with pytest.raises(NotPossible, match="Not a directory"):
        bring_back(shelf)
    assert not any((tmp_path / "out").iterdir())


def test_a_skill_whose_whole_root_is_away_is_not_restored(shelf: Shelf, tmp_path: Path) -> None:
    """Its folder comes back with the root, as after a disk was away."""
    bring_back(shelf)
    shelf.scan()
    shelf.root.rename(tmp_path / "unplugged")
    with pytest.raises(NotPossible, match="is not removed"):
        bring_back(shelf)


def test_a_skill_that_is_there_is_not_restored(shelf: Shelf) -> None:
    """Its earlier versions are published by a pin."""
    bring_back(shelf)
    shelf.scan()
    with pytest.raises(NotPossible, match=r"is not removed: its folder is .*/team/a\. .* pin"):
        bring_back(shelf)


def test_a_root_that_takes_no_folder_leaves_it_to_the_next(shelf: Shelf, tmp_path: Path) -> None:
    """A mirror is changed by commits, and a root may have left the settings."""
    (tmp_path / "next").mkdir()
    (own,) = shelf.settings.root_specs
    other, mirror = RootSpec(str(tmp_path / "next")), replace(own, origin=GitOrigin("/git"))
    done = bring_back(shelf, roots=[mirror, other])
    assert done == f"{other.path}/a"
    (tmp_path / "next/a").rename(tmp_path / "next/b")
    assert bring_back(shelf, roots=[other]) == done
    with pytest.raises(NotPossible, match="Use --to DIRECTORY"):
        bring_back(shelf, roots=[mirror])


def test_a_skill_of_an_archive_comes_back_as_a_folder(shelf: Shelf, tmp_path: Path) -> None:
    """No archive is written."""
    pack_zip(write_skill(tmp_path / "packed"), shelf.root / "x.zip")
    shelf.scan()
    (shelf.root / "x.zip").unlink()
    shelf.scan()
    assert bring_back(shelf, "packed") == f"{shelf.root}/packed"


def test_a_damaged_version_leaves_nothing(shelf: Shelf) -> None:
    """Half a folder would be taken for the skill."""
    shelf.loosen()
    for file in shelf.packages.rglob("run.sh"):
        file.chmod(0o644)
        file.write_text("echo Bad")
    with pytest.raises(PackageDamaged):
        bring_back(shelf)
    assert not any((shelf.root / "team").iterdir())


def test_commands_lead_back_to_a_removed_skill(shelf: Shelf, tmp_path: Path) -> None:
    """`remove` names the command, and versions can be read meanwhile."""
    write_skill(shelf.root / "b", description="Counts.")
    shelf.scan()
    places = ("--watched", shelf.root, "--data", shelf.settings.data)
    assert " restore b` brings its newest version back." in run(*places, "remove", "b").stdout
    shelf.scan()
    (version,) = (each["version"] for each in history(shelf.db, "b")["versions"])
    assert " restore` brings it back" in run(*places, "read", "b").stderr
    assert "Counts." in run(*places, "read", "b", "--version", version).stdout
    done = run(*places, "restore", "b")
    assert done.returncode == 0
    assert f"Restored b, version {version}, to {shelf.root}/b." in done.stdout
    assert (shelf.root / "b/SKILL.md").is_file()


def test_a_bare_name_suffices_and_a_folder_outside_the_roots_is_not_called_published(
    tmp_path: Path,
) -> None:
    """A skill of a plugin comes back by the part of its name after the colon."""
    write_skill(tmp_path / "root/ann/installer")
    settings = tmp_path / "skilldrop.toml"
    settings.write_text("data = 'data'\n[[roots]]\npath = 'root'\nlevel = 'plugin'\n")
    program = "--config", settings
    options = {"SKILLDROP_SETTLE_QUIET": "0"}
    run(*program, "scan", **options)
    assert run(*program, "remove", "installer").returncode == 0
    run(*program, "scan", **options)
    (tmp_path / "drafts").mkdir()
    outside = run(*program, "restore", "installer", "--to", tmp_path / "drafts")
    assert (tmp_path / "drafts/installer/SKILL.md").is_file()
    assert "publishes it" not in outside.stdout
    inside = run(*program, "restore", "installer")
    assert f"installer. `skilldrop --config {settings} scan` publishes it." in inside.stdout
