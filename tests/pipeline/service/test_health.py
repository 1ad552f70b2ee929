"""Problems of a service, as shown by `status`, its exit code and the site."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from catalog.database import connection as database_connection
from catalog.database.queries import Database
from catalog.filesystem import token_file
from catalog.reading import service_health
from catalog.reading import status as reading_status
from catalog.writing.store import Store
from pipeline.cli.commands import status as output_status
from pipeline.service import heartbeat, loop, open_catalog
from pipeline.service.scanning import scanner
from pipeline.watch import supervisor
from tests.support.indexes import location_of
from tests.support.paths import REPOSITORY
from tests.support.records import NOON
from tests.support.serving import Serving
from tests.support.skills import SkillWriter
from tests.support.watching import running_reader


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a service try again and report soon."""
    monkeypatch.setattr(heartbeat, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(heartbeat, "BEAT", 0.2)


def test_a_skill_that_cannot_be_read_for_long_is_reported(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Health is bad until it can be read again."""
    it = Serving(tmp_path, settle_longest=0.2).start()
    skill(it.root / "a")
    it.settle()
    reason = "SKILL.md: reading it failed: Input/output error"
    with monkeypatch.context() as broken:
        broken.setattr(scanner, "failure", lambda _: reason)
        skill(it.root / "a", description="Two.")
        it.wait_for(lambda: f"1 folder, such as {it.root}/a, cannot be taken in" in told(it))
        assert reason in told(it)
    it.wait_for(lambda: not told(it))
    it.stop()


def told(it: Serving) -> str:
    """Return the output of `status --check`; nothing if it exits with 0."""
    found = loaded(it)
    summary = service_health.summary(found, datetime.now(UTC))
    return "" if summary.is_followed else output_status.health(found)


def details(it: Serving) -> str:
    """Return the lines of health in `status`."""
    return output_status.health(loaded(it))


def loaded(it: Serving) -> dict[str, Any]:
    """Return the status of a catalog."""
    catalog = it.settings.catalog_path
    with closing(database_connection.open_catalog(catalog).conn) as connection:
        return reading_status.load(Database(connection))


@contextmanager
def file_in_the_way(folder: Path) -> Iterator[None]:
    """Put a file in the place of a folder for a while."""
    aside = folder.rename(folder.with_name("aside"))
    folder.write_text("in the way")
    yield
    folder.unlink()
    aside.rename(folder)


def test_a_packages_folder_that_cannot_be_written_is_reported_until_it_can(
    serving: Callable[..., Serving], skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """The service goes on and tries again; the log has each message once."""
    service = serving().start()
    service.settle()
    assert not told(service)
    folder = service.settings.packages_folder
    with file_in_the_way(folder):
        skill(service.root / "a")
        service.wait_for(lambda: "Taking in changed folders" in told(service))
        assert str(folder) in told(service)
        assert "up to date" not in told(service)
        service.wait_for(
            lambda: service.rows(
                "SELECT 1 FROM troubles WHERE part = 'changes' AND times >= 3"
                " AND next_try_at > last_at AND last_at > since"
            )
        )
        seen = service.health()["service_seen"]
        service.wait_for(lambda: service.health()["service_seen"] > seen)
        messages = [message for message in caplog.messages if str(folder) in message]
        assert len(messages) == len(set(messages))
    service.settle()
    service.wait_for(lambda: not told(service))
    assert service.statuses() == {"a": "active"}
    service.wait_for(lambda: service.rows("SELECT * FROM troubles") == [])


def test_damaged_tokens_are_reported_until_they_are_repaired(
    serving: Callable[..., Serving], caplog: pytest.LogCaptureFixture
) -> None:
    """The site answers nobody meanwhile; health and the log say it, with the next step."""
    it = serving().start()
    it.settle()
    token_file.add(it.settings.tokens_path, "lab", NOON)
    intact = it.settings.tokens_path.read_bytes()
    it.settings.tokens_path.write_text("{")
    it.wait_for(lambda: "Restore the file;" in told(it))
    assert caplog.text.count("Every reader is refused.") == 1
    it.settings.tokens_path.write_bytes(intact)
    it.wait_for(lambda: not told(it))


def test_a_part_that_fails_does_not_stop_the_others(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalog and the watcher work while an index cannot be published."""
    it = serving().start()
    it.settle()
    shutil.rmtree(it.settings.index_folder)
    it.settings.index_folder.write_text("in the way")
    skill(it.root / "a")
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    it.wait_for(lambda: "Publishing the prompt indexes" in told(it))
    away = it.root.rename(it.root.with_name("away"))
    it.wait_for(lambda: it.health()["watcher_reason"] == f"the root {it.root} is gone")
    away.rename(it.root)
    it.settings.index_folder.unlink()
    it.settle()
    it.wait_for(lambda: not told(it))
    assert location_of(it.index(), "a")


def test_old_rows_are_removed_even_if_a_package_cannot_be(
    serving: Callable[..., Serving], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure is reported."""

    def refuse(*_: object) -> int:
        raise OSError(errno.EBUSY, "something is mounted there", "a/20250101-000000")

    thinned = Event()
    monkeypatch.setattr(Store, "collect", refuse)
    monkeypatch.setattr(Store, "thin", lambda *_: thinned.set())
    monkeypatch.setattr(loop, "COLLECT_EVERY", 0.1)
    it = serving().start()
    it.wait_for(thinned.is_set)
    it.wait_for(lambda: "a/20250101-000000 cannot be used" in told(it))


def test_a_service_goes_on_once_a_locked_catalog_is_free(
    serving: Callable[..., Serving], skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """Until then, the log says that another program holds the catalog."""
    it = serving().start()
    it.settle()
    with closing(sqlite3.connect(it.settings.catalog_path, isolation_level=None)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        skill(it.root / "a")
        it.wait_for(lambda: "database is locked" in caplog.text)
        blocker.execute("ROLLBACK")
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    it.settle()
    it.wait_for(lambda: not told(it))


def test_lack_of_memory_is_told_and_retried(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service goes on, and is well once there is enough."""

    def short(*_: object, **__: object) -> None:
        raise MemoryError

    it = serving().start()
    it.settle()
    with monkeypatch.context() as scarce:
        scarce.setattr(open_catalog, "publish", short)
        skill(it.root / "a")
        it.wait_for(lambda: "not enough memory" in told(it))
    it.settle()
    it.wait_for(lambda: not told(it))


def test_a_rejected_outcome_needs_attention_until_it_is_deleted(
    serving: Callable[..., Serving],
) -> None:
    """Its runtime will not send it again."""
    it = serving().start()
    folder = it.settings.outcomes_folder / "meetings"
    folder.mkdir(parents=True)
    (folder / "bad.json").write_text("no JSON")
    it.wait_for(lambda: "1 rejected in the last day; " in told(it))
    (folder / "bad.json").unlink()
    it.wait_for(lambda: not told(it))


def test_an_outcome_of_no_skill_is_reported_until_its_skill_arrives(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """It is stored, and nothing needs attention; so it is with one of an unknown version."""
    it = serving().start()
    for path, content in (("later/x.json", '{"output": 1}'), ("y.json", '{"output": 1}')):
        file = it.settings.outcomes_folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    it.wait_for(lambda: "2 outcomes name no skill of the catalog" in details(it))
    skill(it.root / "later")
    it.settle()
    it.rescan()
    it.wait_for(lambda: "1 outcome names no skill of the catalog" in details(it))
    (it.settings.outcomes_folder / "later/z.json").write_text(
        '{"output": 1, "version": "20200101-000000"}'
    )
    it.wait_for(lambda: "1 outcome names a version that its skill does not have" in details(it))
    assert not told(it)


def test_a_watcher_that_keeps_dying_is_reported(
    serving: Callable[..., Serving], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three faults in a minute, polling replaces it until it works again."""
    monkeypatch.setattr(supervisor, "RETRY", 1.0)
    it = serving().start()
    for _ in range(supervisor.FAULTS):
        it.settle()
        since = it.health()["watcher_since"]
        running_reader().stop()
        it.wait_for(lambda since=since: it.health()["watcher_since"] != since)
    it.wait_for(lambda: "a watch thread ended" in told(it))
    it.wait_for(lambda: it.health()["watcher_mode"] == "native" and not told(it))


def test_a_deleted_catalog_is_rebuilt_once_the_root_is_back(
    serving: Callable[..., Serving], skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """Until then the service waits without using the processor."""
    it = serving().start()
    skill(it.root / "a")
    it.settle()
    away = it.root.rename(it.root.with_name("away"))
    it.settings.data.rename(it.settings.data.with_name("deleted"))
    it.wait_for(lambda: "Create it, run `skilldrop config" in caplog.text)
    before = time.process_time()
    time.sleep(0.5)  # a rest, in which a busy loop would show
    assert time.process_time() - before < 0.3
    away.rename(it.root)
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    it.settle()
    it.wait_for(lambda: not told(it))


FULL_DISK = """
import sys, time
from pathlib import Path
sys.path[:0] = [{repository!r}]
from tests.support.skills import write_skill
from tests.support.serving import Serving
from tests.pipeline.service.test_health import told
from catalog.model.setting import Retention
from pipeline.service import heartbeat

heartbeat.BEAT, heartbeat.FIRST_PAUSE = 0.2, 0.1
disk = Path({disk!r})
it = Serving(disk.parent, data=disk / "data",
             retention=Retention(free_bytes=0)).start()
it.settle()
assert not told(it)
filler = (disk / "filler").open("wb", buffering=0)
try:
    while True:
        filler.write(bytes(4096))
except OSError:
    pass
write_skill(it.root / "large", files={{"data.bin": bytes(200_000)}})
it.wait_for(lambda: "no room left" in told(it))
print(told(it))
filler.truncate(0)
filler.close()
it.settle()
it.wait_for(lambda: not told(it))
it.stop()
print("over")
"""


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    """The disk is a real one; the service continues as soon as it has room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    program = FULL_DISK.format(repository=str(REPOSITORY), disk=str(disk))
    mounted = subprocess.run(
        [
            "unshare",
            "-m",
            "sh",
            "-c",
            f'mount -t tmpfs -o size=32m tmpfs "{disk}" && exec "$0" "$@"',
            sys.executable,
            "-c",
            program,
        ],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        timeout=100,
    )
    if "unshare" in mounted.stderr or "mount:" in mounted.stderr:
        pytest.skip("this system lets nobody mount anything")
    assert mounted.stdout.endswith("over\n"), mounted.stdout + mounted.stderr
    assert "no room left on the disk" in mounted.stdout
