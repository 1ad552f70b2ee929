"""Open root: links are followed only inside it, even if directories are exchanged."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model.change import Judged
from catalog.model.skill import RootSpec, SkillRecord
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local.folder import Archive, Folder, Limits
from pipeline.roots.local.root_directory import RootDirectory, opened_root
from pipeline.roots.source import open_source
from pipeline.service import open_catalog
from pipeline.service.scanning.engines import serial
from pipeline.service.scanning.scanner import ScanOptions, ScanResult, ScanScope, scan
from tests.support import roots
from tests.support.packages import World
from tests.support.skills import write_skill

MARK = "text from outside the root"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root with a group of skills, beside a directory outside of it."""
    for name in ("a", "b", "c"):
        write_skill(tmp_path / "root/group" / name, files={"notes.md": name})
    write_skill(tmp_path / "outside", name="outside", description=MARK, files={"notes.md": MARK})
    write_skill(tmp_path / "outside/b", name="outside", description=MARK, files={"notes.md": MARK})
    return tmp_path / "root"


def exchange(path: Path, target: Path) -> None:
    """Replace a directory by a link."""
    path.rename(path.with_name(f".skilldrop-{path.name}"))
    path.symlink_to(target)


class TestExchangedForALink:
    """Directory that becomes a link between listing its parent and entering it."""

    def seen(self, root: Path) -> Iterator[ScanResult | None]:
        """Read all of a root, as a scan does."""
        return serial(ScanScope(RootSpec(str(root)), ("",), {}), ScanOptions(Limits(), quiet=0.0))

    @pytest.mark.parametrize("name", ["b", "c"])
    def test_a_later_skill_of_a_group(self, root: Path, name: str) -> None:
        """It is not entered, although the walk has already listed its name."""
        found = self.seen(root)
        first = next(found)
        exchange(root / "group" / name, root.parent / "outside")
        rest = [one for one in found if isinstance(one, Judged)]
        assert isinstance(first, Judged)
        assert MARK not in repr(rest)
        assert [one.verdict.place.path for one in rest] == [
            f"group/{other}" for other in ("b", "c") if other != name
        ]

    def test_the_group_itself(self, root: Path) -> None:
        """None of its other skills is found."""
        found = self.seen(root)
        next(found)
        exchange(root / "group", root.parent / "outside")
        assert MARK not in repr(list(found))

    def test_a_folder_of_a_skill(self, root: Path) -> None:
        """Between the walk and the reading; the folder is read again later."""
        write_skill(root / "s", files={"sub/notes.md": "inside"})
        folder = roots.look(root, "s")
        assert folder is not None
        exchange(root / "s/sub", root.parent / "outside")
        assert roots.read(root, folder) is None

    def test_the_folder_of_a_package(self, root: Path) -> None:
        """No file is copied through a link out of the root."""
        with open_catalog.package_sources() as files_of:
            files = files_of(str(root), "group/b")
            exchange(root / "group/b", root.parent / "outside")
            with pytest.raises(OSError, match="leads out of the root"):
                files("notes.md")

    def test_an_archive(self, root: Path) -> None:
        """Only the file that the walk saw is opened."""
        for place in (root / "x.zip", root.parent / "outside/x.zip"):
            place.write_bytes(b"PK")
        (archive,) = roots.walk(root, "x.zip!")
        assert isinstance(archive, Archive)
        (root / "x.zip").unlink()
        (root / "x.zip").symlink_to("../outside/x.zip")
        with pytest.raises(OSError, match="leads out of the root"), open_archive(archive):
            pass


