"""Plain folders of published skills in <data>/skills/, as agents and owners see them.

Everything is done by commands. Permissions apply to them, even if the tests run as root.
"""

import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import program, without_rights
from tests.support.indexes import location_of
from tests.support.made_archives import pack_zip
from tests.support.paths import REPOSITORY
from tests.support.skills import write_skill
from tests.support.waiting import PATIENCE, wait_for

CRASHES = int(os.environ.get("CRASHES", "2"))
"""How often a scan is killed."""

MARKER = ".skilldrop"
"""The file by which a folder of the program is known."""
OLDER = REPOSITORY / "tests/samples/older/data.tgz"
"""Data directory written by a release that published links: three skills, one with two versions."""

QUIET = {"SKILLDROP_SETTLE_QUIET": "0"}
OTHERS = "Somebody else's words.\n"
BINARY = bytes(range(256)) * 40
"""Content that the catalog does not store as text."""

Tree = Mapping[str, tuple[int, bytes]]
"""Mode and bytes, or target of a link, by relative path."""


@dataclass(frozen=True)
class Shared:
    """Root and data directory of one catalog."""

    folder: Path

    @property
    def root(self) -> Path:
        """Folder with the authors' files."""
        return self.folder / "root"

    @property
    def data(self) -> Path:
        """Data directory of the program."""
        return self.folder / "data"

    @property
    def skills(self) -> Path:
        """Folder of the published skills."""
        return self.data / "skills"

    @property
    def packages(self) -> Path:
        """Folder of the versions."""
        return self.data / "packages"

    def run(self, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return program.run(
            "--watched", self.root, "--data", self.data, *words, **QUIET, **environment
        )

    def scan(self) -> None:
        """Scan; the command must succeed."""
        done = self.run("scan")
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr

    def status(self) -> str:
        """Return the status as it is printed, with messages."""
        done = self.run("status")
        assert done.returncode in (0, 1, 2), done.stderr
        return done.stdout + done.stderr

    def command(self, *words: object) -> list[str]:
        """Return the words of a command for a process of its own."""
        skilldrop = Path(sys.executable).with_name("skilldrop")
        given = ("--watched", self.root, "--data", self.data, *words)
        return [*without_rights.PYTHON, *map(str, (skilldrop, *given))]


@pytest.fixture(autouse=True)
def user_without_rights() -> Iterator[None]:
    """Let permissions apply to the tests and to the program."""
    with without_rights.bound_by_permissions():
        yield


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    """Return a root with two skills, not scanned yet."""
    made = Shared(tmp_path / "shared")
    write_skill(made.root / "a", files={"scripts/run.py": "print(1)\n", "assets/x.bin": BINARY})
    write_skill(made.root / "b")
    return made


@pytest.fixture
def scanned(shared: Shared) -> Shared:
    """Return the same after a scan."""
    shared.scan()
    return shared


# The folders


def test_each_published_skill_is_a_plain_folder(shared: Shared) -> None:
    """It has the skill's name and all files, even if the folder in the root has another name."""
    write_skill(shared.root / "Draft (2)", name="word-count")
    write_skill(
        shared.root / "deep/down/会议纪要", files={"assets/模板.md": "# 模板\n", "empty": b""}
    )
    write_skill(shared.root / "lines", files={"SKILL.md": windows("lines")})
    write_skill(shared.root / "slash", name="team/slash")
    pack_zip(
        write_skill(shared.folder / "packed", files={"data.bin": BINARY}), shared.root / "p.zip"
    )
    (shared.root / "a/scripts/run.py").chmod(0o755)
    shared.scan()
    assert published(shared) == {
        "a": contents(shared.root / "a"),
        "b": contents(shared.root / "b"),
        "word-count": contents(shared.root / "Draft (2)"),
        "会议纪要": contents(shared.root / "deep/down/会议纪要"),
        "lines": contents(shared.root / "lines"),
        "team-slash": contents(shared.root / "slash"),
        "packed": contents(shared.folder / "packed"),
    }
    assert links_below(shared.skills) == []


@pytest.mark.requirement("prd/goal-real")
def test_real_skills_are_published_whole(corpus: Path, tmp_path: Path) -> None:
    """Each published folder has the relative paths and bytes of a folder in the corpus."""
    shared = Shared(tmp_path)
    shared.root.mkdir()
    shutil.copytree(corpus / "packages", shared.root, symlinks=True, dirs_exist_ok=True)
    shared.scan()
    there = published(shared)
    sources = [skill_md.parent for skill_md in shared.root.rglob("SKILL.md")]
    expected = {digest(of_this_skill_alone(source, sources)) for source in sources}
    assert len(there) > 20
    assert {digest(files) for files in there.values()} <= expected
    assert links_below(shared.skills) == []


def test_published_skills_are_read_only(scanned: Shared) -> None:
    """Nobody may write in any file or directory; scripts stay executable."""
    (scanned.root / "a/scripts/run.py").chmod(0o755)
    scanned.scan()
    modes = {path: mode for path, (mode, _) in tree(scanned.skills / "a").items()}
    assert {path: mode & 0o777 for path, mode in modes.items()} == {
        ".": 0o555,
        "SKILL.md": 0o444,
        "assets": 0o555,
        "assets/x.bin": 0o444,
        "scripts": 0o555,
        "scripts/run.py": 0o555,
    }


def test_published_skills_share_no_file_with_their_versions(scanned: Shared) -> None:
    """An edit of a published skill therefore cannot change a version."""
    write_skill(scanned.root / "b", description="Does another thing.")
    scanned.scan()
    assert len(inodes(scanned.skills)) >= 4
    assert inodes(scanned.skills).isdisjoint(inodes(scanned.packages))


def test_a_copy_of_the_folder_alone_is_complete(scanned: Shared, tmp_path: Path) -> None:
    """A container may mount nothing else."""
    shutil.copytree(scanned.skills, tmp_path / "mounted", symlinks=True)
    scanned.data.rename(tmp_path / "out-of-reach")
    assert contents(tmp_path / "mounted/a") == contents(scanned.root / "a")
    assert contents(tmp_path / "mounted/b") == contents(scanned.root / "b")


def test_the_index_names_the_published_folders(scanned: Shared) -> None:
    """The location of a skill is its SKILL.md below skills/."""
    location = location_of(scanned.run("index").stdout, "a")
    assert location == str(scanned.skills / "a/SKILL.md")


def test_in_place_nothing_is_published(shared: Shared) -> None:
    """The index names the folders of the root."""
    done = shared.run("scan", SKILLDROP_PUBLISH="in-place")
    assert (done.returncode, done.stderr) == (0, "")
    assert not shared.skills.exists()
    assert not shared.packages.exists()
    index = shared.run("index", SKILLDROP_PUBLISH="in-place").stdout
    assert location_of(index, "a") == str(shared.root / "a/SKILL.md")


def test_an_index_names_no_folder_that_is_no_longer_published(shared: Shared) -> None:
    """A catalog that published copies before names the folders of the root alone."""
    shared.scan()
    shared.run("scan", SKILLDROP_PUBLISH="in-place")
    index = shared.run("index", SKILLDROP_PUBLISH="in-place").stdout
    assert location_of(index, "a") == str(shared.root / "a/SKILL.md")
    assert str(shared.skills) not in index


# Changes


def test_a_reader_by_path_sees_whole_files_of_the_present_or_previous_version(
    tmp_path: Path,
) -> None:
    """No file is ever missing or half written while its skill is updated ten times."""
    shared = Shared(tmp_path)
    paths = [f"data/{number}.txt" for number in range(20)]

    def write(version: int) -> None:
        text = f"{version}\n" * 5000
        write_skill(shared.root / "a", files=dict.fromkeys(paths, text))

    write(1)
    shared.scan()
    begun = done = 1
    seen: set[int] = set()
    failures: list[str] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set() and not failures:
            for path in paths:
                before = done
                try:
                    lines = (shared.skills / "a" / path).read_text().splitlines()
                except OSError as error:
                    failures.append(str(error))
                    return
                if len(lines) != 5000 or len(set(lines)) != 1:
                    failures.append(f"{path} was half written")
                elif not before <= int(lines[0]) <= begun:
                    failures.append(f"{path} was of {lines[0]}, between {before} and {begun}")
                else:
                    seen.add(int(lines[0]))

    def is_read() -> bool:
        return done in seen or bool(failures)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for version in range(2, 12):
            begun = version
            write(version)
            shared.scan()
            done = version
            wait_for(is_read)
    finally:
        is_over.set()
        reader.join(PATIENCE)
    assert failures == []
    assert seen >= set(range(2, 12))


def test_versions_never_change(scanned: Shared) -> None:
    """Updates, scans, checks and repairs keep the bytes, names and modes of all versions."""
    for text in ("Does another thing.", "Does a third thing."):
        before = tree(scanned.packages)
        write_skill(scanned.root / "a", description=text)
        scanned.scan()
        scanned.scan()
        scanned.run("reconcile", "--check")
        scanned.run("reconcile")
        after = tree(scanned.packages)
        assert {path: after.get(path) for path in before if "current" not in path} == {
            path: content for path, content in before.items() if "current" not in path
        }
    versions = [path for path in (scanned.packages / "a").iterdir() if path.name != "current"]
    assert len(versions) == 3


def test_current_leads_to_the_newest_version(scanned: Shared) -> None:
    """It is a relative link; a reader who resolved it earlier can read that version to its end."""
    current = scanned.packages / "a/current"
    before, text = current.resolve(), (scanned.root / "a/SKILL.md").read_bytes()
    write_skill(scanned.root / "a", description="Does another thing.")
    scanned.scan()
    assert not os.path.isabs(os.readlink(current))
    assert contents(current.resolve()) == contents(scanned.root / "a")
    assert (before / "SKILL.md").read_bytes() == text


def test_a_removed_skill_leaves(scanned: Shared) -> None:
    """Other skills stay."""
    shutil.rmtree(scanned.root / "a")
    scanned.scan()
    assert entries(scanned.skills) == {"b"}


def test_a_renamed_skill_moves(scanned: Shared) -> None:
    """It makes no difference whether the folder in the root is renamed or only `name` changes."""
    (scanned.root / "a").rename(scanned.root / "c")
    write_skill(scanned.root / "c")
    write_skill(scanned.root / "b", name="d")
    scanned.scan()
    assert dotted(scanned.skills) == [MARKER]
    assert published(scanned) == {
        "c": contents(scanned.root / "c"),
        "d": contents(scanned.root / "b"),
    }


def test_a_rejected_update_leaves_the_last_good_version(scanned: Shared) -> None:
    """The folder keeps all files of that version."""
    good = contents(scanned.root / "a")
    write_skill(scanned.root / "a", description="")
    scanned.scan()
    assert published(scanned)["a"] == good


# Entries of others


def a_file(place: Path, elsewhere: Path) -> None:
    """Put a file there."""
    place.write_text(OTHERS)


def a_folder(place: Path, elsewhere: Path) -> None:
    """Put a folder there that looks like a skill."""
    write_skill(place, name="theirs", files={"deep/notes.md": OTHERS})


def a_link(place: Path, elsewhere: Path) -> None:
    """Put a link there to a folder of somebody."""
    write_skill(elsewhere / "mine")
    place.symlink_to(elsewhere / "mine")


def a_dead_link(place: Path, elsewhere: Path) -> None:
    """Put a link there that leads nowhere."""
    place.symlink_to(elsewhere / "missing")


FOREIGN = [a_file, a_folder, a_link, a_dead_link]


@pytest.mark.parametrize("put", FOREIGN)
def test_entries_of_others_stay_and_are_named(
    scanned: Shared, tmp_path: Path, put: Callable[[Path, Path], None]
) -> None:
    """Updates, removals and repairs leave them alone, and the status lists them."""
    put(scanned.skills / "theirs", tmp_path)
    before = tree(scanned.skills / "theirs"), tree(tmp_path / "mine")
    write_skill(scanned.root / "a", description="Does another thing.")
    shutil.rmtree(scanned.root / "b")
    scanned.scan()
    assert "theirs" in scanned.status()
    scanned.run("reconcile")
    scanned.scan()
    assert (tree(scanned.skills / "theirs"), tree(tmp_path / "mine")) == before
    assert published(scanned, "a") == {"a": contents(scanned.root / "a")}
    assert entries(scanned.skills) == {"a", "theirs"}


@pytest.mark.parametrize("put", FOREIGN)
def test_an_entry_of_others_with_the_name_of_a_skill_stays(
    scanned: Shared, tmp_path: Path, put: Callable[[Path, Path], None]
) -> None:
    """The status names the skill, which is published after the entry is removed."""
    put(scanned.skills / "taken", tmp_path)
    before = tree(scanned.skills / "taken"), tree(tmp_path / "mine")
    write_skill(scanned.root / "taken")
    assert scanned.run("scan").returncode in (0, 1)
    assert "taken" in scanned.status()
    scanned.run("reconcile")
    assert (tree(scanned.skills / "taken"), tree(tmp_path / "mine")) == before
    discard(scanned.skills / "taken")
    scanned.scan()
    assert published(scanned, "taken") == {"taken": contents(scanned.root / "taken")}


# Damage


def an_edit(folder: Path) -> None:
    """Change bytes, but not the size."""
    flip(folder / "SKILL.md")


def an_added_file(folder: Path) -> None:
    """Add a file."""
    (folder / "scripts/added.py").write_text(OTHERS)


def a_deleted_file(folder: Path) -> None:
    """Delete a file."""
    (folder / "scripts/run.py").unlink()


def an_executable_file(folder: Path) -> None:
    """Let a file be executed."""
    (folder / "SKILL.md").chmod(0o555)


def a_writable_file(folder: Path) -> None:
    """Let a file be written."""
    (folder / "SKILL.md").chmod(0o644)


def a_file_for_a_folder(folder: Path) -> None:
    """Replace a folder by a file."""
    shutil.rmtree(folder / "scripts")
    (folder / "scripts").write_text(OTHERS)


def a_deleted_folder(folder: Path) -> None:
    """Delete all of it."""
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "change",
    [
        an_edit,
        an_added_file,
        a_deleted_file,
        an_executable_file,
        a_writable_file,
        a_file_for_a_folder,
        a_deleted_folder,
    ],
)
def test_a_changed_folder_is_reported_and_mended(
    scanned: Shared, change: Callable[[Path], None]
) -> None:
    """The check changes nothing, and the repair leaves packages/ alone."""
    good, versions = tree(scanned.skills), tree(scanned.packages)
    with writable(scanned.skills / "a"):
        change(scanned.skills / "a")
    damaged = tree(scanned.skills)
    assert damaged != good
    checked = scanned.run("reconcile", "--check")
    assert checked.returncode == 1
    assert "skills/a" in checked.stdout + checked.stderr
    assert tree(scanned.skills) == damaged
    assert scanned.run("reconcile").returncode == 0
    assert tree(scanned.skills) == good
    assert tree(scanned.packages) == versions
    assert scanned.run("reconcile", "--check").returncode == 0


