"""Mirrors of real repositories: local, by file:// and by HTTP, and hostile ones."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model.errors import PullFailed
from catalog.model.skill import GitOrigin
from pipeline.mirrors import mirror as mirror_module
from pipeline.mirrors.mirror import Mirror
from tests.support.repositories import Repository, served


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository with two skills, one of them in `skills`."""
    made = Repository(tmp_path / "team" / "repo")
    made.skill("skills/one")
    made.skill("elsewhere/two")
    made.commit()
    return made


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the user an empty git configuration, and return its file."""
    config = tmp_path / "gitconfig"
    config.touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    return config


def mirror(tmp_path: Path, url: str, ref: str | None = None, path: str = "") -> Mirror:
    """Return a mirror in a folder of the test."""
    origin = GitOrigin(url, ref, path)
    return Mirror(origin, tmp_path / "mirrors" / origin.folder_name, 50_000_000)


def pull(it: Mirror) -> str:
    """Pull and switch, and return the commit."""
    pulled = it.pull()
    it.switch(pulled)
    return pulled.commit


def files(it: Mirror) -> list[str]:
    """Return the paths of the files that the root has."""
    root = Path(it.root).resolve()
    return sorted(
        os.path.relpath(os.path.join(path, name), root)
        for path, _, names in os.walk(root)
        for name in names
    )


@pytest.mark.parametrize("path", ["", "skills"])
def test_a_mirror_has_the_files_of_the_path(
    repository: Repository, tmp_path: Path, path: str
) -> None:
    """A mirror holds the files below the path, and knows their commit."""
    it = mirror(tmp_path, repository.url, path=path)
    assert pull(it) == it.commit == repository.git("rev-parse", "HEAD")
    everything = ["elsewhere/two/SKILL.md", "skills/one/SKILL.md"]
    assert files(it) == (["one/SKILL.md"] if path else everything)


@pytest.mark.parametrize("form", ["path", "file", "http"])
def test_a_mirror_follows_its_origin_by_each_transport(
    repository: Repository, tmp_path: Path, form: str
) -> None:
    """A mirror of a local path, a file URL and an HTTP server follows new commits."""
    with served(tmp_path / "team") as server:
        urls = {"path": str(repository.folder), "file": repository.url, "http": f"{server}/repo"}
        it = mirror(tmp_path, urls[form], "main", "skills")
        pull(it)
        repository.skill("skills/three")
        assert pull(it) == it.commit == repository.commit() or form
        pull(it)
        assert files(it) == ["one/SKILL.md", "three/SKILL.md"]


def test_only_the_files_of_the_path_are_fetched(repository: Repository, tmp_path: Path) -> None:
    """The content of files outside the path is never downloaded, nor is the history."""
    secret = repository.blob(b"elsewhere\n")
    (repository.folder / "elsewhere/big").write_text("elsewhere\n")
    repository.commit()
    it = mirror(tmp_path, repository.url, path="skills")
    pull(it)
    objects = subprocess.run(
        ["git", "rev-list", "--objects", "--all", "--missing=print"],
        cwd=it.folder / "work/repository", capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert f"?{secret}" in objects
    assert objects.count("\n") == len(set(objects.splitlines()))
    assert (it.folder / "work/repository/shallow").exists()


@pytest.mark.parametrize(("ref", "found"), [("v1", "one"), ("side", "two"), (None, "three")])
def test_a_ref_is_a_tag_a_branch_or_the_default(
    tmp_path: Path, ref: str | None, found: str
) -> None:
    """A ref names a tag or a branch; without one it is the default branch."""
    repository = Repository(tmp_path / "repo")
    for name, after in (("one", ["tag", "-a", "-m", "x", "v1"]), ("two", ["branch", "side"])):
        repository.skill(name)
        repository.commit()
        repository.git(*after)
    repository.skill("three")
    repository.commit()
    it = mirror(tmp_path, repository.url, ref)
    pull(it)
    assert f"{found}/SKILL.md" in files(it)
    assert len(files(it)) == ["one", "two", "three"].index(found) + 1


def test_a_ref_can_be_a_commit(repository: Repository, tmp_path: Path) -> None:
    """A commit stays the content, whatever its branch has later."""
    commit = repository.git("rev-parse", "HEAD")
    repository.skill("later")
    repository.commit()
    it = mirror(tmp_path, repository.url, commit)
    assert pull(it) == commit
    assert "later/SKILL.md" not in files(it)


def test_a_forced_push_is_followed(repository: Repository, tmp_path: Path) -> None:
    """A branch that is rewritten is followed."""
    it = mirror(tmp_path, repository.url)
    pull(it)
    repository.skill("new")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--amend", "--message", "Other")
    assert pull(it) == repository.git("rev-parse", "HEAD")
    assert "new/SKILL.md" in files(it)


def test_nothing_changes_before_the_switch(repository: Repository, tmp_path: Path) -> None:
    """A pull leaves the root as it is; a switch replaces it at once and keeps the one before."""
    it = mirror(tmp_path, repository.url)
    pull(it)
    before = files(it)
    kept = Path(it.root).resolve()
    repository.skill("new")
    repository.commit()
    pulled = it.pull()
    assert files(it) == before
    it.switch(pulled)
    assert len(files(it)) == len(before) + 1
    assert kept.is_dir()
    repository.skill("newer")
    repository.commit()
    pull(it)
    assert not kept.exists()


@pytest.mark.parametrize("trouble", ["gone", "no branch", "no folder", "link"])
def test_a_failed_pull_keeps_the_last_state(
    repository: Repository, tmp_path: Path, trouble: str
) -> None:
    """A pull that fails says why, and the root stays; the next one succeeds."""
    it = mirror(tmp_path, repository.url, "main", "skills")
    pull(it)
    if trouble == "gone":
        repository.folder.rename(tmp_path / "away")
    elif trouble == "no branch":
        repository.git("branch", "--move", "main", "other")
    else:
        shutil.move(repository.folder / "skills", repository.folder / "moved")
        if trouble == "link":
            (repository.folder / "skills").symlink_to("moved")
        repository.commit()
    message = {"gone": "repository", "no branch": "no branch or tag main"}
    with pytest.raises(PullFailed, match=message.get(trouble, "no folder skills")):
        it.pull()
    assert files(it) == ["one/SKILL.md"]
    if trouble == "gone":
        (tmp_path / "away").rename(repository.folder)
        repository.skill("skills/again")
        repository.commit()
        pull(it)
        assert "again/SKILL.md" in files(it)


def test_a_damaged_repository_is_fetched_anew(repository: Repository, tmp_path: Path) -> None:
    """A mirror whose repository is damaged recovers by itself."""
    it = mirror(tmp_path, repository.url)
    pull(it)
    repository.skill("new")
    repository.commit()
    shutil.rmtree(it.folder / "work/repository/objects")
    for _ in range(2):
        try:
            pull(it)
        except PullFailed:
            shutil.rmtree(it.folder / "work/repository", ignore_errors=True)
    assert "new/SKILL.md" in files(it)


# Hostile repositories


@pytest.fixture
def bait(tmp_path: Path, user: Path) -> Iterator[Path]:
    """Return a file that must not be made, by programs that the user's git would run."""
    made = tmp_path / "run"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {made}\ncat\n")
    script.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction", "post-merge"):
        shutil.copy(script, hooks / name)
    user.write_text(
        f"[core]\n\thooksPath = {hooks}\n\tfsmonitor = {script}\n"
        f'[filter "lfs"]\n\tsmudge = {script}\n\tprocess = {script}\n\trequired = true\n'
        f"[protocol]\n\tallow = always\n[fetch]\n\trecurseSubmodules = true\n"
        f"[submodule]\n\trecurse = true\n[core]\n\tautocrlf = true\n"
    )
    yield made
    assert not made.exists()