class TestLinksInside:
    """A link is followed as long as every step of it stays in the root."""

    @pytest.mark.parametrize(
        ("target", "real"),
        [
            ("a", "/group/a"),
            ("./a/../b", "/group/b"),
            ("../group/a", "/group/a"),
            ("../../root/group/a", "/group/a"),
            ("{root}/group/a", "/group/a"),
            ("to-a", "/group/a"),
            ("..", ""),
            ("../..", None),
            ("{root}", ""),
            ("../../outside", None),
            ("{root}/../outside", None),
            ("/", None),
            ("{root}-twin", None),
            ("to-outside/b", None),
            ("to-outside/../root/group/a", "/group/a"),
        ],
    )
    def test_real_path(self, root: Path, target: str, real: str | None) -> None:
        """Also if it is absolute, or leads out of the root and back into it by name."""
        (root / "group/to-a").symlink_to("a")
        (root / "group/to-outside").symlink_to("../../outside")
        (root / "group/link").symlink_to(target.format(root=root))
        with opened_root(str(root)) as opened:
            found = opened.real_path("/group/link")
        assert found == real

    def test_a_loop_ends(self, root: Path) -> None:
        """After as many links as Linux follows."""
        (root / "one").symlink_to("two")
        (root / "two").symlink_to("one")
        with opened_root(str(root)) as opened, pytest.raises(OSError, match="Too many levels"):
            opened.real_path("/one/x")

    def test_targets_outside_the_root_are_not_checked(self, root: Path) -> None:
        """It makes no difference whether the target of a link out of the root exists."""
        (root / "group/a/there").symlink_to("../../../outside/notes.md")
        (root / "group/a/missing").symlink_to("../../../outside/nothing")
        folder = roots.look(root, "group/a")
        assert folder is not None
        assert [(p.code, p.path) for p in folder.problems] == [
            ("link-leaves-root", "missing"),
            ("link-leaves-root", "there"),
        ]

    def test_a_root_that_is_switched_is_read_as_one(self, root: Path, tmp_path: Path) -> None:
        """A walk ends in the directory where it began, and its results are discarded."""
        write_skill(tmp_path / "other/group/b", description="Of the other root.")
        (tmp_path / "switch").symlink_to("root")
        with open_source(tmp_path / "switch") as opened:
            found = opened.walk()
            first = next(found)
            (tmp_path / "next").symlink_to("other")
            (tmp_path / "next").rename(tmp_path / "switch")
            assert [f.path for f in found if isinstance(f, Folder)] == ["group/b", "group/c"]
            assert isinstance(first, Folder)
            assert opened.read(first) is None


SWAPPER = """
import ctypes, os, sys, time
link, place, times = os.fsencode(sys.argv[1]), os.fsencode(sys.argv[2]), int(sys.argv[3])
renameat2 = ctypes.CDLL(None).renameat2
for _ in range(2 * times):
    renameat2(-100, link, -100, place, 2)
    time.sleep(0.001)  # as long as a folder takes to be read, so that it is in time now and then
"""


@pytest.mark.parametrize("name", ["group", "group/b", "group/b/scripts"])
def test_scans_beside_a_program_that_swaps_links_in(tmp_path: Path, name: str) -> None:
    """Nothing from outside gets into a table or a package; the end state equals the first."""
    world = World(tmp_path)
    write_group_and_outside(world.root, tmp_path / "outside")
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    with subprocess.Popen(
        [sys.executable, "-c", SWAPPER, tmp_path / "link", world.root / name, "300"]
    ) as swapper:
        scans = 0
        while swapper.poll() is None:
            world.scan(deep=scans % 2 == 1)
            scans += 1
    assert swapper.returncode == 0
    assert scans > 2
    assert marked(world) == []
    world.scan()
    assert world.rows("SELECT count(*) FROM skills WHERE status IN ('active', 'shadowed')") == [
        (13,)
    ]
    assert world.differences() == []


def write_group_and_outside(root: Path, outside: Path) -> None:
    """Write a group of 13 skills in a root, and the same names with marked content outside."""
    for number in range(12):
        write_skill(root / f"group/a{number}", files={"scripts/run.py": "print()"})
    write_skill(root / "group/b", files={"scripts/run.py": "print()"})
    for inner in ("", "/b", "/b/scripts"):
        write_skill(
            Path(f"{outside}{inner}"),
            name="b",
            description=MARK,
            files={"run.py": MARK, "scripts/run.py": MARK},
        )


