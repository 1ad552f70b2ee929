"""Service with a repository as a root."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.config.root_settings import GitRootSettings
from pipeline.service.reconcile import compare
from pipeline.service.run_once import scan_by_service
from tests.support.repositories import Repository
from tests.support.serving import Serving


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository with one skill."""
    made = Repository(tmp_path / "repo")
    made.skill("skills/one")
    made.commit()
    return made


def roots(repository: Repository) -> tuple[GitRootSettings, ...]:
    """Return the settings of the repository, pulled every second."""
    return (GitRootSettings(git=repository.url, path="skills", every="1s"),)


def test_the_service_follows_a_repository(
    serving: Callable[..., Serving], repository: Repository
) -> None:
    """New commits are pulled at intervals; each version has its commit, and no event was missed."""
    it = serving(roots=roots(repository), settle_quiet=0.0).start()
    it.wait_for(lambda: it.statuses() == {"one": "active"})
    repository.skill("skills/two")
    commit = repository.commit()
    it.wait_for(lambda: it.statuses() == {"one": "active", "two": "active"})
    it.wait_for(it.is_quiet)
    assert it.rows("SELECT git_commit FROM versions WHERE skill_id = 'two'") == [(commit,)]
    assert it.health()["missed_by_events"] == 0
    assert not compare(it.settings).differences


def test_a_failed_pull_is_part_of_health(
    serving: Callable[..., Serving], repository: Repository, tmp_path: Path
) -> None:
    """While pulls fail, health says so and the skills stay; it recovers by itself."""
    it = serving(roots=roots(repository)).start()
    it.wait_for(lambda: it.statuses() == {"one": "active"})
    repository.folder.rename(tmp_path / "away")
    it.wait_for(lambda: it.rows("SELECT 1 FROM mirrors WHERE trouble IS NOT NULL"))
    assert it.statuses() == {"one": "active"}
    (tmp_path / "away").rename(repository.folder)
    it.wait_for(lambda: it.rows("SELECT 1 FROM mirrors WHERE trouble IS NULL"))


def test_a_restart_knows_the_commit(
    serving: Callable[..., Serving], repository: Repository
) -> None:
    """A catalog that was lost is rebuilt from the mirror, with the commit, without the origin."""
    it = serving(roots=roots(repository)).start()
    it.wait_for(lambda: it.statuses() == {"one": "active"})
    it.wait_for(it.is_quiet)
    it.stop()
    commit = repository.git("rev-parse", "HEAD")
    repository.folder.rename(repository.folder.with_name("away"))
    for path in it.settings.data.glob("catalog.db*"):
        path.unlink()
    it.start()
    it.wait_for(lambda: it.statuses() == {"one": "active"})
    it.wait_for(lambda: it.rows("SELECT git_commit FROM versions") == [(commit,)])


def test_a_scan_beside_the_service_pulls_first(
    serving: Callable[..., Serving], repository: Repository
) -> None:
    """The command ends when the service has pulled and scanned; a failed pull is told."""
    settings = GitRootSettings(git=repository.url, path="skills", every="1d")
    it = serving(roots=(settings,)).start()
    it.wait_for(lambda: it.statuses() == {"one": "active"})
    it.wait_for(it.is_quiet)
    repository.skill("skills/two")
    repository.commit()
    scan_by_service(it.settings, deep=False)
    assert it.statuses() == {"one": "active", "two": "active"}
    repository.folder.rename(repository.folder.with_name("away"))
    (trouble,) = scan_by_service(it.settings, deep=False).report.troubles.values()
    assert "could not be pulled" in trouble
