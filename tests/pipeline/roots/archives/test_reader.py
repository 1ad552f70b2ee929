"""Archives: their contents equal the packed folders, and hostile ones cost little."""

import gzip
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from pipeline.roots.archives.formats import ArchiveRejected, LimitedReader
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local.folder import Archive, Folder, Limits
from pipeline.roots.snapshot import Snapshot
from pipeline.roots.source import DEFAULT_LIMITS
from pipeline.service.reconcile import compare
from tests.support import roots as opened_roots
from tests.support.made_archives import (
    GOOD,
    SKILL,
    header,
    make_tar,
    make_zip,
    many_members,
    overlapping,
    pack_tar,
    pack_zip,
    rewritten,
    zeros,
)
from tests.support.serving import Serving
from tests.support.skills import write_skill

TARS = ("tar", "tar.gz", "tgz")
PACKERS = {"zip": pack_zip, "skill": pack_zip} | dict.fromkeys(TARS, pack_tar)


def found(root: Path, limits: Limits = DEFAULT_LIMITS) -> dict[str, Snapshot]:
    """Return the snapshot of every skill folder in the archives of a root, by path."""
    snapshots = {}
    for archive in opened_roots.walk(root, "", limits):
        if isinstance(archive, Archive):
            with open_archive(archive) as folders:
                for folder in folders:
                    snapshot = opened_roots.read(root, folder, limits)
                    assert snapshot is not None
                    snapshots[folder.path] = snapshot
    return snapshots


def codes(root: Path, limits: Limits = DEFAULT_LIMITS) -> dict[str, list[str]]:
    """Return the codes of the problems of every skill folder in the archives of a root."""
    return {
        path: [problem.code for problem in snapshot.problems]
        for path, snapshot in found(root, limits).items()
    }


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """Return a root for folders, and one for archives."""
    for name in ("plain", "packed"):
        (tmp_path / name).mkdir()
    return tmp_path / "plain", tmp_path / "packed"


def write_every_kind(top: Path) -> None:
    """Write skills with files, links and junk of every kind."""
    write_skill(
        top / "a",
        files={
            "scripts/run.sh": "#!/bin/sh\n",
            "empty": "",
            "会议/纪要.md": "文\n",
            "assets/nul": b"a\0b",
            "assets/inner/SKILL.md": "data\n",
            ".DS_Store": "junk",
            "__MACOSX/._x": "junk",
            "x.zip": b"PK",
        },
    )
    (top / "a/scripts/run.sh").chmod(0o755)
    (top / "shared").mkdir()
    (top / "shared/notes.md").write_text("Notes.\n")
    (top / "a/notes.md").symlink_to("../shared/notes.md")
    (top / "a/shared").symlink_to("../shared")
    (top / "a/dangling").symlink_to("nowhere")
    (top / "a/again").symlink_to(".")
    write_skill(top / "a/nested")
    write_skill(top / "b")


def unpacked(root: Path) -> dict[str, Snapshot]:
    """Return the snapshot of every skill folder of a root without archives, by path."""
    snapshots = {}
    for folder in opened_roots.walk(root):
        if not isinstance(folder, Folder):
            continue
        snapshot = opened_roots.read(root, folder)
        assert snapshot is not None
        snapshots[folder.path] = snapshot
    return snapshots


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_folder_equals_the_unpacked_one(roots: tuple[Path, Path], ending: str) -> None:
    """Its files, digest and problems are the same."""
    plain, packed = roots
    write_every_kind(plain / "top")
    PACKERS[ending](plain / "top", packed / f"x.{ending}")
    expected = {f"x.{ending}!/{path}": one for path, one in unpacked(plain).items()}
    assert list(expected) == [f"x.{ending}!/top/{path}" for path in ("a", "a/nested", "b")]
    snapshots = found(packed)
    assert list(snapshots) == list(expected)
    for path, snapshot in snapshots.items():
        for field in ("skill_md_name", "skill_md", "files", "digest", "problems"):
            assert getattr(snapshot, field) == getattr(expected[path], field), (path, field)


