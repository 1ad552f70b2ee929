"""Copies made by `deploy/skilldrop-pull` are complete at every moment.

A real service ingests, the real rsync copies, and a reader of the copy looks all the while.
"""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from tests.support.indexes import locations
from tests.support.serving import Serving
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter, write_skill

PULL = Path(__file__).parents[2] / "deploy/skilldrop-pull"
SKILLS = 6
FILES = 12

pytestmark = pytest.mark.skipif(
    not shutil.which("rsync") and not os.environ.get("CI"), reason="rsync is not installed here"
)


class Reader(threading.Thread):
    """Thread that follows the index of a copy, and records the files of each version."""

    def __init__(self, copy: Path) -> None:
        super().__init__()
        self._copy = copy
        self.met: dict[tuple[str, str], set[tuple[tuple[str, str], ...]]] = {}
        self.read: set[str] = set()  # SHA-256 of each SKILL.md, by the paths of the index
        self.missed: list[str] = []
        self.is_done = threading.Event()

    def run(self) -> None:
        """Read the index again and again until done, and once more then."""
        while True:
            is_last = self.is_done.is_set()
            index = self._copy / "index/default.txt"
            for location in locations(index.read_text() if index.exists() else ""):
                self._look(self._copy / "packages" / Path(location).parent.name)
                self._read(Path(location))
            if is_last:
                return

    def _read(self, skill_md: Path) -> None:
        try:
            self.read.add(hashlib.sha256(skill_md.read_bytes()).hexdigest())
        except OSError as error:
            self.missed.append(str(error))

    def _look(self, shelf: Path) -> None:
        try:
            version = os.readlink(shelf / "current")  # once, as the promise has it
            found = tuple(sorted(set(hashed(shelf / version))))
        except OSError as error:
            self.missed.append(str(error))
        else:
            self.met.setdefault((shelf.name, version), set()).add(found)


