"""Published files as agents read them, and refused requests."""

import base64
import hashlib
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlite_utils import Database

from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.reading.files import skill_files
from catalog.reading.files.published import Package, find_file, package_of
from catalog.reading.files.skill_files import LISTED, wrap_text
from tests.support.escapes import ESCAPES
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter, write_skill

SECRET = "root:x:0:0:never to be read"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))
LONG = "".join(f"第 {n} 行:字数统计。\n" for n in range(9000))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return a shelf with a skill of every kind of file, and secrets around it."""
    top = tmp_path_factory.mktemp("shelf")
    made = Shelf(top)
    write_skill(
        made.root / "word-count",
        body="# Count\n\nRun it.\n",
        files={
            "scripts/count.py": "print('words')\n",
            "references/long.md": LONG,
            "assets/logo.png": PNG,
            "bom.txt": b"\xef\xbb\xbfwith a BOM\n",
            "empty.txt": b"",
            "gb.txt": "字数".encode("gb18030"),
            "data.tar.gz": b"\x1f\x8b\x08rest",
            "%2e%2e/escaped.md": "a folder with a strange name\n",
            "data:text/html,x.MD": "# Odd\n",
        },
    )
    (made.root / "word-count/scripts/count.py").chmod(0o755)
    write_skill(made.root / "会议纪要", description="把会议录音整理成纪要。用于会议之后。")
    lower = write_skill(made.root / "lower")
    (lower / "SKILL.md").rename(lower / "skill.md")
    write_skill(made.root / "spoken", name="Word Talk")
    write_skill(made.root / "removed")
    write_skill(made.root / "broken", files={"SKILL.md": "no frontmatter\n"})
    made.scan()
    shutil.rmtree(made.root / "removed")
    made.scan()
    made.loosen()
    (top / "secret").write_text(SECRET)
    (made.packages / "secret").write_text(SECRET)
    (made.packages / "word-count" / "secret").write_text(SECRET)
    (made.version_folder("word-count") / "not-in-the-catalog").write_text(SECRET)
    yield made
    made.close()


def read(
    shelf: Shelf,
    path: str = "SKILL.md",
    skill: str = "word-count",
    *,
    offset: int = 0,
    limit: int | None = None,
) -> skill_files.SkillFile:
    """Read a file of the shelf."""
    package = package_of(shelf.db, shelf.packages, skill)
    return skill_files.read(package, path, offset=offset, limit=limit)


# What is given


def opened(shelf: Shelf, path: str = "SKILL.md") -> AbstractContextManager[BinaryIO]:
    """Open a file of the skill word-count."""
    package = package_of(shelf.db, shelf.packages, "word-count")
    return skill_files.opened(package, find_file(package, path))


def wrapped(shelf: Shelf, limit: int | None = None) -> str:
    """Return the wrapped SKILL.md of the skill word-count."""
    package = package_of(shelf.db, shelf.packages, "word-count")
    return skill_files.wrap(package, skill_files.read(package, limit=limit))


@pytest.mark.requirement("own/read-default")
def test_a_skill_is_read_by_its_name(shelf: Shelf) -> None:
    """SKILL.md is the default file, and its content is the published one."""
    told = read(shelf)
    data = (shelf.root / "word-count/SKILL.md").read_bytes()
    assert told.text == data.decode()
    assert (told.skill_id, told.skill, told.path) == ("word-count", "word-count", "SKILL.md")
    assert (told.size, told.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert (told.encoding, told.media_type) == ("utf-8", "text/markdown")
    assert (told.offset, told.next_offset, told.executable) == (0, None, False)
    assert told.version == os.readlink(shelf.packages / "word-count/current")


@pytest.mark.requirement("agent-skills/disclosure-resources", "own/read-kinds")
@pytest.mark.parametrize(
    ("path", "media_type", "encoding", "text"),
    [
        ("scripts/count.py", "text/x-python", "utf-8", "print('words')\n"),
        ("./scripts/count.py", "text/x-python", "utf-8", "print('words')\n"),
        ("bom.txt", "text/plain", "utf-8-sig", "with a BOM\n"),
        ("empty.txt", "text/plain", "utf-8", ""),
        ("gb.txt", "text/plain", "base64", base64.b64encode("字数".encode("gb18030")).decode()),
        ("assets/logo.png", "image/png", "base64", base64.b64encode(PNG).decode()),
        (
            "data.tar.gz",
            "application/gzip",
            "base64",
            base64.b64encode(b"\x1f\x8b\x08rest").decode(),
        ),
        ("%2e%2e/escaped.md", "text/markdown", "utf-8", "a folder with a strange name\n"),
        ("data:text/html,x.MD", "text/markdown", "utf-8", "# Odd\n"),
    ],
)
def test_every_kind_of_file_comes_as_text(
    shelf: Shelf, path: str, media_type: str, encoding: str, text: str
) -> None:
    """UTF-8 as it is, anything else as base64, each with its media type."""
    told = read(shelf, path)
    assert (told.media_type, told.encoding, told.text) == (media_type, encoding, text)


def test_a_script_is_marked_as_executable(shelf: Shelf) -> None:
    """An agent knows which files its author made executable."""
    assert read(shelf, "scripts/count.py").executable


@pytest.mark.requirement("own/read-name")
def test_a_name_is_tried_before_a_skill_id(shelf: Shelf) -> None:
    """Both lead to the skill, in Chinese as well."""
    assert read(shelf, skill="会议纪要").skill_id == "会议纪要"
    assert read(shelf, skill="Word Talk").skill_id == "word-talk"
    assert read(shelf, skill="word-talk").skill == "Word Talk"


def test_skill_md_is_found_in_lower_case(shelf: Shelf) -> None:
    """A request for SKILL.md returns the variant of the skill, under its own name."""
    assert read(shelf, skill="lower").path == "skill.md"


@pytest.mark.parametrize("path", ["references/long.md", "assets/logo.png", "bom.txt"])
def test_pages_joined_are_the_file(shelf: Shelf, path: str) -> None:
    """Each page says where the next one starts, and how large the whole file is."""
    whole, pages = read(shelf, path), list[str]()
    at: int | None = 0
    while at is not None:
        page = read(shelf, path, offset=at, limit=5000)
        assert (page.size, page.sha256) == (whole.size, whole.sha256)
        pages.append(page.text)
        at = page.next_offset
    assert "".join(pages) == whole.text


@pytest.mark.parametrize(("offset", "limit"), [(-1, None), (10**9, None), (0, 0), (0, -5)])
def test_an_impossible_page_is_refused(shelf: Shelf, offset: int, limit: int | None) -> None:
    """The message has the size of the file."""
    with pytest.raises(PathRefused, match=r"'SKILL.md' has \d+ bytes"):
        read(shelf, offset=offset, limit=limit)


def test_raw_bytes_are_served_after_verification(shelf: Shelf) -> None:
    """For serving over HTTP: the entry with type and hash, and the file at its start."""
    assert (
        find_file(package_of(shelf.db, shelf.packages, "word-count"), "assets/logo.png").media_type
        == "image/png"
    )
    with opened(shelf, "assets/logo.png") as file:
        assert file.read() == PNG


def test_an_error_of_the_client_is_not_an_error_of_the_package(shelf: Shelf) -> None:
    """A connection that breaks while a file is sent says nothing about the package."""
    with (
        pytest.raises(ConnectionResetError),
        opened(shelf),
    ):
        raise ConnectionResetError


def test_a_wrapped_skill_has_the_path_of_its_files(shelf: Shelf) -> None:
    """The body without frontmatter, the published folder, and the other files."""
    told = wrapped(shelf)
    assert told.startswith('<skill_content name="word-count">\n# Count\n\nRun it.\n\n')
    assert f"Skill directory: {shelf.packages.parent}/skills/word-count\n" in told
    assert "  <file>scripts/count.py</file>\n" in told
    assert "<file>SKILL.md</file>" not in told


def test_a_wrapped_page_has_the_offset_of_the_next(shelf: Shelf) -> None:
    """A model does not mistake a long SKILL.md for a short one."""
    told = wrapped(shelf, 40)
    assert "only a part of SKILL.md" in told
    assert "offset 21" in told


# What is refused


def refused(shelf: Shelf, path: str, skill: str = "word-count") -> str:
    """Assert that a path gives one or two clear sentences, and return them."""
    attempt = f"{path[:30]!a} of {skill[:30]!a}"
    try:
        read(shelf, path, skill)
    except (NotInCatalog, PathRefused) as error:
        told = str(error)
    else:
        pytest.fail(f"{attempt} was read")
    assert told.endswith("."), attempt
    assert told.isprintable(), f"{attempt} reaches a terminal raw"
    assert len(told) < 2500, attempt
    assert SECRET not in told, attempt
    return told


def test_there_are_more_than_two_hundred_attempts() -> None:
    """The table has no attempt twice."""
    assert len(set(ESCAPES)) == len(ESCAPES) > 200


@pytest.mark.requirement("prd/read-inside")
def test_a_path_that_names_no_published_file_is_refused(shelf: Shelf) -> None:
    """Every attempt gives a sentence with files that exist."""
    leads = ("The closest are: ", "It has: ", "a directory with: ")
    for path in ESCAPES:
        told = refused(shelf, path)
        assert any(lead in told for lead in leads), f"{path[:30]!a}: {told}"


NO_SKILLS = [
    *ESCAPES,
    "word-count/../word-count",
    "word-count/current",
    "../packages/word-count",
    "Word-Count",
    "WORD-COUNT",
    "word_count",
    "broken",
    "word-count ",
]


def test_a_name_that_no_skill_has_is_refused(shelf: Shelf) -> None:
    """The same attempts as a skill name are refused, too."""
    for name in NO_SKILLS:
        told = refused(shelf, "SKILL.md", name)
        assert "closest are: " in told or "There are: " in told, f"{name[:30]!a}: {told}"


_PIECES = st.sampled_from(
    [
        "..",
        ".",
        "",
        "/",
        "//",
        "\\",
        "\0",
        "~",
        "secret",
        "SKILL.md",
        "scripts",
        "count.py",
        "current",
        "word-count",
        "%2e",
        "%2f",
        "．",
        "／",
        "C:",
        "etc",
        "passwd",
        "\n",
        " ",
        "\ud800",
    ]
)


@pytest.mark.requirement("prd/read-inside")
@given(
    path=st.lists(_PIECES, max_size=12).map("".join)
    | st.lists(_PIECES, max_size=8).map("/".join)
    | st.text(max_size=300)
)
@example("assets/./logo.png")
def test_no_path_leads_out_of_the_package(shelf: Shelf, path: str) -> None:
    """The answer is a file of the manifest with its hash, or a refusal."""
    known = {file.path: file for file in package(shelf).files}
    if path.removeprefix("./") in known:
        told = read(shelf, path)
        assert told.sha256 == known[told.path].sha256
    else:
        refused(shelf, path)


def package(shelf: Shelf) -> Package:
    """Return the package of the skill with all the files."""
    return package_of(shelf.db, shelf.packages, "word-count")


@pytest.mark.requirement("own/read-unknown-file")
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Count.py", "The closest are: scripts/count.py"),
        ("count.py", "The closest are: scripts/count.py"),
        ("skill.md", "The closest are: SKILL.md"),
        ("some/other/folder/count.py", "The closest are: scripts/count.py"),
        ("script/count.py", "The closest are: scripts/count.py"),
        ("scripts", "It is a directory with: scripts/count.py."),
        ("../secret", "it leads upwards with `..`"),
        ("/etc/passwd", "it is an absolute path"),
        ("C:\\x", "it is an absolute path"),
        ("a\\b", "it has a backslash"),
        ("a\0b", "it has control characters"),
        ("", "no file is named"),
        ("a" * 300, "longer than a path can be"),
    ],
)
def test_a_refusal_has_a_reason_and_suggestions(shelf: Shelf, asked: str, told: str) -> None:
    """The next attempt can be the right one."""
    assert told in refused(shelf, asked)


@pytest.mark.requirement("own/read-unknown-skill")
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Word-Count", "The closest are: word-count"),
        ("wordcount", "The closest are: word-count"),
        ("broken", "The skill 'broken' is rejected; `skilldrop status` says why."),
        ("removed", "The skill 'removed' is removed; `skilldrop restore` brings it back."),
        ("zzz", "There are: Word Talk, lower, word-count, 会议纪要."),
    ],
)
def test_the_error_for_an_unknown_skill_suggests_others(
    shelf: Shelf, asked: str, told: str
) -> None:
    """The closest come first; for an inactive skill the message gives its status."""
    assert told in refused(shelf, "SKILL.md", asked)


def test_the_error_for_an_empty_catalog_has_no_suggestions(tmp_path: Path) -> None:
    """The message states that the catalog has no skills yet."""
    shelf = Shelf(tmp_path)
    shelf.scan()
    assert refused(shelf, "SKILL.md", "x").endswith("The catalog has none yet.")
    shelf.close()


# What was planted in a package


@pytest.fixture
def own(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return a shelf with one skill, to be tampered with."""
    shelf = Shelf(tmp_path)
    skill(shelf.root / "word-count", files={"scripts/count.py": "print('words')\n"})
    shelf.scan()
    shelf.loosen()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/count.py").write_text(SECRET)
    yield shelf
    shelf.close()