def marked(world: World) -> list[object]:
    """Return the tables and packages with content from outside."""
    tables = [name for (name,) in world.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    files = [path for path in world.packages.rglob("*") if path.is_file()]
    return [
        *(table for table in tables if MARK in repr(world.rows(f'SELECT * FROM "{table}"'))),
        *(path for path in files if MARK in path.read_text()),
    ]


def test_a_deep_path_needs_few_descriptors(tmp_path: Path) -> None:
    """However deep it is; the way back works, too."""
    path = ""
    for _ in range(150):
        path += "/d"
    os.makedirs(f"{tmp_path}{path}")
    with opened_root(str(tmp_path)) as opened:
        before = len(os.listdir("/proc/self/fd"))
        opened.directory(path)
        assert len(os.listdir("/proc/self/fd")) - before <= 64
        assert opened.listing("/d/d").directories == ["d"]
        assert opened.listing(path).directories == []
    assert len(os.listdir("/proc/self/fd")) == before - 1


def test_many_directories_need_few_descriptors(tmp_path: Path) -> None:
    """Directories that were closed meanwhile are opened again."""
    names = [f"/{number}" for number in range(150)]
    for name in names:
        os.makedirs(f"{tmp_path}{name}/inside")
    with opened_root(str(tmp_path)) as opened:
        before = len(os.listdir("/proc/self/fd"))
        assert all(opened.listing(name).directories == ["inside"] for name in names)
        assert len(os.listdir("/proc/self/fd")) - before <= 64
        assert opened.listing(f"{names[0]}/inside").directories == []
    assert len(os.listdir("/proc/self/fd")) == before - 1


def test_a_folder_from_outside_is_never_accepted(root: Path) -> None:
    """Every skill that a scan accepts lies in the root."""
    found = scan(ScanScope(RootSpec(str(root)), ("group/b",), {}), ScanOptions(Limits(), quiet=0.0))
    exchange(root / "group/b", root.parent / "outside")
    assert [
        one for one in found if isinstance(one, Judged) and isinstance(one.verdict, SkillRecord)
    ] == []


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[RootDirectory]:
    """Return the open directory of the file."""
    with opened_root(str(tmp_path)) as directory:
        yield directory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of ten bytes."""
    (tmp_path / "file").write_bytes(b"0123456789")
    return tmp_path / "file"


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(("most", "head"), [(4, b"0123"), (10, b"0123456789"), (99, b"0123456789")])
def test_at_most_the_requested_bytes_are_read(
    opened: RootDirectory, most: int, head: bytes
) -> None:
    """Or the whole file, if it is shorter."""
    assert opened.head("/file", most) == head


def test_only_the_file_of_the_walk_is_opened(opened: RootDirectory, file: Path) -> None:
    """Not another file or a link in its place, and not the file after a change."""
    seen = file.stat()
    file.rename(file.with_name("moved"))
    file.write_bytes(b"0123456789")
    with pytest.raises(OSError, match="changed since the walk"):
        opened.file("/file", seen)
    os.truncate(file.with_name("moved"), 3)
    with pytest.raises(OSError, match="changed since the walk"):
        opened.file("/moved", seen)


def test_a_pipe_is_not_waited_for(opened: RootDirectory, tmp_path: Path) -> None:
    """It has no writer, and is not a regular file."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no longer a regular file"):
        opened.file("/pipe", (tmp_path / "pipe").stat())


def test_no_descriptor_is_left_open(opened: RootDirectory, file: Path) -> None:
    """Whether the file was read or rejected."""
    seen = file.stat()
    before = len(os.listdir("/proc/self/fd"))
    opened.head("/file", 3)
    file.write_bytes(b"other")
    with pytest.raises(OSError, match="changed"):
        opened.file("/file", seen)
    assert len(os.listdir("/proc/self/fd")) == before