def hashed(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield path and SHA-256 of every file of a package."""
    for path in folder.rglob("*"):
        if path.is_file():
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            yield str(path.relative_to(folder)), sha256


def accepted(catalog: Path) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """Return the files of each version, as the catalog has them."""
    versions: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    with closing(sqlite3.connect(catalog)) as db:
        for skill_id, version, path, sha256 in db.execute(
            "SELECT v.skill_id, v.version, f.path, f.sha256 FROM files AS f"
            " JOIN versions AS v ON v.id = f.version ORDER BY f.path"
        ):
            known = versions.get((skill_id, version), ())
            versions[skill_id, version] = (*known, (path, sha256))
    return {version: tuple(sorted(files)) for version, files in versions.items()}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return the directory of the copy."""
    return tmp_path / "copy"


@pytest.fixture
def serving(tmp_path: Path, copy: Path, skill: SkillWriter) -> Iterator[Serving]:
    """Return a service with some skills, whose index leads to the copy."""
    made = Serving(tmp_path, settle_quiet=0.05, indexes=[{"location_base": f"{copy}/skills"}])
    for number in range(SKILLS):
        written(skill, made.root, number, 0)
    made.start()
    made.settle()
    yield made
    made.stop()


def written(skill: SkillWriter, root: Path, number: int, turn: int) -> None:
    """Write every file of a skill again."""
    files: dict[str, str | bytes] = {
        f"references/page-{page}.md": f"Turn {turn}.\n" * 500 for page in range(FILES)
    }
    skill(root / f"skill-{number}", description=f"Counts words, turn {turn}.", files=files)


def pull(serving: Serving, copy: Path) -> None:
    """Run one round of the script."""
    subprocess.run([PULL, serving.settings.data, copy], check=True)


def test_a_reader_of_the_copy_sees_only_complete_versions(
    serving: Serving, copy: Path, skill: SkillWriter
) -> None:
    """While skills change and rounds run, every file has the SHA-256 of the catalog."""
    reader = Reader(copy)
    reader.start()
    try:
        for turn in count(1):
            for number in range(turn % 3, SKILLS, 3):
                written(skill, serving.root, number, turn)
            pull(serving, copy)
            if turn >= 6 and len(reader.met) > 3 * SKILLS:
                break
    finally:
        reader.is_done.set()
        reader.join()
    copied = copy / "catalog.db"
    with (
        closing(sqlite3.connect(serving.settings.catalog_path)) as live,
        closing(sqlite3.connect(copied)) as target,
    ):
        live.backup(target)
    known = accepted(copied)
    assert reader.missed == []
    assert reader.read <= {sha256 for files in known.values() for _, sha256 in files}
    assert {
        version: files for version, files in reader.met.items() if files != {known[version]}
    } == {}


def test_the_copy_follows_removals(serving: Serving, copy: Path) -> None:
    """Skills that leave the writer's index leave the copy's index, and then their files go."""
    pull(serving, copy)
    assert len(list(copy.glob("skills/skill-*/SKILL.md"))) == SKILLS
    shutil.rmtree(serving.root / "skill-3")
    serving.settle()
    assert not os.path.lexists(serving.settings.packages_folder / "skill-3/current")
    pull(serving, copy)
    assert not os.path.lexists(copy / "packages/skill-3/current")
    assert len(list((copy / "packages/skill-3").iterdir())) == 1
    assert not os.path.lexists(copy / "skills/skill-3")
    assert len(list(copy.glob("skills/skill-*/SKILL.md"))) == SKILLS - 1
    serving.stop()
    shutil.rmtree(serving.settings.packages_folder / "skill-3")
    pull(serving, copy)
    assert "skill-3" not in (copy / "index/default.txt").read_text()
    names = sorted(path.name for path in serving.settings.packages_folder.iterdir())
    assert sorted(path.name for path in (copy / "packages").iterdir()) == names
    assert "skill-3" not in names


FOREIGN_FILES = (
    "packages/notes.txt",
    "packages/Other/notes.txt",
    "packages/Other/current/notes.txt",
    "packages/notes.txt\nmore/current/notes.txt",  # a line of its path is that of another file
    "packages/skill-3/notes.txt",
    "packages/skill-4/notes.txt",
    "index/.mine",
    "index/notes.md",
    "index/Other/notes.md",
    "skills/notes.txt",
    "skills/Other/notes.txt",
    "skills/[notes]*.txt",
    "skills/[notes]\\*",
    "skills/odd\nname.txt",
)
FOREIGN_FOLDERS = (
    "packages/Empty",
    "packages/[a-z]*",
    "packages/a\\b",
    "packages/skill-4/empty",
    "index/empty",
    "skills/empty",
)


def test_foreign_files_in_the_copy_stay(serving: Serving, copy: Path) -> None:
    """So do foreign folders, and foreign files in the folder of a removed skill."""
    pull(serving, copy)
    serving.stop()
    for path in FOREIGN_FILES:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text("mine")
    for path in FOREIGN_FOLDERS:
        (copy / path).mkdir()
    shutil.rmtree(serving.settings.packages_folder / "skill-3")
    for _ in range(2):
        pull(serving, copy)
    assert os.listdir(copy / "packages/skill-3") == ["notes.txt"]
    assert (copy / "packages/skill-4/current/SKILL.md").is_file()
    assert {(copy / path).read_text() for path in FOREIGN_FILES} == {"mine"}
    assert all((copy / path).is_dir() for path in FOREIGN_FOLDERS)


def test_a_removed_index_is_removed_from_the_copy(
    serving: Serving, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the first round without it was interrupted."""
    pull(serving, copy)
    serving.stop()
    for name in ("default.txt", "default.meta.json"):
        (serving.settings.index_folder / name).unlink()
    with monkeypatch.context() as failing:
        break_off(failing, tmp_path)
        with pytest.raises(subprocess.CalledProcessError):
            pull(serving, copy)
    assert (copy / "index/default.txt").is_file()
    pull(serving, copy)
    assert [name for name in os.listdir(copy / "index") if name != ".skilldrop"] == []


@pytest.fixture(scope="module")
def unchanging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of a writer that does not run, for tests that only read it."""
    shelf = Shelf(tmp_path_factory.mktemp("unchanging"))
    write_skill(shelf.root / "word-count")
    shelf.scan()
    return shelf.settings.data


@pytest.mark.parametrize("what", ["folder", "link", "of another writer"])
@pytest.mark.parametrize("name", ["packages", "index", "skills", ".skilldrop-next"])
def test_a_foreign_folder_is_refused(
    unchanging: Path, copy: Path, tmp_path: Path, name: str, what: str
) -> None:
    """The script prints one sentence, and changes nothing in the folder."""
    outside = tmp_path / "outside"
    for path in ("20250101-000000/thesis.txt", "notes/a.txt"):
        (outside / path).parent.mkdir(parents=True)
        (outside / path).write_text("mine")
    copy.mkdir()
    if what == "link":
        (copy / name).symlink_to(outside)
    else:
        shutil.copytree(outside, copy / name)
    if what == "of another writer":
        (copy / name / ".skilldrop").write_text(f"skilldrop {name} other\n")
    before = sorted(copy.rglob("*")), sorted(outside.rglob("*"))
    done = subprocess.run([PULL, unchanging, copy], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{copy / name} was not made from this writer" in done.stderr
    assert set(before[0]) <= set(copy.rglob("*"))
    assert sorted(outside.rglob("*")) == before[1]


def test_a_data_directory_without_published_skills_is_refused(copy: Path, tmp_path: Path) -> None:
    """One sentence says so, and nothing is made."""
    (tmp_path / "data/index").mkdir(parents=True)
    done = subprocess.run([PULL, tmp_path / "data", copy], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "has no published skills" in done.stderr
    assert not copy.exists()


def test_an_interrupted_round_shows_nothing(
    serving: Serving, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network fails while packages are copied; the next round continues."""
    with monkeypatch.context() as failing:
        break_off(failing, tmp_path)
        with pytest.raises(subprocess.CalledProcessError):
            pull(serving, copy)
    assert not list(copy.glob("packages/*/current"))
    assert not list(copy.glob("index/[!.]*"))
    assert not list(copy.glob("skills/[!.]*"))
    pull(serving, copy)
    assert len(list(copy.glob("packages/*/current"))) == len(
        list(serving.settings.packages_folder.glob("*/current"))
    )


def test_a_search_of_the_copied_skills_finds_no_superseded_version(
    serving: Serving, copy: Path, skill: SkillWriter
) -> None:
    """It stays beside the current one, in packages only, for readers that have begun with it."""
    pull(serving, copy)
    former = (copy / "packages/skill-1/current").resolve()
    written(skill, serving.root, 1, 1)
    serving.settle()
    pull(serving, copy)
    assert (former / "SKILL.md").is_file()
    assert (copy / "packages/skill-1/current").resolve() != former
    assert len(list((copy / "skills").rglob("SKILL.md"))) == SKILLS + 1  # and the sentinel
    assert "turn 1" in (copy / "skills/skill-1/SKILL.md").read_text()


def test_a_change_of_the_same_size_in_the_same_second_is_copied(
    serving: Serving, copy: Path
) -> None:
    """A skill that is edited twice at once has files like that."""
    pull(serving, copy)
    place = "skills/skill-1/SKILL.md"
    file, before = serving.settings.data / place, (copy / place).stat().st_mtime_ns
    file.chmod(0o644)
    file.write_text(file.read_text().replace("turn 0", "turn 9"))
    os.utime(file, ns=(before, before // 10**9 * 10**9 + (before + 1) % 10**9))
    pull(serving, copy)
    assert "turn 9" in (copy / place).read_text()


def test_the_copied_skills_are_those_of_the_writer(serving: Serving, copy: Path) -> None:
    """With bytes and modes, without a link; an added file in one of them goes."""
    pull(serving, copy)
    folder = copy / "skills/skill-1"
    folder.chmod(0o755)
    (folder / "added.md").write_text("x")
    (copy / "skills/mine").mkdir()
    pull(serving, copy)
    for number in range(SKILLS):
        published = serving.settings.skills_folder / f"skill-{number}"
        copied = copy / "skills" / published.name
        assert sorted(hashed(copied)) == sorted(hashed(published))
        assert copied.stat().st_mode == published.stat().st_mode
    assert not [path for path in (copy / "skills").rglob("*") if path.is_symlink()]
    assert (copy / "skills/mine").is_dir()


def break_off(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let rounds fail after links and indexes have been set aside."""
    broken = folder / "bin/rsync"
    broken.parent.mkdir()
    broken.write_text(
        f'#!/bin/sh\ncase "$*" in *exclude=/*) exit 12;; esac\nexec {shutil.which("rsync")} "$@"\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