def test_a_link_in_the_place_of_a_file_is_not_followed(own: Shelf) -> None:
    """Neither out of the package, nor to another file in it."""
    file = own.version_folder("word-count") / "scripts/count.py"
    for target in ("../../../../../outside/count.py", "/etc/passwd", "../SKILL.md", "count.py"):
        file.unlink()
        file.symlink_to(target)
        assert "is a link or a special file" in refused(own, "scripts/count.py")


def test_a_link_in_the_place_of_a_folder_is_not_followed(own: Shelf, tmp_path: Path) -> None:
    """Neither inside the package, nor the folder of the version, nor that of the skill."""
    version = own.version_folder("word-count")
    for folder in (version / "scripts", version, own.packages / "word-count"):
        aside = tmp_path / f"aside-{folder.name}"
        link = os.readlink(folder / "current") if folder.name == "word-count" else None
        shutil.copytree(folder, aside, symlinks=True)
        shutil.rmtree(folder)
        folder.symlink_to(aside)
        assert "is a link or a special file" in refused(own, "scripts/count.py")
        folder.unlink()
        shutil.copytree(aside, folder, symlinks=True)
        assert link is None or os.readlink(folder / "current") == link


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/etc",
        "..",
        "../..",
        ".",
        "../word-count/x",
        "",
        "a/b",
        "../../../outside",
        "no-such-version",
        "\udcff",
    ],
)
def test_current_can_only_point_to_a_version(own: Shelf, target: str) -> None:
    """A link to anything else is not followed; the version of the catalog is read."""
    before = read(own).text, package_of(own.db, own.packages, "word-count").version
    if target:
        own.flip("word-count", target)
    else:
        (own.packages / "word-count/current").unlink()
        (own.packages / "word-count/current").mkdir()
    assert (read(own).text, package_of(own.db, own.packages, "word-count").version) == before