def test_no_hook_or_filter_runs(repository: Repository, tmp_path: Path, bait: Path) -> None:
    """Attributes of a repository choose no filter, encoding or line end; a pointer stays one."""
    (repository.folder / ".gitattributes").write_text(
        "[attr]bad filter=lfs\n* bad\n*.bin filter=lfs\n"
        "*.txt working-tree-encoding=UTF-16 text eol=crlf ident\n"
    )
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    (repository.folder / "a.bin").write_text(pointer)
    (repository.folder / "a.txt").write_text("line $Id$\n")
    for name in ("post-checkout", "post-update"):
        hook = repository.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {bait}\n")
        hook.chmod(0o755)
    blobs = {name: repository.git("hash-object", "-w", "--no-filters", name)
             for name in (".gitattributes", "a.bin", "a.txt")}  # fmt: skip
    repository.commit_tree(*(f"100644 blob {blob}\t{name}" for name, blob in blobs.items()))
    it = mirror(tmp_path, repository.url)
    pull(it)
    assert (Path(it.root) / "a.bin").read_text() == pointer
    assert (Path(it.root) / "a.txt").read_bytes() == b"line $Id$\n"
    assert not bait.exists()


def test_submodules_are_not_fetched(repository: Repository, tmp_path: Path, bait: Path) -> None:
    """A submodule, whatever its URL, is an empty folder."""
    url = f"ext::sh -c touch% {bait}"
    modules = repository.blob(f'[submodule "x"]\n\tpath = x\n\turl = {url}\n'.encode())
    head = repository.git("rev-parse", "HEAD")
    repository.commit_tree(f"100644 blob {modules}\t.gitmodules", f"160000 commit {head}\tx")
    it = mirror(tmp_path, repository.url)
    pull(it)
    assert list((Path(it.root) / "x").iterdir()) == []