@pytest.mark.parametrize("is_published_damaged", [False, True], ids=["from skills", "from root"])
def test_a_damaged_version_is_mended(scanned: Shared, is_published_damaged: bool) -> None:
    """The repair uses the copy that still has the right digest."""
    good, versions = tree(scanned.skills), tree(scanned.packages)
    damage(next((scanned.packages / "a").glob("2*/assets/x.bin")))
    if is_published_damaged:
        damage(scanned.skills / "a/assets/x.bin")
    else:
        write_skill(scanned.root / "a", description="", files={"assets/x.bin": OTHERS})  # rejected
        scanned.scan()
    assert scanned.run("reconcile", "--check").returncode == 1
    scanned.run("reconcile")
    assert tree(scanned.packages) == versions
    assert tree(scanned.skills) == good


def test_a_damaged_version_without_other_bytes_is_withdrawn(scanned: Shared) -> None:
    """The repair names it and removes the wrong bytes; other versions stay."""
    (old,) = (scanned.packages / "a").glob("2*")
    write_skill(scanned.root / "a", files={"assets/x.bin": BINARY[::-1]})
    scanned.scan()
    (new,) = set((scanned.packages / "a").glob("2*")) - {old}
    kept = tree(new)
    damage(old / "assets/x.bin")
    done = scanned.run("reconcile")
    assert old.name in done.stdout + done.stderr
    assert not (old / "assets/x.bin").exists()
    assert tree(new) == kept
    assert published(scanned)["a"] == contents(scanned.root / "a")