def test_a_skill_at_the_top_has_the_path_of_its_archive(tmp_path: Path) -> None:
    """The skills below it are separate skills."""
    make_zip(tmp_path / "x.zip", {"SKILL.md": GOOD, "sub/SKILL.md": GOOD, "sub/a.md": "x"})
    assert {path: [file.path for file in one.files] for path, one in found(tmp_path).items()} == {
        "x.zip!": ["SKILL.md"],
        "x.zip!/sub": ["SKILL.md", "a.md"],
    }


def test_names_are_as_they_were_meant(tmp_path: Path) -> None:
    """UTF-8 without its flag, paths that start with `./`, no entries for directories."""
    make_zip(tmp_path / "x.zip", {"./sample/SKILL.md": GOOD, "sample//会议.md": "x"})
    data = (tmp_path / "x.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "x.zip") as file:
        assert any(info.flag_bits & 0x800 for info in file.infolist())
    cleared = bytearray(data)
    for start, at in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        place = data.find(start)
        while place >= 0:
            cleared[place + at] &= ~0x08
            place = data.find(start, place + 1)
    (tmp_path / "x.zip").write_bytes(cleared)
    (only,) = found(tmp_path).values()
    assert [file.path for file in only.files] == ["SKILL.md", "会议.md"]


def test_modes_count_where_the_system_of_the_maker_has_them(tmp_path: Path) -> None:
    """In a zip from another system the upper bits are meaningless."""
    make_zip(tmp_path / "x.zip", {**SKILL, "sample/run": "x"}, {"sample/run": stat.S_IFREG | 0o700})
    assert [file.mode for file in found(tmp_path)["x.zip!/sample"].files] == [0o644, 0o755]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        info = zipfile.ZipInfo("SKILL.md")
        info.create_system, info.external_attr = 0, 0x21FF0020
        file.writestr(info, GOOD)
    assert [file.mode for file in found(tmp_path)["x.zip!"].files] == [0o644]


@pytest.mark.parametrize(
    "name",
    [
        "/etc/x",
        "sample/../../x",
        "..",
        "C:/x",
        "c:x",
        "sample\\x",
        "sample/" + "x" * 256,
        "sample/" + "/x" * 600,
        "a\0b",
    ],
)
@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_an_unsafe_path_is_rejected(tmp_path: Path, name: str, make: Callable[..., Path]) -> None:
    """On every system and with every program."""
    if "\0" in name:
        if make is make_tar:
            pytest.skip("a tar cannot say so")
        make_zip(tmp_path / "x.zip", {**SKILL, "aNb": "x"})
        rewritten(tmp_path / "x.zip", b"aNb", b"a\0b")
    else:
        make(tmp_path / ("x.zip" if make is make_zip else "x.tgz"), {**SKILL, name: "x"})
    assert [*codes(tmp_path).values()] == [["archive-path-unsafe"]]


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("../x", None),
        ("../../x", "archive-link-leaves"),
        ("/etc/passwd", "archive-link-leaves"),
        ("sub/../../..", "archive-link-leaves"),
        ("up/../../x", None),
        ("up/../../../x", "archive-link-leaves"),
    ],
)
@pytest.mark.parametrize("is_zip", [True, False])
def test_links_are_followed_through_the_archive(
    tmp_path: Path, target: str, code: str | None, is_zip: bool
) -> None:
    """Their final target counts, after all other links."""
    if is_zip:
        link = stat.S_IFLNK | 0o777
        make_zip(
            tmp_path / "x.zip",
            {**SKILL, "x": "X", "sample/sub/up": "..", "sample/up": "sub", "sample/link": target},
            {"sample/link": link, "sample/up": link, "sample/sub/up": link},
        )
    else:
        make_tar(
            tmp_path / "x.tgz",
            {
                **SKILL,
                "x": "X",
                "sample/sub/up": header(tarfile.SYMTYPE, ".."),
                "sample/up": header(tarfile.SYMTYPE, "sub"),
                "sample/link": header(tarfile.SYMTYPE, target),
            },
        )
    (seen,) = found(tmp_path).values()
    refusals = [p.code for p in seen.problems if p.code.startswith("archive")]
    assert refusals == ([code] if code else [])
    assert code or [file.text for file in seen.files if file.path == "link"] == ["X"]


