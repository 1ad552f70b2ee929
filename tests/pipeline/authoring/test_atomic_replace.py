import ctypes
import os
import shutil
import sys
from collections.abc import Container
from itertools import count
from pathlib import Path

import pytest

from pipeline.authoring.atomic_replace import built_beside, exchange, put


def tree(folder: Path) -> dict[str, bytes]:
    """Return the content of every file."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a folder to be replaced."""
    (tmp_path / "dice" / "scripts").mkdir(parents=True)
    (tmp_path / "dice" / "SKILL.md").write_bytes(b"old")
    (tmp_path / "dice" / "scripts" / "main.ts").write_bytes(b"old script")
    (tmp_path / "dice" / "away").symlink_to("/nowhere")
    return tmp_path / "dice"


def replace_it(old: Path) -> Path:
    """Replace the folder by a changed copy of itself."""
    with built_beside(old, old) as built:
        (built / "SKILL.md").write_bytes(b"new")
        return exchange(built, old)


def test_the_new_folder_takes_the_place_of_the_old_one(old: Path) -> None:
    """The old one becomes the backup, with its links, and no other file is left beside them."""
    before = tree(old)
    backup = replace_it(old)
    assert backup == old.with_name("dice~")
    assert tree(backup) == before
    assert tree(old) == {**before, "SKILL.md": b"new"}
    assert os.readlink(old / "away") == os.readlink(backup / "away") == "/nowhere"
    assert sorted(os.listdir(old.parent)) == ["dice", "dice~"]


def test_an_earlier_backup_is_not_overwritten(old: Path) -> None:
    """Each backup has a new name."""
    names = [replace_it(old).name for _ in range(3)]
    assert names == ["dice~", "dice.~2~", "dice.~3~"]


def rename_in_steps(monkeypatch: pytest.MonkeyPatch, fails: Container[int]) -> None:
    """Take the atomic exchange away, and let some renames fail, counted from 1."""
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())  # without renameat2
    real, calls = os.rename, count(1)

    def rename(source: Path, target: Path, **folders: int | None) -> None:
        if next(calls) in fails:
            raise OSError("no")
        real(source, target, **folders)

    monkeypatch.setattr(os, "rename", rename)


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_without_an_atomic_exchange_the_folders_are_renamed_in_steps(
    old: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    """The result is the same, and a failure in between restores everything."""
    before = tree(old)
    rename_in_steps(monkeypatch, fails={2 + fails} if fails else ())
    if fails:
        with pytest.raises(OSError, match="no"):
            replace_it(old)
        assert tree(old) == before
    else:
        assert tree(replace_it(old)) == before
        assert tree(old)["SKILL.md"] == b"new"


def test_the_old_folder_is_kept_if_it_cannot_be_restored(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays as the backup and is never removed."""
    before = tree(old)
    rename_in_steps(monkeypatch, fails=range(4, 99))
    with pytest.raises(OSError, match="no"):
        replace_it(old)
    assert tree(old.with_name("dice~")) == before


def test_a_new_folder_is_moved_to_its_place_complete(old: Path) -> None:
    """An existing folder is not overwritten."""
    for place, free in ((old.parent / "new" / "dice", True), (old, False)):
        with built_beside(place, old) as built:
            (built / "SKILL.md").write_bytes(b"new")
            if free:
                put(built, place)
                assert tree(place)["SKILL.md"] == b"new"
            else:
                with pytest.raises(OSError, match="not empty"):
                    put(built, place)
    assert tree(old)["SKILL.md"] == b"old"


def killed_after(steps: int, old: Path) -> bool:
    """Replace the folder in a process that is killed after some operations on files.

    Return whether it was killed, and had not ended before.
    """
    child = os.fork()
    if child == 0:
        left = [steps]

        def count(event: str, _: object) -> None:
            if event == "open" or event.startswith(("os.", "shutil.", "ctypes.", "tempfile.")):
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)

        sys.addaudithook(count)
        replace_it(old)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.requirement("own/interrupted")
def test_a_kill_at_any_moment_leaves_the_old_folder_complete(old: Path, tmp_path: Path) -> None:
    """It is at its place; or the new one is there, complete, and the old one is the backup."""
    before = tree(old)
    after = {**before, "SKILL.md": b"new"}
    outcomes = []
    for steps in range(500):
        root = tmp_path / f"try-{steps}"
        root.mkdir()
        place = Path(shutil.copytree(old, root / "dice", symlinks=True))
        killed = killed_after(steps, place)
        if tree(place) == before:
            outcomes.append("old")
        else:
            assert (tree(place), tree(root / "dice~")) == (after, before)
            outcomes.append("new")
        shutil.rmtree(root)
        if not killed:
            break
    assert not killed
    assert outcomes.count("old") > 20
    assert outcomes == sorted(outcomes, reverse=True)
    assert outcomes[-1] == "new"
