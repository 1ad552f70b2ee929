"""Replication of the catalog to a real S3 server with the configuration of `deploy/`."""

import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from catalog.database.connection import connect_to_read
from catalog.writing.store import Store
from tests.support import litestream
from tests.support.paths import REPOSITORY
from tests.support.ports import free_port
from tests.support.records import NOON, judged, rooted
from tests.support.skills import SkillWriter
from tests.support.waiting import wait_for

HERE = Path(sys.executable).parent
KEYS = {"LITESTREAM_ACCESS_KEY_ID": "key", "LITESTREAM_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start processes that are ended with the test."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*words: object, log: Path, **env: str) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            running.append(
                subprocess.Popen(
                    [str(word) for word in words],
                    stdout=output,
                    stderr=output,
                    env=litestream.environment() | env,
                )
            )
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def bucket(tmp_path: Path, started: Callable[..., subprocess.Popen[bytes]]) -> str:
    """Serve a bucket by S3 and return the URL of a place in it."""
    port = free_port()
    (tmp_path / "s3/team").mkdir(parents=True)
    server = started(
        HERE / "rclone",
        "serve",
        "s3",
        "--auth-key",
        "key,secret",
        "--addr",
        f"127.0.0.1:{port}",
        tmp_path / "s3",
        log=tmp_path / "s3.log",
        RCLONE_CONFIG="",
    )
    eventually(lambda: _listens(port), server)
    return f"s3://team/catalog?endpoint=http://127.0.0.1:{port}"


def eventually(what: Callable[..., bool], *alive: subprocess.Popen[bytes]) -> None:
    """Wait until something is true while processes live."""

    def check() -> None:
        assert all(process.poll() is None for process in alive), "a process ended"

    wait_for(what, check)


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def seen_at(catalog: Path) -> dict[str, str]:
    """Return when each skill of a catalog was first seen; none while there is no catalog."""
    try:
        db = sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)
        found = dict(db.execute("SELECT path, first_seen FROM skills").fetchall())
        db.close()
    except sqlite3.OperationalError:
        return {}
    return found


INTERVAL = 1.0
"""Seconds of changes that may be lost, by the intervals of the configuration."""


def seen_before_the_interval(catalog: Path) -> set[str]:
    """Return the skills that may not be lost if all processes are killed now."""
    safe_until = (datetime.now(UTC) - timedelta(seconds=INTERVAL)).isoformat()
    return {path for path, at in seen_at(catalog).items() if at < safe_until}


@pytest.fixture
def replicated_service(
    tmp_path: Path,
    skill: SkillWriter,
    bucket: str,
    started: Callable[..., subprocess.Popen[bytes]],
) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    """Return a service and the replication of its catalog, which has one skill."""
    watched = tmp_path / "watched"
    skill(watched / "first")
    command = [HERE / "skilldrop", "--watched", watched, "--data", tmp_path / "data"]
    up = started(*command, "up", "--no-site", log=tmp_path / "up.log", SKILLDROP_SETTLE_QUIET="0.1")
    eventually(lambda: "first" in seen_at(tmp_path / "data/catalog.db"), up)
    config = (REPOSITORY / "deploy/litestream.yml").read_text()
    for deployed, here in (
        ("/var/lib/skilldrop", tmp_path / "data"),
        ("s3://team/skilldrop", bucket),
    ):
        assert deployed in config
        config = config.replace(deployed, str(here))
    (tmp_path / "litestream.yml").write_text(config)
    copying = started(
        litestream.LITESTREAM,
        "replicate",
        "-config",
        tmp_path / "litestream.yml",
        log=tmp_path / "litestream.log",
        **KEYS,
    )
    eventually(lambda: any((tmp_path / "s3/team").rglob("*.ltx")), up, copying)
    return up, copying


def test_changes_older_than_the_interval_survive_a_crash_of_the_machine(
    tmp_path: Path,
    skill: SkillWriter,
    bucket: str,
    monkeypatch: pytest.MonkeyPatch,
    replicated_service: tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]],
) -> None:
    """Skills arrive all the time, and all processes are killed at once."""
    up, copying = replicated_service
    catalog, copy = tmp_path / "data/catalog.db", tmp_path / "replica/catalog.db"
    while len(seen_before_the_interval(catalog)) <= 5:
        newest = skill(tmp_path / "watched" / f"skill-{time.monotonic_ns()}").name
        eventually(lambda newest=newest: newest in seen_at(catalog), up)
    up.send_signal(signal.SIGKILL)
    copying.send_signal(signal.SIGKILL)
    old = seen_before_the_interval(catalog)

    for key, value in KEYS.items():
        monkeypatch.setenv(key, value)
    litestream.restore(bucket, copy)
    assert len(old) > 5
    assert old <= seen_at(copy).keys()


def test_a_restored_catalog_answers(tmp_path: Path, bucket: str) -> None:
    """Reading commands work on the copy, even without a root."""
    with_one_skill(tmp_path / "data/catalog.db")
    litestream.copy_once(tmp_path / "data/catalog.db", f"file://{tmp_path}/copy")
    litestream.restore(f"file://{tmp_path}/copy", tmp_path / "replica/catalog.db")
    found = subprocess.run(
        [HERE / "skilldrop", "--data", tmp_path / "replica", "search", "skill"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "one" in found.stdout


def with_one_skill(catalog: Path, path: str = "one") -> None:
    """Make a catalog, or add a skill to it."""
    store = Store.open(catalog)
    rooted(store)
    store.apply([judged(path)], trigger="command", at=NOON)
    store.close()


def test_running_readers_see_a_restored_catalog_whole(tmp_path: Path) -> None:
    """A reader in the middle of a transaction keeps the old state, and gets the new one after it.

    A replaced file would stay open, and another process would have answered from the new one.
    """
    catalog = tmp_path / "data/catalog.db"
    with_one_skill(catalog)
    litestream.copy_once(catalog, f"file://{tmp_path}/before")
    litestream.restore(f"file://{tmp_path}/before", tmp_path / "replica/catalog.db")
    with_one_skill(catalog, "two")
    litestream.copy_once(catalog, f"file://{tmp_path}/after")
    with closing(connect_to_read(tmp_path / "replica/catalog.db")) as reader:
        reader.execute("BEGIN")
        assert paths_of(reader) == ["one"]
        litestream.restore(f"file://{tmp_path}/after", tmp_path / "replica/catalog.db")
        assert paths_of(reader) == ["one"]
        reader.execute("COMMIT")
        assert paths_of(reader) == ["one", "two"]
    assert seen_at(tmp_path / "replica/catalog.db").keys() == {"one", "two"}


def paths_of(reader: sqlite3.Connection) -> list[str]:
    """Return the paths of all skills."""
    return [path for (path,) in reader.execute("SELECT path FROM skills ORDER BY path")]