@pytest.mark.parametrize(
    "members",
    [
        {"sample": "x", "sample/x": "y"},
        {"sample/x/y": "y", "sample/x": "x"},
        {"link": header(tarfile.SYMTYPE, "sample"), "link/x": "y"},
    ],
)
def test_a_path_through_a_file_or_link_is_rejected(tmp_path: Path, members: dict[str, str]) -> None:
    """A path through a link of an earlier entry is a known attack."""
    make_tar(tmp_path / "x.tgz", {**SKILL, **members} if "sample" not in members else members)
    assert [*codes(tmp_path).values()] == [["archive-duplicate-member"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sample/Straße", "sample/STRASSE"),
        ("sample/cafe\u0301", "sample/caf\u00e9"),
        ("Dir/a", "dir/b"),
    ],
)
def test_names_that_are_equal_on_some_systems_are_rejected(
    tmp_path: Path, one: str, other: str
) -> None:
    """Upper and lower case and Unicode normalization count; also for directories."""
    make_tar(tmp_path / "x.tgz", {**SKILL, one: "x", other: "x"})
    assert [*codes(tmp_path).values()] == [["archive-duplicate-member"]]


@pytest.mark.parametrize("kind", [tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_entries_without_files_of_their_own_are_rejected(tmp_path: Path, kind: bytes) -> None:
    """A hard link, a device or a pipe."""
    make_tar(tmp_path / "x.tgz", {**SKILL, "sample/x": header(kind, "sample/SKILL.md")})
    assert [*codes(tmp_path).values()] == [["archive-special-member"]]


@pytest.mark.parametrize("name", ["x.zip", "x.tgz"])
def test_an_archive_that_is_cut_anywhere_is_rejected_without_a_traceback(
    tmp_path: Path, name: str
) -> None:
    """It counts as incomplete, never as a smaller archive."""
    make: Callable[..., Path] = make_zip if name == "x.zip" else make_tar
    whole = make(tmp_path / name, {**SKILL, "sample/x": os.urandom(3000)}).read_bytes()
    for size in {*range(0, len(whole), 97), len(whole) - 1, len(whole) - 8, len(whole) - 21}:
        (tmp_path / name).write_bytes(whole[:size])
        assert [*codes(tmp_path).values()] == [["archive-corrupt"]], size


@pytest.mark.parametrize("name", ["x.zip", "x.tgz"])
def test_a_damaged_archive_is_rejected_or_gives_the_packed_files(tmp_path: Path, name: str) -> None:
    """Whichever byte is changed: a digest of other contents never results."""
    make: Callable[..., Path] = make_zip if name == "x.zip" else make_tar
    whole = make(tmp_path / name, {**SKILL, "sample/run": "#!/bin/sh\n"}).read_bytes()
    good = found(tmp_path)[f"{name}!/sample"]
    for at in range(0, len(whole), 3):
        (tmp_path / name).write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        for seen in found(tmp_path).values():
            if seen.digest and make is make_tar:
                assert seen.digest == good.digest, at
            elif seen.digest:  # a zip's names and modes have no checksum, its contents do
                assert {f.sha256 for f in seen.files} <= {f.sha256 for f in good.files}, at


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(lambda data: data[:2600], "archive-corrupt", id="in a file"),
        pytest.param(lambda data: data[:1100], "archive-corrupt", id="in a header"),
        pytest.param(
            lambda data: data[:1024] + b"\1" + data[1025:], "archive-corrupt", id="rubbish"
        ),
        pytest.param(
            lambda data: data[:124] + b"\xff" * 12 + data[136:],
            "archive-corrupt",
            id="a size below zero",
        ),
    ],
)
def test_a_tar_ends_where_it_says_so(
    tmp_path: Path, change: Callable[[bytes], bytes], code: str
) -> None:
    """A tar without its end mark is not a smaller tar, even if gzip is complete."""
    make_tar(tmp_path / "x.tgz", {**SKILL, "sample/x": "x" * 2000})
    data = gzip.decompress((tmp_path / "x.tgz").read_bytes())
    (tmp_path / "x.tgz").write_bytes(gzip.compress(change(data)))
    assert codes(tmp_path) == {"x.tgz!": [code]}


@pytest.mark.parametrize("ending", TARS[1:])
def test_a_bomb_of_each_compression_is_refused(tmp_path: Path, ending: str) -> None:
    """It is refused before its end, which is missing here."""
    path = make_tar(tmp_path / f"x.{ending}", SKILL | {"sample/x": bytes(80 << 20)})
    path.write_bytes(path.read_bytes()[:-10])
    assert codes(tmp_path) == {f"x.{ending}!": ["archive-bomb"]}


