"""Files that are part of no version: secrets, files that ignore files name, and leftovers."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from catalog.model.skill import RootSpec
from catalog.model.values import SecretRule
from pipeline.config.root_settings import RootSettings
from pipeline.config.settings import Settings
from pipeline.roots.local import walk
from pipeline.roots.local.folder import Folder
from pipeline.service.open_catalog import open_store
from pipeline.service.reconcile import compare
from pipeline.service.run_once import scan_once
from pipeline.service.scans import PendingUnits
from pipeline.watch.settling import WatchUnit
from tests.support import roots
from tests.support.made_archives import pack_zip
from tests.support.skills import write_skill

TOKEN = "ghp_" + "k3Jd9Qw7Lm2Zx8Vb4Nc6Rt1Yp5Hs0Gf3Da7X"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"


class Kept:
    """Root and its catalog, without changes in progress."""

    def __init__(self, folder: Path, secrets: SecretRule = "leave-out") -> None:
        self.root, self.data = folder / "root", folder / "data"
        self.root.mkdir(exist_ok=True)
        self.secrets = secrets

    @property
    def settings(self) -> Settings:
        """Settings of one root."""
        root = RootSettings(path=self.root, secrets=self.secrets)
        return Settings(roots=(root,), data=self.data, settle_quiet=0, site={"enabled": False})

    def scan(self) -> None:
        """Bring the catalog up to the root, and see that it equals it."""
        store = open_store(self.settings)
        scan_once(self.settings, store)
        store.close()
        assert not compare(self.settings).differences

    def ask(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Return the rows of a query."""
        with sqlite3.connect(self.settings.catalog_path) as db:
            return db.execute(sql, values).fetchall()

    def left_out(self, path: str = "s") -> dict[str, str]:
        """Return the reasons of a skill's left-out files, by path."""
        rows = self.ask(
            "SELECT l.path, l.reason FROM left_out_files AS l JOIN skills AS s ON s.id = l.skill"
            " WHERE s.path = ?",
            path,
        )
        return {str(path): str(reason) for path, reason in rows}

    def packaged(self, skill_id: str = "s") -> set[str]:
        """Return the files of a published package."""
        package = self.settings.packages_folder / skill_id / "current"
        return {str(file.relative_to(package)) for file in package.rglob("*") if file.is_file()}

    def findings(self, code: str) -> list[tuple[object, ...]]:
        """Return path and line of the findings of a code."""
        return self.ask("SELECT path, line FROM findings WHERE code = ? ORDER BY path", code)

    def status(self, path: str = "s") -> object:
        """Return the status of a skill; None if there is none."""
        rows = self.ask("SELECT status FROM skills WHERE path = ?", path)
        return rows[0][0] if rows else None


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Return a catalog without skills."""
    return Kept(tmp_path)


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write a skill with files."""
    write_skill(folder, name="s", files=files)


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        pytest.param(".env", "A=1\n", None, id="environment"),
        pytest.param("config/.env.production", "A=1\n", None, id="environment of a stage"),
        pytest.param("id_ed25519", "x", None, id="SSH key"),
        pytest.param(".netrc", "machine x", None, id="netrc"),
        pytest.param(".ssh/config", "Host x", None, id="in .ssh"),
        pytest.param("store.p12", "x", None, id="key store"),
        pytest.param("server.pem", f"a\n{KEY}", 2, id="private key"),
        pytest.param("account.json", '{"k": "' + KEY.replace("\n", "\\n") + '"}', 1, id="in JSON"),
        pytest.param(".npmrc", "//r/:_authToken=kq83hd92hf\n", 1, id="token of npm"),
        pytest.param("scripts/run.py", f"x = 1\ny = '{TOKEN}'\n", 2, id="token in a script"),
    ],
)
def test_a_file_with_a_secret_is_in_no_version(
    kept: Kept, path: str, text: str, line: int | None
) -> None:
    """The skill is published without it, and a finding names its file and line."""
    write(kept.root / "s", {path: text, "notes.md": "x"})
    kept.scan()
    assert kept.packaged() == {"SKILL.md", "notes.md"}
    assert kept.ask("SELECT path FROM files ORDER BY path") == [("SKILL.md",), ("notes.md",)]
    assert kept.left_out() == {path: "secret"}
    assert kept.findings("secret-left-out") == [(path, line)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(".env.example", "TOKEN=\n", id="example of an environment"),
        pytest.param("id_rsa.pub", "ssh-rsa AAAA", id="public key"),
        pytest.param("server.pem", "-----BEGIN CERTIFICATE-----\nMIID", id="certificate"),
        pytest.param(".npmrc", "//r/:_authToken=${NPM_TOKEN}\n", id="variable in .npmrc"),
        pytest.param("notes.md", "ghp_exampleexampleexampleexampleexample12", id="placeholder"),
    ],
)
def test_a_file_that_only_looks_like_a_secret_is_published(
    kept: Kept, path: str, text: str
) -> None:
    """Examples, public keys and references to variables are no secrets."""
    write(kept.root / "s", {path: text})
    kept.scan()
    assert kept.packaged() == {"SKILL.md", path}
    assert kept.left_out() == {}