# A folder that cannot be used


def is_a_link(skills: Path, elsewhere: Path) -> None:
    """Replace it by a link to a folder of somebody else."""
    discard(skills)
    a_folder(elsewhere / "theirs", elsewhere)
    skills.symlink_to(elsewhere / "theirs")


def is_a_file(skills: Path, elsewhere: Path) -> None:
    """Replace it by a file."""
    discard(skills)
    skills.write_text(OTHERS)


def is_of_another_catalog(skills: Path, elsewhere: Path) -> None:
    """Replace it by the published skills of another catalog, one with the same name."""
    discard(skills)
    other = Shared(elsewhere / "other")
    write_skill(other.root / "a", description="Of somebody else.")
    other.scan()
    other.skills.rename(skills)


def is_of_somebody(skills: Path, elsewhere: Path) -> None:
    """Replace it by a folder with files and without a marker."""
    discard(skills)
    a_folder(skills / "a", elsewhere)


def is_read_only(skills: Path, elsewhere: Path) -> None:
    """Remove the permission to write in it."""
    skills.mkdir(exist_ok=True)
    skills.chmod(0o555)


UNUSABLE = [is_a_link, is_a_file, is_of_another_catalog, is_of_somebody, is_read_only]


@pytest.mark.parametrize("is_late", [False, True], ids=["at first", "later"])
@pytest.mark.parametrize("happen", UNUSABLE)
def test_a_folder_that_cannot_be_used_is_left_alone(
    shared: Shared, tmp_path: Path, happen: Callable[[Path, Path], None], is_late: bool
) -> None:
    """A message of the scan or the status names it; the next scan after its removal publishes."""
    usual = usual_lines(shared, tmp_path)
    if is_late:
        shared.scan()
    shared.data.mkdir(exist_ok=True)
    happen(shared.skills, tmp_path)
    before = tree(shared.skills), tree(tmp_path / "theirs")
    write_skill(shared.root / "a", description="Does another thing.")
    done = shared.run("scan")
    said = done.stderr + shared.status()
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in said
    assert [line for line in said.splitlines() if str(shared.skills) in line and line not in usual]
    shared.run("reconcile")
    assert (tree(shared.skills), tree(tmp_path / "theirs")) == before
    discard(shared.skills)
    shared.scan()
    assert published(shared) == {name: contents(shared.root / name) for name in "ab"}