@pytest.mark.parametrize("ending", TARS)
def test_the_size_of_each_kind_of_tar_is_limited(tmp_path: Path, ending: str) -> None:
    """Packed or unpacked."""
    make_tar(tmp_path / f"x.{ending}", SKILL | {"sample/x": os.urandom(50_000)})
    seen = codes(tmp_path, Limits(archive_bytes=40_000))
    assert seen == {f"x.{ending}!": ["archive-too-large"]}


def test_a_limited_reader_gives_no_more_than_allotted(tmp_path: Path) -> None:
    """More is not even read."""
    (tmp_path / "x").write_bytes(b"x" * 100)
    with (tmp_path / "x").open("rb") as file:
        rationed = LimitedReader(file)
        rationed.allot(50)
        assert rationed.read(20) == b"x" * 20
        with pytest.raises(ArchiveRejected):
            rationed.read(31)
        assert file.tell() == 20
        rationed.allot(79)
        with pytest.raises(ArchiveRejected):
            rationed.read()


def test_declared_sizes_of_a_zip_are_not_trusted(tmp_path: Path) -> None:
    """Sizes that are too small or too large are both rejected."""
    for size in (10, 5_000):
        make_zip(tmp_path / "x.zip", {"SKILL.md": GOOD + "x" * 1000})
        real = (len(GOOD) + 1000).to_bytes(4, "little")
        rewritten(tmp_path / "x.zip", real, size.to_bytes(4, "little"))
        assert codes(tmp_path) == {"x.zip!": ["archive-corrupt"]}


def test_limits_hold_for_each_skill_inside(tmp_path: Path) -> None:
    """Only the skill with too many files is rejected."""
    make_zip(tmp_path / "x.zip", {**SKILL, "big/SKILL.md": GOOD, "big/a": "x", "big/b": "x"})
    seen = codes(tmp_path, Limits(files=2))
    assert seen == {"x.zip!/big": ["too-many-files"], "x.zip!/sample": []}


def test_links_to_large_directories_do_not_multiply(tmp_path: Path) -> None:
    """Their targets count once for each link."""
    members: dict[str, str | tarfile.TarInfo] = {f"shared/{n}": "x" for n in range(200)}
    for number in range(10):
        members[f"s{number}/SKILL.md"] = GOOD
        members[f"s{number}/shared"] = header(tarfile.SYMTYPE, "../shared")
    make_tar(tmp_path / "x.tgz", members)
    assert codes(tmp_path, Limits(archive_members=1000)) == {"x.tgz!": ["archive-too-many-members"]}
    assert len(codes(tmp_path)) == 10


def test_archives_inside_skills_and_archives_are_files(tmp_path: Path) -> None:
    """They belong to the skill around them, or to none."""
    inner = make_zip(tmp_path / "inner.zip", SKILL)
    (tmp_path / "root/s").mkdir(parents=True)
    (tmp_path / "root/s/SKILL.md").write_text(GOOD)
    shutil.copy(inner, tmp_path / "root/s/inner.zip")
    make_zip(tmp_path / "root/x.zip", {**SKILL, "inner.zip": inner.read_bytes()})
    seen = list(opened_roots.walk(tmp_path / "root"))
    assert sorted(one.path for one in seen) == ["s", "x.zip!"]
    assert list(found(tmp_path / "root")) == ["x.zip!/sample"]
    assert list(opened_roots.walk(tmp_path / "root", "s/inner.zip!")) == []
    assert opened_roots.look(tmp_path / "root", "s/inner.zip!/sample") is None


def test_a_directory_named_like_an_archive_is_a_directory(tmp_path: Path) -> None:
    """So is one named like the contents of an archive; no two share a path."""
    make_zip(tmp_path / "x.zip", SKILL)
    for name in ("y.zip", "x.zip!"):
        (tmp_path / name / "sample").mkdir(parents=True)
        (tmp_path / name / "sample/SKILL.md").write_text(GOOD)
    assert sorted(one.path for one in opened_roots.walk(tmp_path)) == [
        "x.zip!",
        r"x.zip\x21/sample",
        "y.zip/sample",
    ]
    for path in ("x.zip!/sample", r"x.zip\x21/sample", "y.zip/sample"):
        folder = opened_roots.look(tmp_path, path)
        assert folder is not None
        snapshot = opened_roots.read(tmp_path, folder)
        assert snapshot is not None
        assert snapshot.path == path
    assert opened_roots.look(tmp_path, "y.zip!/sample") is None