def test_a_root_can_reject_skills_with_secrets(tmp_path: Path) -> None:
    """The last good version stays, and the finding is an error with its line."""
    kept = Kept(tmp_path, "reject")
    write(kept.root / "s", {"notes.md": "x"})
    kept.scan()
    (kept.root / "s/notes.md").write_text(f"\n{TOKEN}\n")
    kept.scan()
    assert kept.findings("secret-refused") == [("notes.md", 2)]
    assert (kept.settings.packages_folder / "s/current/notes.md").read_text() == "x"


def test_a_root_can_publish_files_with_secrets(tmp_path: Path) -> None:
    """They are part of the version and only reported."""
    kept = Kept(tmp_path, "report")
    write(kept.root / "s", {".env": "A=1"})
    kept.scan()
    assert kept.packaged() == {"SKILL.md", ".env"}
    assert kept.findings("secret-published") == [(".env", None)]


def test_a_changed_rule_applies_to_unchanged_folders(tmp_path: Path) -> None:
    """The next scan judges the skills of the root again."""
    kept = Kept(tmp_path, "report")
    write(kept.root / "s", {".env": "A=1"})
    kept.scan()
    kept.secrets = "leave-out"
    kept.scan()
    assert kept.packaged() == {"SKILL.md"}


def test_a_secret_in_skill_md_rejects_the_skill(kept: Kept) -> None:
    """SKILL.md cannot be left out of its skill."""
    write_skill(kept.root / "s", body=f"Use {TOKEN}\n")
    kept.scan()
    assert kept.status() == "rejected"
    assert kept.findings("secret-refused") == [("SKILL.md", 6)]


@pytest.mark.parametrize(
    ("secrets", "file"),
    [
        pytest.param("leave-out", "SKILL.md", id="in SKILL.md"),
        pytest.param("reject", "notes.md", id="in another file"),
    ],
)
def test_a_published_secret_that_is_refused_now_is_withdrawn(
    tmp_path: Path, secrets: SecretRule, file: str
) -> None:
    """The version that holds it is not the last good one; without the secret it is back."""
    kept = Kept(tmp_path, "report")
    write_skill(kept.root / "s", body=f"Use {TOKEN}\n" if file == "SKILL.md" else "x")
    if file != "SKILL.md":
        (kept.root / "s" / file).write_text(f"\n{TOKEN}\n")
    kept.scan()
    assert kept.status() == "active"
    kept.secrets = secrets
    kept.scan()
    assert kept.status() == "rejected"
    assert not (kept.settings.packages_folder / "s/current").exists()
    assert not list(kept.settings.skills_folder.rglob("SKILL.md"))
    write_skill(kept.root / "s", body="Clean.\n", files={file: "x"} if file != "SKILL.md" else {})
    kept.scan()
    assert kept.status() == "active"


@pytest.mark.requirement("client-guide/ignore-files")
@pytest.mark.parametrize("name", [".gitignore", ".skillignore"])
def test_ignored_files_are_in_no_version(kept: Kept, name: str) -> None:
    """Ignore files of the root, of a group and of the skill apply, the nearest first."""
    (kept.root / "group").mkdir()
    (kept.root / name).write_text("*.log\n*.bak\n")
    (kept.root / "group" / name).write_text("/s/drafts/\n!keep.log\n")
    files = dict.fromkeys(("a.log", "keep.log", "drafts/x.md", "b.bak", "c.md", "d/e.md"), "x")
    write(kept.root / "group/s", files | {name: "!b.bak\nd/*\n"})
    kept.scan()
    assert kept.packaged() == {"SKILL.md", name, "keep.log", "b.bak", "c.md"}
    assert kept.left_out("group/s") == dict.fromkeys(("a.log", "drafts/", "d/e.md"), "ignore file")