def test_a_folder_without_room_is_reported(shared: Shared) -> None:
    """It is the mount point of a disk that is too small."""
    for number in range(20):
        write_skill(shared.root / f"s{number}")
    mount = f'mkdir -p "{shared.skills}" && mount -t tmpfs -o nr_inodes=8 tmpfs "{shared.skills}"'
    commands = """
        "$0" "$@" scan; echo "ended with $?"; "$0" "$@" status
        "$0" "$@" index --format xml; echo "placed:"
    """
    done = mounted(mount, f'{commands} ls "{shared.skills}"', shared)
    assert "Traceback" not in done.stdout
    placed = done.stdout.partition("placed:\n")[2].split()
    named = re.findall(f"{re.escape(str(shared.skills))}/([^/]+)/SKILL.md", done.stdout)
    assert set(named) <= set(placed), "the index names a folder that is not there"
    assert any(f"ended with {code}\n" in done.stdout for code in (0, 1, 2))
    usual = ("links ", "skills ", "root ")
    assert [
        line
        for line in done.stdout.splitlines()
        if str(shared.data) in line and not line.startswith(usual)
    ]


def test_a_folder_on_another_disk_is_filled(shared: Shared, tmp_path: Path) -> None:
    """Packages and skills lie on different file systems; updates arrive as well."""
    mount = f'mkdir -p "{shared.skills}" && mount -t tmpfs tmpfs "{shared.skills}"'
    again = f'"$0" "$@" scan && echo new > "{shared.root}/a/added.md" && "$0" "$@" scan'
    done = mounted(mount, f'{again} && cp -a "{shared.skills}" "{tmp_path}/seen"', shared)
    assert done.returncode == 0, done.stdout
    assert contents(tmp_path / "seen/a") == contents(shared.root / "a")
    assert (tmp_path / "seen/a/added.md").read_text() == "new\n"
    assert dotted(tmp_path / "seen") == [MARKER]