def test_an_archive_exchanged_while_it_is_read_is_nothing(tmp_path: Path) -> None:
    """The walk and the reading see the same file, or it waits."""
    make_zip(tmp_path / "x.zip", SKILL)
    (archive,) = opened_roots.walk(tmp_path)
    assert isinstance(archive, Archive)
    with open_archive(archive) as (folder,):
        make_zip(tmp_path / "new", {**SKILL, "sample/x": "x"}).rename(tmp_path / "x.zip")
        assert opened_roots.read(tmp_path, folder) is None
    assert opened_roots.read(tmp_path, folder) is None
    with pytest.raises(OSError, match="changed"), open_archive(archive):
        pass


def test_no_file_stays_open(tmp_path: Path) -> None:
    """However reading ends."""
    make_zip(tmp_path / "x.zip", SKILL)
    make_tar(tmp_path / "y.tgz", SKILL)
    (tmp_path / "z.zip").write_bytes(b"PK\3\4 and no more")
    before = os.listdir("/proc/self/fd")
    found(tmp_path)
    for path in ("x.zip!/sample", "y.tgz!/sample", "z.zip!"):
        opened_roots.look(tmp_path, path)
    assert os.listdir("/proc/self/fd") == before


# Given a path, a program that reads the archives of a root, with little memory and time.
READ = """
import resource, sys
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.source import open_source
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]) << 20,) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[3]),) * 2)
with open_source(sys.argv[1]) as source:
    for archive in source.walk():
        with open_archive(archive) as folders:
            print([problem.code for folder in folders for problem in folder.problems])
"""


@pytest.mark.parametrize(
    ("make", "code"),
    [
        pytest.param(
            lambda root: many_members(root / "x.zip", 1_000_000),
            "archive-too-many-members",
            id="a million members",
        ),
        pytest.param(
            lambda root: many_members(root / "x.zip", 40_000),
            "archive-too-many-members",
            id="a directory just small enough to be read",
        ),
        pytest.param(lambda root: zeros(root / "x.tgz", 512 << 20), "archive-bomb", id="zeros"),
        pytest.param(
            lambda root: overlapping(root / "x.zip", 5_000, 10 << 20),
            "archive-bomb",
            id="files that overlap",
        ),
        pytest.param(
            lambda root: make_zip(root / "x.zip", {**SKILL, "sample/x": bytes(200 << 20)}),
            "archive-bomb",
            id="a file of zeros",
        ),
        pytest.param(
            lambda root: make_tar(
                root / "x.tgz", {f"{n:0>9}/" * 20: header(tarfile.DIRTYPE) for n in range(3_000)}
            ),
            "archive-too-many-members",
            id="deep directories",
        ),
        pytest.param(
            lambda root: make_tar(
                root / "x.tgz",
                {f"{n}": header(tarfile.SYMTYPE, f"{n + 1}/" + "./" * 2_000) for n in range(5_000)},
            ),
            "archive-without-skill",
            id="links that lead to one another",
        ),
        pytest.param(
            lambda root: make_tar(
                root / "x.tgz",
                {
                    f"{top}/{n}": header(kind, "../d")
                    for n in range(4_000)
                    for top, kind in (("d", tarfile.DIRTYPE), ("l", tarfile.SYMTYPE))
                },
            ),
            "archive-without-skill",
            id="links that all lead to all directories",
        ),
        pytest.param(
            lambda root: make_tar(root / "x.tgz", {"9" * 60_000: "x"}),
            "archive-corrupt",
            id="a header of digits",
        ),
        pytest.param(
            lambda root: make_tar(root / "x.tgz", {"x" * 1_000_000: "x"}),
            "archive-corrupt",
            id="a header without end",
        ),
    ],
)
def test_a_hostile_archive_is_judged_in_bounded_time_and_memory(
    tmp_path: Path, make: Callable[[Path], object], code: str
) -> None:
    """In a process with half a gigabyte and a few seconds, including imports."""
    (tmp_path / "root").mkdir()
    make(tmp_path / "root")
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / "root", "512", "10"],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr[-500:]) == (f"{[code]}\n", "")