def test_a_link_newer_than_the_catalog_hides_no_skill(own: Shelf) -> None:
    """On a copy whose packages came after its catalog, the version of the catalog is read."""
    version = os.readlink(own.packages / "word-count/current")
    newer = own.packages / "word-count/20990101-000000"
    newer.mkdir()
    (newer / "SKILL.md").write_text("Newer.\n")
    own.flip("word-count", newer.name)
    package = package_of(own.db, own.packages, "word-count")
    assert package.version == version
    assert "Newer" not in read(own).text


def test_current_may_lead_to_the_package_under_an_earlier_skill_id(own: Shelf) -> None:
    """A skill that is renamed keeps its package; one of another skill is not its own."""
    version = os.readlink(own.packages / "word-count/current")
    (own.packages / "counter").mkdir()
    db = Database(own.settings.catalog_path)
    for owner, whole in ((1, True), (2, False)):
        with db.conn:
            db.conn.execute("PRAGMA foreign_keys = OFF")
            db.conn.execute("UPDATE skills SET skill_id = 'counter', name = 'counter'")
            db.conn.execute("UPDATE versions SET skill = ?", [owner])
        own.flip("counter", f"../word-count/{version}")
        if whole:
            assert read(own, "scripts/count.py", "counter").text == "print('words')\n"
        else:
            with pytest.raises(PackageDamaged):
                read(own, skill="counter")
    db.close()


