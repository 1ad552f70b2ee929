"""Roots that are repositories, by commands: pulled before a scan, with commits and failures."""

import json
from pathlib import Path

import pytest

from catalog.filesystem.ownership import MARKER
from tests.support.program import run
from tests.support.repositories import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository with a skill in `skills`, and settings with it as the only root."""
    made = Repository(tmp_path / "repo")
    made.skill("skills/one")
    made.commit()
    configure(tmp_path, made.url)
    return made


def configure(folder: Path, url: str, more: str = "") -> None:
    """Write settings with one repository."""
    text = f'[[roots]]\ngit = "{url}"\nref = "main"\npath = "skills"\n{more}'
    (folder / "skilldrop.toml").write_text(f"settle_quiet = 0.05\n{text}")


def test_each_version_has_the_commit_that_it_came_from(repository: Repository) -> None:
    """A scan pulls first; each version keeps the commit at which it was accepted."""
    commits = [repository.git("rev-parse", "HEAD")]
    assert run("scan").returncode == 0
    repository.skill("skills/one", "Does other things.")
    commits.insert(0, repository.commit())
    assert run("scan").returncode == 0
    repository.skill("elsewhere")
    repository.commit()
    assert run("scan").returncode == 0
    versions = json.loads(run("versions", "one", "--json").stdout)["versions"]
    assert [version["git_commit"] for version in versions] == commits
    assert f"commit {commits[0][:12]}" in run("versions", "one").stdout
    assert run("reconcile", "--check").returncode == 0


def test_a_failed_pull_is_told_and_removes_nothing(repository: Repository, tmp_path: Path) -> None:
    """A failed pull is part of health until one succeeds; the skills stay."""
    assert run("scan").returncode == 0
    repository.folder.rename(tmp_path / "away")
    done = run("scan")
    assert (done.returncode, "could not be pulled" in done.stderr) == (1, True)
    status = run("status").stdout
    assert "could not be pulled" in status
    assert "1 active" in status
    assert "removed" not in status
    (tmp_path / "away").rename(repository.folder)
    assert run("scan").returncode == 0
    assert "could not be pulled" not in run("status").stdout


def test_a_first_pull_that_fails_is_told(tmp_path: Path) -> None:
    """A repository that was never there is told, without a traceback."""
    configure(tmp_path, f"file://{tmp_path}/none")
    done = run("scan")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "could not be pulled" in line


def test_links_of_a_repository_stay_confined(repository: Repository, tmp_path: Path) -> None:
    """A link that leaves the path of the root is a finding, as in any root."""
    secret = tmp_path / "secret"
    secret.write_text("key")
    (repository.folder / "skills/one/out").symlink_to(secret)
    (repository.folder / "outside").write_text("in the repository, but not in the root")
    (repository.folder / "skills/one/up").symlink_to("../../outside")
    repository.commit()
    assert run("scan").returncode == 0
    package = (tmp_path / "var/skills/one").resolve()
    assert sorted(path.name for path in package.iterdir()) == ["SKILL.md"]


def test_another_url_is_another_root(repository: Repository, tmp_path: Path) -> None:
    """A new URL never shows the mirror of the old one; the old mirror goes with its skills."""
    assert run("scan").returncode == 0
    other = Repository(tmp_path / "other")
    other.skill("skills/two")
    other.commit()
    configure(tmp_path, other.url)
    assert run("scan").returncode == 0
    assert "2 active" in run("status").stdout  # the removal of the other is held
    assert run("reconcile", "--accept-removals").returncode == 0
    assert run("scan").returncode == 0
    (folder,) = (path for path in (tmp_path / "var/mirrors").iterdir() if path.is_dir())
    assert "-other-" in folder.name


def test_nothing_is_removed_from_a_folder_of_others(repository: Repository, tmp_path: Path) -> None:
    """A mirrors folder without our marker is left alone."""
    theirs = tmp_path / "var/mirrors/theirs"
    theirs.mkdir(parents=True)
    done = run("scan")
    assert (done.returncode, MARKER in done.stderr) == (2, True)
    assert theirs.is_dir()


def test_skills_are_neither_added_to_a_repository_nor_removed(
    repository: Repository, tmp_path: Path
) -> None:
    """Commands that write to roots refuse a repository, and say where to do it."""
    assert run("scan").returncode == 0
    done = run("add", repository.folder / "skills/one")
    assert (done.returncode, "commit and push" in done.stderr) == (2, True)
    done = run("remove", "one")
    assert (done.returncode, "by a commit" in done.stderr) == (2, True)