# Older layouts, and crashes


def test_links_of_an_older_layout_become_folders(scanned: Shared) -> None:
    """A scan replaces `skills/a -> ../packages/a/current`, even if the skill is unchanged."""
    discard(scanned.skills / "a")
    (scanned.skills / "a").symlink_to("../packages/a/current")
    scanned.scan()
    assert published(scanned) == {name: contents(scanned.root / name) for name in "ab"}
    assert links_below(scanned.skills) == []


def test_a_data_directory_of_an_older_release_gets_folders(tmp_path: Path) -> None:
    """Links to packages are replaced; a foreign link in the same folder stays."""
    shared = Shared(tmp_path)
    write_skill(shared.root / "word-count", files={"scripts/count.py": "print(2)\n"})
    write_skill(shared.root / "Draft (2)", name="release-notes")
    write_skill(shared.root / "会议纪要", description="把会议录音整理成纪要。")
    subprocess.run(["tar", "xf", OLDER, "-C", shared.folder], check=True)
    (shared.skills / "theirs").symlink_to("../nowhere")
    done = shared.run("scan")
    assert done.returncode in (0, 1), done.stderr
    assert links_below(shared.skills) == ["theirs"]
    assert published(shared, "word-count", "release-notes", "会议纪要") == {
        "word-count": contents(shared.root / "word-count"),
        "release-notes": contents(shared.root / "Draft (2)"),
        "会议纪要": contents(shared.root / "会议纪要"),
    }