def test_a_special_file_is_not_opened(own: Shelf) -> None:
    """A FIFO would wait for ever, a socket or a device is no file, a directory no text."""
    file = own.version_folder("word-count") / "scripts/count.py"
    file.unlink()
    os.mkfifo(file)
    assert "special file" in refused(own, "scripts/count.py")
    file.unlink()
    file.mkdir()
    assert "special file" in refused(own, "scripts/count.py")
    file.rmdir()
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(file.parent)  # the name of a socket may not be long
        listener.bind("count.py")
        os.chdir(here)
        assert "special file" in refused(own, "scripts/count.py")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_not_opened(own: Shelf) -> None:
    """/dev/zero under the name of a script would never end."""
    file = own.version_folder("word-count") / "scripts/count.py"
    file.unlink()
    try:
        os.mknod(file, 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no devices can be made here")
    assert "special file" in refused(own, "scripts/count.py")


@pytest.mark.requirement("own/read-accepted")
@pytest.mark.parametrize("content", [b"print('other')\n", b"", b"x" * 10**7, SECRET.encode()])
def test_unaccepted_content_is_not_served(own: Shelf, content: bytes) -> None:
    """The hash of the catalog decides, for text and for raw bytes."""
    file = own.version_folder("word-count") / "scripts/count.py"
    file.unlink()
    file.write_bytes(content)
    with pytest.raises(PackageDamaged, match="differs from the accepted one"):
        read(own, "scripts/count.py")
    with (
        pytest.raises(PackageDamaged),
        opened(own, "scripts/count.py"),
    ):
        pytest.fail("it was served")


def test_a_missing_file_is_reported(own: Shelf) -> None:
    """A damaged package gives one sentence, never a traceback, with a cure for writer and copy."""
    (own.version_folder("word-count") / "scripts/count.py").unlink()
    with pytest.raises(
        PackageDamaged,
        match=r"its package: No such file.* on the writer .* on a copy .* `skilldrop-pull`",
    ):
        read(own, "scripts/count.py")


# Which version


def test_a_reader_stays_in_the_version_it_found(own: Shelf, skill: SkillWriter) -> None:
    """A version published meanwhile is for the next request."""
    before = package_of(own.db, own.packages, "word-count")
    skill(own.root / "word-count", body="# New\n", files={"scripts/count.py": "print(2)\n"})
    own.scan()
    assert skill_files.read(before, "scripts/count.py").text == "print('words')\n"
    assert read(own, "scripts/count.py").text == "print(2)\n"


def test_the_link_decides_until_it_is_flipped(own: Shelf, skill: SkillWriter) -> None:
    """Between commit and switch, shell and reader see the same version, the old one."""
    old = os.readlink(own.packages / "word-count/current")
    skill(own.root / "word-count", body="# New\n")
    own.scan()
    own.flip("word-count", old)
    assert (read(own).version, "# New" in read(own).text) == (old, False)
    assert wrapped(own).count("# A skill") == 1


def test_no_version_is_ever_mixed_with_another(own: Shelf, skill: SkillWriter) -> None:
    """While `current` switches back and forth, both files of a reader are of one version."""
    versions = [os.readlink(own.packages / "word-count/current")]
    skill(own.root / "word-count", body="# New\n", files={"scripts/count.py": "print(2)\n"})
    own.scan()
    versions.append(os.readlink(own.packages / "word-count/current"))
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            for version in versions:
                own.flip("word-count", version)

    flipping = threading.Thread(target=flip)
    flipping.start()
    seen: set[tuple[str, bool, str]] = set()
    try:
        for count in range(20_000):
            if count > 300 and len(seen) > 1:
                break
            found = package_of(own.db, own.packages, "word-count")
            seen.add(
                (
                    found.version,
                    "# New" in skill_files.read(found).text,
                    skill_files.read(found, "scripts/count.py").text,
                )
            )
    finally:
        stop.set()
        flipping.join()
    assert seen == {(versions[0], False, "print('words')\n"), (versions[1], True, "print(2)\n")}


def test_a_reader_beside_real_scans_sees_whole_versions(own: Shelf, skill: SkillWriter) -> None:
    """While edits are published, files that are read together belong together."""

    def edit() -> None:
        for number in range(10):
            skill(
                own.root / "word-count",
                body=f"# Number {number}\n",
                files={"scripts/count.py": f"# Number {number}\n"},
            )
            own.scan()

    editing = threading.Thread(target=edit)
    editing.start()
    seen = set()
    while editing.is_alive():
        found = package_of(own.db, own.packages, "word-count")
        body = skill_files.read(found).text.partition("\n# ")[2]
        assert skill_files.read(found, "scripts/count.py").text in (f"# {body}", "print('words')\n")
        seen.add((found.version, body))
    editing.join()
    assert "# Number 9" in read(own).text
    assert len(seen) > 2
    assert len({version for version, _ in seen}) == len(seen)


def test_a_renamed_skill_is_read_by_its_new_name(own: Shelf, skill: SkillWriter) -> None:
    """The error for its old name suggests the new one."""
    skill(
        own.root / "word-count", name="word-counter", files={"scripts/count.py": "print('words')\n"}
    )
    own.scan()
    assert read(own, "scripts/count.py", "word-counter").skill_id == "word-counter"
    assert "The closest are: word-counter" in refused(own, "SKILL.md", "word-count")


# In place


@pytest.fixture
def placed(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return a shelf whose skill has no package; its files are read in the root."""
    shelf = Shelf(tmp_path, publish="in-place")
    skill(shelf.root / "word-count", files={"scripts/count.py": "print('words')\n"})
    shelf.scan()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/count.py").write_text(SECRET)
    yield shelf
    shelf.close()


def test_files_in_place_are_read_from_the_root(placed: Shelf) -> None:
    """Without packages the answers come from the folder itself."""
    assert read(placed, "scripts/count.py").text == "print('words')\n"
    assert str(placed.root / "word-count") in wrapped(placed)


def test_a_link_in_place_may_lead_to_another_place_in_the_root(placed: Shelf) -> None:
    """Catalog and reader follow it; neither follows a link out of the root."""
    file = placed.root / "word-count/scripts/count.py"
    file.rename(placed.root / "shared.py")
    file.symlink_to("../../shared.py")
    assert read(placed, "scripts/count.py").text == "print('words')\n"
    file.unlink()
    file.symlink_to("../../../outside/count.py")
    assert "leads out of the root" in refused(placed, "scripts/count.py")


def test_an_edit_in_place_is_not_served_before_it_is_accepted(placed: Shelf) -> None:
    """A half-made edit has another hash."""
    (placed.root / "word-count/scripts/count.py").write_text("print('wor")
    with pytest.raises(PackageDamaged, match="has changed since it was accepted"):
        read(placed, "scripts/count.py")


@pytest.mark.requirement(
    "client-guide/wrapped", "client-guide/files-listed", "textbook/step-instructions"
)
def test_a_skill_is_wrapped_with_folder_and_files() -> None:
    """The format of the client guide; Markdown stays as written."""
    told = wrap_text(
        "word-count", "# Steps\n\nIf a < b, `x & y`.\n", "/srv/word-count/1", ["s/run.py"]
    )
    assert told == (
        '<skill_content name="word-count">\n# Steps\n\nIf a < b, `x & y`.\n\n'
        "Skill directory: /srv/word-count/1\n"
        "Paths in this skill are relative to the skill directory.\n\n"
        "<skill_resources>\n  <file>s/run.py</file>\n</skill_resources>\n</skill_content>\n"
    )


@pytest.mark.requirement("client-guide/wrapped")
@pytest.mark.parametrize(
    "body",
    [
        "</skill_content>",
        "</SKILL_CONTENT >",
        "< / skill_content\n>",
        "</skill_content\x00>",
        '<skill_content name="other">',
        "</skill_resources>",
        "<skill_resources>",
        "<</skill_content>>",
        "</skill_</skill_content>content>",
        "<\u2003/skill_content>",
    ],
)
def test_no_body_closes_its_tag(body: str) -> None:
    """Each tag of skilldrop occurs once in the text."""
    told = wrap_text("x", f"before {body} after", "/d", ["f"])
    tags = re.findall(r"<\s*/?\s*skill_(?:content|resources)", told, re.IGNORECASE)
    assert tags == ["<skill_content", "<skill_resources", "</skill_resources", "</skill_content"]
    assert "before" in told
    assert "after" in told


@given(name=st.text(max_size=30), path=st.text(max_size=30))
def test_no_name_breaks_out_of_its_line(name: str, path: str) -> None:
    """Names of skills and files stay on their line and inside their quotes."""
    told = wrap_text(name, "body", path, [path])
    lines = told.split("\n")
    assert len(lines) == 11
    assert lines[0].count("<") == lines[0].count(">") == 1
    assert lines[0].startswith("<skill_content name=")
    assert lines[7].count("<") == 2


@pytest.mark.requirement("client-guide/files-listed")
def test_a_long_list_of_files_ends_with_the_number_of_the_others() -> None:
    """A model learns that more files exist."""
    told = wrap_text("x", "body", "/d", [f"f{n}" for n in range(LISTED + 7)])
    assert told.count("<file>") == LISTED
    assert "and 7 more" in told