def test_a_changed_ignore_file_of_the_root_changes_the_skills(kept: Kept) -> None:
    """A scan after its change, or its removal, publishes another version."""
    write(kept.root / "s", {"a.log": "x"})
    kept.scan()
    assert kept.packaged() == {"SKILL.md", "a.log"}
    (kept.root / ".skillignore").write_text("*.log\n")
    kept.scan()
    assert kept.packaged() == {"SKILL.md"}
    (kept.root / ".skillignore").unlink()
    kept.scan()
    assert kept.packaged() == {"SKILL.md", "a.log"}
    assert kept.left_out() == {}


def test_an_ignored_skill_is_none(kept: Kept) -> None:
    """Its folder is not read; only a .gitignore, which may not mean skills, is told."""
    for name in ("a", "b"):
        write_skill(kept.root / name)
    (kept.root / ".skillignore").write_text("a/\n")
    (kept.root / ".gitignore").write_text("b/\n")
    kept.scan()
    assert (kept.status("a"), kept.status("b")) == (None, None)
    assert kept.ask("SELECT code, folder FROM findings") == [("folder-ignored", "b")]


def test_parts_of_a_root_are_ignored_as_the_whole(tmp_path: Path) -> None:
    """Walks of its parts give the same results."""
    for name in ("a", "build/b", "group/c", "group/d"):
        write_skill(tmp_path / name, files={"x.log": "x"})
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (tmp_path / "group/.gitignore").write_text("d\n")
    results = [result for part in ("a", "build", "group") for result in roots.walk(tmp_path, part)]
    assert sorted(result.path for result in results) == ["a", "build", "group/c", "group/d"]
    assert {
        file.path for result in results if isinstance(result, Folder) for file in result.left_out
    } == {"x.log"}


def test_a_hint_about_an_ignore_file_concerns_all_that_it_may_exclude(tmp_path: Path) -> None:
    """In the root it is the whole root, in a group the group, and in a skill the skill."""
    write_skill(tmp_path / "group/s")
    units = [
        walk.unit_of(str(tmp_path), str(tmp_path / path))
        for path in (".gitignore", ".skillignore", "group/.gitignore", "group/s/.gitignore")
    ]
    assert units == ["", "", "group", "group/s"]
    pending = PendingUnits([RootSpec(str(tmp_path))], quiet=0, longest=1)
    assert pending.hint(str(tmp_path / ".gitignore"), now=0.0)
    assert pending.waiting() == {WatchUnit(str(tmp_path), "")}


def test_ignore_files_apply_in_archives(kept: Kept) -> None:
    """Both those in the archive and those above it, and secrets are left out there, too."""
    (kept.root / ".skillignore").write_text("*.log\n")
    source = kept.data.parent / "s"
    files = {".gitignore": "*.bak\n", ".env": "A=1"} | dict.fromkeys(
        ("a.log", "a.bak", "b.md"), "x"
    )
    write(source, files)
    pack_zip(source, kept.root / "x.zip")
    kept.scan()
    assert kept.packaged() == {"SKILL.md", ".gitignore", "b.md"}
    assert kept.left_out("x.zip!/s") == {
        "a.log": "ignore file",
        "a.bak": "ignore file",
        ".env": "secret",
    }
    (kept.root / ".skillignore").unlink()
    kept.scan()
    assert kept.packaged() == {"SKILL.md", ".gitignore", "a.log", "b.md"}


def test_leftovers_are_listed(kept: Kept) -> None:
    """Names of tools and systems are left out; a directory stands for its contents."""
    write(kept.root / "s", {"x.tmp": "x", "node_modules/y/z.js": "x", "scripts/.DS_Store": "x"})
    kept.scan()
    assert kept.packaged() == {"SKILL.md"}
    paths = ("x.tmp", "node_modules/", "scripts/.DS_Store")
    assert kept.left_out() == dict.fromkeys(paths, "name")
    ((number,),) = kept.ask("SELECT count(*) FROM versions")
    (kept.root / "s/x.tmp").unlink()
    kept.scan()
    assert "x.tmp" not in kept.left_out()
    assert kept.ask("SELECT count(*) FROM versions") == [(number,)], "no other version"


