"""Commands that change the catalog, with a running service and without one."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from catalog.database import requests
from catalog.database.lock import WriterLock
from catalog.filesystem.ownership import MARKER
from catalog.model.errors import CatalogBusy, NotPossible
from catalog.model.setting import Retention
from catalog.reading.skills.versions import history
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service import parts
from pipeline.service.open_catalog import open_store
from pipeline.service.requests import handle
from pipeline.service.run_once import scan_once
from tests.support.program import run
from tests.support.serving import Serving, ServingProcess
from tests.support.skills import SkillWriter


@pytest.fixture
def serving(tmp_path: Path, skill: SkillWriter) -> Iterator[Serving]:
    """Return a service with a skill `a` of two versions."""
    made = Serving(tmp_path).start()
    for word in ("One", "Two"):
        skill(made.root / "a", description=f"{word}.")
        made.settle()
    yield made
    made.stop()


def command(serving: Serving, *words: str) -> CompletedProcess[str]:
    """Run a command to its end."""
    return run("--watched", serving.root, "--data", serving.settings.data, *words)


def versions(serving: Serving) -> list[dict[str, Any]]:
    """Return the output of `versions --json`, newest first."""
    found: list[dict[str, Any]] = json.loads(command(serving, "versions", "a", "--json").stdout)[
        "versions"
    ]
    return found


@pytest.mark.requirement("own/versions-pinned")
@pytest.mark.parametrize("runs", [True, False], ids=["beside a service", "alone"])
def test_a_pin_holds_until_unpin(serving: Serving, runs: bool, skill: SkillWriter) -> None:
    """Files, index and status change at once; edits have no effect until `unpin`."""
    two, one = versions(serving)
    assert (two["changed"], two["current"], one["added"]) == (["SKILL.md"], True, ["SKILL.md"])
    if not runs:
        serving.stop()
    done = command(serving, "pin", "a", one["version"])
    assert (done.returncode, done.stderr) == (0, "")
    assert f"pinned to version {one['version']}" in done.stdout
    current = serving.settings.packages_folder / "a/current"
    assert "One." in (current / "SKILL.md").read_text()
    serving.wait_for(lambda: ": One.\n" in serving.index())
    status = command(serving, "status").stdout
    assert f"pinned: a  {one['version']}" in status
    assert "(published, pinned)" in command(serving, "versions", "a").stdout
    if runs:
        skill(serving.root / "a", description="Three.")
        serving.settle()
        assert "One." in (current / "SKILL.md").read_text()
        assert len(versions(serving)) == 3
    done = command(serving, "unpin", "a", "--json")
    assert json.loads(done.stdout)["pinned_to"] is None
    newest = "Three." if runs else "Two."
    assert newest in (current / "SKILL.md").read_text()
    serving.wait_for(lambda: f": {newest}\n" in serving.index())


@pytest.mark.parametrize("runs", [True, False], ids=["beside a service", "alone"])
def test_an_impossible_request_is_one_sentence(serving: Serving, runs: bool) -> None:
    """It is the same with and without a service."""
    if not runs:
        serving.stop()
    done = command(serving, "pin", "b", "20200101-000000")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("skilldrop: There is no skill 'b'. ")
    assert command(serving, "unpin", "a").returncode == 2
    assert command(serving, "versions", "b").returncode == 2


def test_a_diff_is_shown_on_request(serving: Serving, skill: SkillWriter) -> None:
    """In the format of `diff -u`, of every text file, the scripts first."""
    skill(serving.root / "a", description="Three.", files={"scripts/x.sh": "echo 1\n", "b": b"\0"})
    serving.settle()
    assert "description" not in command(serving, "versions", "a").stdout
    shown = command(serving, "versions", "a", "--diff").stdout
    assert "    -description: One.\n    +description: Two.\n" in shown
    newest = shown.split("\n2")[1]
    assert newest.index("    +echo 1\n") < newest.index("    +description: Three.\n")
    assert "    b: there is no text to compare, or too much." in newest


def test_a_scan_says_why_its_changes_are_not_published(serving: Serving) -> None:
    """It does not wait until the index folder belongs to the catalog again."""
    (serving.settings.index_folder / MARKER).write_text("skilldrop index another\n")
    for words in (("scan",), ("reconcile",)):
        done = command(serving, *words)
        assert done.returncode == 2
        assert "index belongs to another catalog" in done.stderr


def test_a_request_unknown_to_the_service_is_refused(serving: Serving) -> None:
    """The service may be older than the command."""
    with pytest.raises(NotPossible, match="restart it"):
        requests.ask(serving.settings.catalog_path, "dance", {})


def test_the_log_names_the_skill_of_a_request(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    """It also names the version, so that the line is clear without context."""
    caplog.set_level("INFO")
    oldest = versions(serving)[-1]["version"]
    command(serving, "pin", "a", oldest)
    assert f"pin a {oldest}, requested by a command" in caplog.messages


def test_the_log_of_a_request_has_no_path_twice(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor arguments without a value."""
    caplog.set_level("INFO")
    assert command(serving, "prefer", "a").returncode == 0
    assert "prefer a, requested by a command" in caplog.messages


def test_a_request_wakes_the_service(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers the signal of the command at once, though it looks for nothing by itself."""
    monkeypatch.setattr(parts, "LONGEST_WAIT", 3600.0)
    monkeypatch.setattr("tests.support.serving.TICK", 3600.0)
    it = Serving(tmp_path).start()
    former = signal.signal(signal.SIGURG, lambda *_: it.service and it.service.wake())
    try:
        it.wait_for(it.is_quiet)  # else the first scan may find the folder before it is watched
        skill(it.root / "a")
        it.settle()
        with pytest.raises(NotPossible, match="is not pinned"):
            requests.ask(it.settings.catalog_path, "unpin", {"skill": "a"}, patience=10.0)
    finally:
        signal.signal(signal.SIGURG, former)
        it.stop()


def test_up_catches_the_signal_of_a_request(tmp_path: Path) -> None:
    """A program that does not is not ended by it."""
    it = ServingProcess(tmp_path).start()
    try:
        assert it.process
        status = Path(f"/proc/{it.process.pid}/status").read_text()
        (caught,) = re.findall(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)
        assert int(caught, 16) >> signal.SIGURG - 1 & 1
    finally:
        it.stop()


def test_during_a_scan_the_command_names_the_writer(tmp_path: Path) -> None:
    """Only a service handles requests."""
    serving = Serving(tmp_path)
    Store.open(serving.settings.catalog_path).close()
    lock = WriterLock(serving.settings.catalog_path.with_name("catalog.db.lock"))
    with pytest.raises(CatalogBusy, match="by process"):
        handle(serving.settings, "unpin", {"skill": "a"})
    lock.close()


def test_a_command_without_a_service_keeps_the_configured_index_history(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """`pin` and `unpin` forget publications of an index by `[retention]`, as the service."""
    settings = Settings(
        watched=tmp_path / "root",
        data=tmp_path / "data",
        settle_quiet=0.0,
        retention=Retention(index_builds=2),
    )
    for word in ("One", "Two"):
        skill(tmp_path / "root/a", description=f"{word}.")
        with closing(open_store(settings)) as store:
            scan_once(settings, store)
            first, *_ = [each["version"] for each in history(store.db, "a")["versions"]][::-1]
    for _ in range(2):
        handle(settings, "pin", {"skill": "a", "version": first})
        handle(settings, "unpin", {"skill": "a"})
    with closing(open_store(settings)) as store:
        assert store.db.execute("SELECT count(*) FROM index_builds").fetchone() == (2,)