# With a service


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Return a running service, which is stopped after the test."""
    service = Serving(tmp_path, settle_longest=0.3).start()
    yield service
    service.stop()


@pytest.fixture
def contents(tmp_path: Path) -> Path:
    """Return a folder of two skills, to be packed."""
    for name in ("x", "y"):
        write_skill(
            tmp_path / "packed" / name,
            description=f"Does {name}.",
            files={"data.bin": os.urandom(4096)},
        )
    return tmp_path / "packed"


def pack_into(serving: Serving, contents: Path) -> None:
    """Pack a folder, and move the archive into the root in one step."""
    pack_zip(contents, contents.parent / "pack.zip").replace(serving.root / "pack.zip")
    serving.settle()


def status(serving: Serving) -> str:
    """Return what the command `status` prints."""
    return subprocess.run(
        [
            Path(sys.executable).with_name("skilldrop"),
            "--watched",
            serving.root,
            "--data",
            serving.settings.data,
            "status",
        ],
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_a_slowly_copied_archive_is_pending_until_it_is_whole(
    serving: Serving, contents: Path, tmp_path: Path
) -> None:
    """Then its skills are stored and published."""
    data = pack_zip(contents, tmp_path / "pack.zip").read_bytes()
    slow_copy(serving, data, serving.root / "pack.zip")
    serving.settle()
    assert serving.statuses() == {
        "pack.zip!": "removed",  # the archive itself is no skill
        "pack.zip!/packed/x": "active",
        "pack.zip!/packed/y": "active",
    }
    published = serving.settings.packages_folder / "x/current/data.bin"
    assert published.read_bytes() == (contents / "x/data.bin").read_bytes()
    assert ": Does x.\n" in serving.index()


def test_a_replaced_archive_replaces_its_skills(serving: Serving, contents: Path) -> None:
    """A changed skill is published again, and a renamed one keeps its row."""
    pack_into(serving, contents)
    write_skill(contents / "x", description="Does more.")
    (contents / "y").rename(contents / "z")
    pack_into(serving, contents)
    statuses = serving.statuses()
    statuses.pop("pack.zip!", None)  # pending for a moment if this machine is busy
    assert statuses == {"pack.zip!/packed/x": "active", "pack.zip!/packed/z": "active"}
    assert ": Does more.\n" in serving.index()


def test_a_rejected_archive_leaves_the_last_good_versions_until_it_is_removed(
    serving: Serving, contents: Path, tmp_path: Path
) -> None:
    """`status` names both, and no file is written outside."""
    pack_into(serving, contents)
    make_tar(tmp_path / "evil.tgz", SKILL | {"sample/../../../escaped": "x"}).replace(
        serving.root / "evil.tgz"
    )
    make_zip(tmp_path / "pack.zip", SKILL | {"sample/../../x": "x"}).replace(
        serving.root / "pack.zip"
    )
    serving.settle()
    assert serving.statuses()["evil.tgz!"] == "rejected"
    text = status(serving)
    assert "error: evil.tgz!  archive-path-unsafe" in text
    assert "newest content rejected, last good version stays: pack.zip!/packed/x, " in text
    assert ": Does x.\n" in serving.index()
    assert not list(tmp_path.rglob("escaped"))

    for name in ("pack.zip", "evil.tgz"):
        (serving.root / name).unlink()
    serving.settle()
    assert set(serving.statuses().values()) == {"removed"}
    assert "Does x." not in serving.index()
    assert compare(serving.settings).differences == ()


def slow_copy(serving: Serving, data: bytes, path: Path) -> None:
    """Copy a file so slowly that it is pending meanwhile, and nothing in it is stored."""
    rest = iter(data)
    with path.open("wb", buffering=0) as file:
        file.write(bytes(islice(rest, len(data) // 2)))
        while not serving.rows(
            "SELECT 1 FROM skills WHERE path = ? AND pending_reason = ?",
            f"{path.name}!",
            "still changing",
        ):
            file.write(bytes([next(rest)]))
            time.sleep(0.02)  # the pace of the copy
        assert serving.statuses() == {f"{path.name}!": "pending"}
        file.write(bytes(rest))