def test_an_ignore_file_that_cannot_be_used_keeps_the_last_state(kept: Kept) -> None:
    """Nothing is published that it may exclude, and nothing is removed."""
    write(kept.root / "group/s", {"a.md": "x"})
    kept.scan()
    (kept.root / "group/.gitignore").write_bytes(b"\xff*.md\n")
    kept.scan()
    assert kept.packaged() == {"SKILL.md", "a.md"}
    assert kept.ask("SELECT code, folder FROM findings WHERE skill IS NULL") == [
        ("ignore-file-refused", "group")
    ]


@pytest.mark.parametrize("folder", ["group", "group/s"])
def test_a_pattern_that_cannot_be_used_keeps_the_last_state(kept: Kept, folder: str) -> None:
    """The error names file and line, and other folders are scanned."""
    write(kept.root / "group/s", {"a.md": "x"})
    kept.scan()
    (kept.root / folder / ".gitignore").write_text("# no logs\n*.log\n[z-a].md\n")
    write_skill(kept.root / "later")
    kept.scan()
    assert kept.packaged() == {"SKILL.md", "a.md"}
    ((message,),) = kept.ask("SELECT message FROM findings WHERE code = 'ignore-file-refused'")
    assert f"{folder}/.gitignore has a pattern in line 3 that cannot be used" in str(message)
    assert kept.status("later") == "active"
    (kept.root / folder / ".gitignore").write_text("[a-z].md\n")
    kept.scan()
    assert "a.md" not in kept.packaged()


@pytest.mark.parametrize("name", [".gitignore", ".skillignore"])
def test_a_pattern_of_the_root_that_cannot_be_used_excludes_nothing(kept: Kept, name: str) -> None:
    """A finding names file and line; the other patterns count, and every folder is scanned."""
    (kept.root / name).write_text("*.log\n[z-a].md\n")
    write(kept.root / "s", {"a.md": "x", "b.log": "x"})
    kept.scan()
    assert kept.packaged() == {"SKILL.md", "a.md"}
    query = "SELECT folder, line, code, message FROM findings WHERE skill IS NULL"
    ((folder, line, code, message),) = kept.ask(query)
    assert (folder, line, code) == (name, 2, "ignore-pattern-unusable")
    assert str(message).startswith("The pattern in line 2 cannot be used, “[z-a].md”: ")
    (kept.root / name).write_text("*.log\n")
    kept.scan()
    assert kept.ask(query) == []


@pytest.mark.parametrize("data", [b"\xff*.md\n", b"*a*b*c*d*e*f\n" * 5])
def test_an_ignore_file_of_the_root_that_cannot_be_used_makes_it_unreadable(
    kept: Kept, data: bytes
) -> None:
    """The trouble of the root names the file, and nothing counts as removed."""
    write(kept.root / "s", {})
    kept.scan()
    (kept.root / ".skillignore").write_bytes(data)
    store = open_store(kept.settings)
    (trouble,) = scan_once(kept.settings, store).report.troubles.values()
    store.close()
    assert f"The root {kept.root}: .skillignore " in trouble
    assert kept.status() == "active"


def test_a_pattern_that_cannot_be_used_rejects_its_archive(kept: Kept) -> None:
    """The other skills of the root are published."""
    pack_zip(
        write_skill(kept.data.parent / "x", files={".skillignore": "[z-a]\n"}), kept.root / "x.zip"
    )
    write(kept.root / "s", {})
    kept.scan()
    ((folder, message),) = kept.ask(
        "SELECT folder, message FROM findings WHERE code = 'ignore-file-refused'"
    )
    assert folder == "x.zip!"
    assert "x.zip!/x/.skillignore has a pattern in line 1" in str(message)
    assert kept.status() == "active"


def test_a_comparison_tells_wrong_rows(kept: Kept) -> None:
    """Rows of left-out files that somebody changed are a difference."""
    write(kept.root / "s", {".env": "A=1"})
    kept.scan()
    with sqlite3.connect(kept.settings.catalog_path) as db:
        db.execute("UPDATE skills SET files_left_out = replace(files_left_out, '.env', 'other')")
    (difference,) = compare(kept.settings).differences
    assert "left out" in difference.message