def test_files_of_git_itself_are_refused(repository: Repository, tmp_path: Path) -> None:
    """A tree with a folder `.git` is refused, and nothing is written."""
    blob = repository.blob(b"[core]\n")
    inner = repository.git("mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    repository.commit_tree(f"040000 tree {inner}\t.git")
    it = mirror(tmp_path, repository.url)
    with pytest.raises(PullFailed, match="invalid path"):
        it.pull()
    assert it.tree is None


def test_links_are_kept_as_links(repository: Repository, tmp_path: Path) -> None:
    """A link out of the repository stays a link, and writes through it go nowhere."""
    (tmp_path / "outside").mkdir()
    target = repository.blob(str(tmp_path / "outside").encode())
    it = mirror(tmp_path, repository.url)
    repository.commit_tree(f"120000 blob {target}\tout")
    pull(it)
    assert os.readlink(Path(it.root) / "out") == str(tmp_path / "outside")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_huge_repository_is_refused(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository with too many files, by few objects, or with too many bytes is refused."""
    blob = repository.blob(b"x")
    entry = f"100644 blob {blob}\tf"
    for _ in range(7):
        entries = "\n".join(f"{entry}{number}" for number in range(10)) + "\n"
        tree = repository.git("mktree", stdin=entries.encode())
        entry = f"040000 tree {tree}\td"
    repository.commit_tree(entry)
    it = mirror(tmp_path, repository.url)
    monkeypatch.setattr(mirror_module, "MOST_FILES", 1000)
    with pytest.raises(PullFailed, match=r"more than 1000 files|more than 50000000 bytes"):
        it.pull()
    repository.commit_tree(f"100644 blob {repository.blob(bytes(6 * 10**7))}\tbig")
    with pytest.raises(PullFailed, match="more than 50000000 bytes"):
        it.pull()
    assert it.tree is None
    repository.commit_tree(f"100644 blob {blob}\tsmall")
    pull(it)
    assert files(it) == ["small"]


def test_a_slow_pull_is_ended(repository: Repository, tmp_path: Path) -> None:
    """A pull ends soon after a request to stop."""
    it = mirror(tmp_path, repository.url)
    stuck = tmp_path / "git"
    stuck.write_text("#!/bin/sh\nexec sleep 60\n")
    stuck.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        with pytest.raises(PullFailed, match="stopped"):
            it.pull(lambda: True)


# Credentials


def test_credentials_come_from_the_users_helper(
    repository: Repository, tmp_path: Path, user: Path
) -> None:
    """A credential helper opens a server; no file of the data directory has the password."""
    with served(tmp_path / "team", password="hunter2") as server:
        it = mirror(tmp_path, f"{server}/repo")
        with pytest.raises(PullFailed, match=r"terminal prompts disabled|could not read Username"):
            it.pull()
        user.write_text(
            '[credential]\n\thelper = "!f() { echo username=reader; echo password=hunter2; }; f"\n'
        )
        pull(it)
    assert files(it)
    assert all(
        b"hunter2" not in path.read_bytes() for path in it.folder.rglob("*") if path.is_file()
    )


def test_messages_hide_credentials(repository: Repository, tmp_path: Path) -> None:
    """A URL with a password in a message of git is shown without it."""
    echo = "fatal: unable to access 'https://reader:hunter2@host/repo/': no route"
    script = tmp_path / "git"
    script.write_text(f'#!/bin/sh\necho "{echo}" >&2\nexit 128\n')
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        with pytest.raises(PullFailed, match="unable to access 'https://host/repo/': no route"):
            mirror(tmp_path, repository.url).pull()


def test_a_mirror_that_was_edited_is_restored(repository: Repository, tmp_path: Path) -> None:
    """Edited, added and removed files of a mirror are as in the commit after the next pull."""
    it = mirror(tmp_path, repository.url)
    pull(it)
    skill = Path(it.root) / "skills/one/SKILL.md"
    text = skill.read_text()
    skill.write_text("edited")
    (Path(it.root) / "added").touch()
    shutil.rmtree(Path(it.root) / "elsewhere")
    pull(it)
    assert skill.read_text() == text
    assert files(it) == ["elsewhere/two/SKILL.md", "skills/one/SKILL.md"]
    pull(it)
    assert files(it) == ["elsewhere/two/SKILL.md", "skills/one/SKILL.md"]


@pytest.mark.parametrize("part", ["", "work"])
def test_a_link_in_place_of_a_mirror_is_not_followed(
    repository: Repository, tmp_path: Path, part: str
) -> None:
    """Nothing behind it is made or removed."""
    it = mirror(tmp_path, str(repository.folder))
    outside = tmp_path / "outside"
    (outside / "tree").mkdir(parents=True)
    place = it.folder / part
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside)
    with pytest.raises(PullFailed, match="Not a directory"):
        it.pull()
    assert [path.name for path in outside.iterdir()] == ["tree"]