@pytest.mark.parametrize("number", range(CRASHES))
def test_a_killed_scan_leaves_nothing_half_done(tmp_path: Path, number: int) -> None:
    """The next scan makes the folders equal to the root and removes leftovers."""
    chance = random.Random(number)
    shared = Shared(tmp_path)
    names = [f"s{number:03}" for number in range(120)]
    for name in names:
        write_skill(shared.root / name, files={"notes.md": "old\n" * 500})
    shared.scan()
    before = {name: (shared.skills / name).stat().st_ino for name in names}
    for name in names:
        write_skill(shared.root / name, files={"notes.md": "new\n" * 500, "more.md": "more\n"})
    scan = subprocess.Popen(
        shared.command("scan"),
        env=os.environ | QUIET,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    moment = chance.randrange(1, 60)  # so many are exchanged before it is killed

    def exchanged() -> int:
        return sum((shared.skills / name).stat().st_ino != before[name] for name in names)

    wait_for(lambda: scan.poll() is not None or exchanged() >= moment)
    scan.kill()
    assert scan.wait(PATIENCE) == -signal.SIGKILL, "it ended before"
    for name in names:
        text = (shared.skills / name / "notes.md").read_text()
        assert text in ("old\n" * 500, "new\n" * 500)
    shared.scan()
    assert published(shared) == {name: contents(shared.root / name) for name in names}
    assert dotted(shared.skills) == [MARKER]
    assert shared.run("reconcile", "--check").returncode == 0


# Folders of agents


def test_link_leads_into_the_folder(scanned: Shared, tmp_path: Path) -> None:
    """Each link has the name of its skill."""
    assert scanned.run("link", tmp_path / "agent").returncode == 0
    assert (tmp_path / "agent/a").is_symlink()
    assert (tmp_path / "agent/a").resolve() == scanned.skills.resolve() / "a"
    assert contents(tmp_path / "agent/a") == contents(scanned.root / "a")


def test_link_copy_keeps_plain_folders(scanned: Shared, tmp_path: Path) -> None:
    """They follow updates and removals; foreign entries beside them stay."""
    agent = tmp_path / "agent"
    agent.mkdir()
    a_file(agent / "theirs.md", tmp_path)
    a_folder(agent / "c", tmp_path)
    others = tree(agent)
    assert scanned.run("link", "--copy", agent).returncode == 0
    assert links_below(agent) == []
    assert contents(agent / "a") == contents(scanned.root / "a")
    assert inodes(agent).isdisjoint(inodes(scanned.packages))
    write_skill(scanned.root / "a", description="Does another thing.")
    write_skill(scanned.root / "c")
    shutil.rmtree(scanned.root / "b")
    assert scanned.run("scan").returncode in (0, 1)
    assert contents(agent / "a") == contents(scanned.root / "a")
    assert entries(agent) == {"a", "c", "theirs.md"}
    now = tree(agent)
    assert {path: now[path] for path in others if path != "."} == {
        path: content for path, content in others.items() if path != "."
    }


# Contents of folders


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file, by relative path."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def of_this_skill_alone(folder: Path, skills: list[Path]) -> dict[str, bytes]:
    """Return the bytes of each file, without those of skills inside the folder."""
    inner = [other.relative_to(folder) for other in skills if folder in other.parents]
    return {
        path: data
        for path, data in contents(folder).items()
        if not any(Path(path).is_relative_to(other) for other in inner)
    }


def published(shared: Shared, *names: str) -> dict[str, dict[str, bytes]]:
    """Return the files of the published skills, or only of those with these names.

    A link counts as an empty folder, because some loaders refuse links.
    """
    return {
        name: {} if (shared.skills / name).is_symlink() else contents(shared.skills / name)
        for name in names or entries(shared.skills)
    }


def entries(folder: Path) -> set[str]:
    """Return the names of the entries that are not hidden."""
    return {entry.name for entry in folder.iterdir() if not entry.name.startswith(".")}


def dotted(folder: Path) -> list[str]:
    """Return the hidden entries."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("."))


def links_below(folder: Path) -> list[str]:
    """Return the links at any depth."""
    return sorted(
        str(Path(place, name).relative_to(folder))
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
        if Path(place, name).is_symlink()
    )


def tree(folder: Path) -> Tree:
    """Return modes and contents of a folder, file or link, and of all below; nothing if missing."""
    if not os.path.lexists(folder):
        return {}
    below = [] if folder.is_symlink() else sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): _entry(path) for path in (folder, *below)}


def _entry(path: Path) -> tuple[int, bytes]:
    mode = path.lstat().st_mode
    if path.is_symlink():
        return mode, os.fsencode(os.readlink(path))
    return mode, path.read_bytes() if path.is_file() else b""


def inodes(folder: Path) -> set[tuple[int, int]]:
    """Return device and inode of each file below."""
    stats = [file.stat() for file in folder.rglob("*") if file.is_file() and file.name != MARKER]
    return {(stat.st_dev, stat.st_ino) for stat in stats}


def digest(files: Mapping[str, bytes]) -> str:
    """Return a hash of paths and contents."""
    listed = sorted((path, hashlib.sha256(data).hexdigest()) for path, data in files.items())
    return hashlib.sha256(repr(listed).encode()).hexdigest()


def windows(name: str) -> str:
    """Return a SKILL.md with the line ends of Windows."""
    return f"---\r\nname: {name}\r\ndescription: Reads lines.\r\n---\r\n\r\n# Lines\r\n"


# Changes by hand


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Make the directories of a published folder writable until the end."""
    directories = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for directory in directories:
        directory.chmod(0o755)
    yield
    for directory in directories:
        if directory.is_dir():
            directory.chmod(0o555)


def flip(file: Path) -> None:
    """Change one bit of a file, but not its size or mode."""
    mode = file.stat().st_mode
    file.chmod(0o644)
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(data)
    file.chmod(mode & 0o777)


def damage(file: Path) -> None:
    """Change one bit of a file and restore its modification time."""
    before = file.stat()
    flip(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def discard(path: Path) -> None:
    """Remove a file, a link or a read-only folder."""
    if path.is_dir() and not path.is_symlink():
        for place, _, _ in os.walk(path):
            os.chmod(place, 0o755)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# Programs


def usual_lines(shared: Shared, tmp_path: Path) -> set[str]:
    """Return the lines of the status of a healthy catalog of the same root."""
    well = Shared(tmp_path / "well")
    shutil.copytree(shared.root, well.root)
    well.scan()
    return set(well.status().replace(str(well.folder), str(shared.folder)).splitlines())


def mounted(mount: str, commands: str, shared: Shared) -> subprocess.CompletedProcess[str]:
    """Run the program in shell commands, as $0 "$@", behind a mount; skip where none is allowed."""
    unshare = ("unshare", "-Urm", "sh", "-c")
    if subprocess.run([*unshare, mount], check=False, capture_output=True).returncode:
        pytest.skip("this system forbids mounting")
    return subprocess.run(
        [*unshare, f"{mount} && {{ {commands}; }}", *shared.command()],
        env=os.environ | QUIET,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
