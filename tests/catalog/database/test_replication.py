"""Replication of the catalog to a real S3 server with the real Litestream, and restoring."""

import os
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

from catalog.database import replication
from catalog.database.connection import connect_to_read
from catalog.model.errors import CatalogBusy, CatalogUnusable, ReplicationFailed
from catalog.writing.store import Store
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
                    env=os.environ | env,
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


INTERVAL = 1.5
"""Seconds between two uploads of changes."""


@pytest.fixture
def replicated_service(
    tmp_path: Path,
    skill: SkillWriter,
    bucket: str,
    started: Callable[..., subprocess.Popen[bytes]],
) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    """Return a service and the replication of its catalog, which holds one skill."""
    watched = tmp_path / "watched"
    skill(watched / "first")
    command = [HERE / "skilldrop", "--watched", watched, "--data", tmp_path / "data"]
    up = started(*command, "up", "--no-site", log=tmp_path / "up.log", SKILLDROP_SETTLE_QUIET="0.1")
    eventually(lambda: "first" in seen_at(tmp_path / "data/catalog.db"), up)
    copying = started(
        *command,
        "replicate",
        bucket,
        "--interval",
        INTERVAL,
        log=tmp_path / "replicate.log",
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
    end = time.monotonic() + 2 * INTERVAL
    while time.monotonic() < end:
        newest = skill(tmp_path / "watched" / f"skill-{time.monotonic_ns()}").name
        eventually(lambda newest=newest: newest in seen_at(catalog), up)
    up.send_signal(signal.SIGKILL)
    copying.send_signal(signal.SIGKILL)
    safe_until = (datetime.now(UTC) - timedelta(seconds=INTERVAL)).isoformat()

    for key, value in KEYS.items():
        monkeypatch.setenv(key, value)
    replication.restore(bucket, copy)
    old = {path for path, at in seen_at(catalog).items() if at < safe_until}
    assert len(old) > 5
    assert old <= seen_at(copy).keys()


def test_a_restored_catalog_answers(tmp_path: Path, bucket: str) -> None:
    """Reading commands work on the copy, even without a root."""
    with_one_skill(tmp_path / "data/catalog.db")
    copied_once(tmp_path / "data/catalog.db", tmp_path / "copy")
    asked = subprocess.run(
        [HERE / "skilldrop", "--data", tmp_path / "replica", "restore", f"file://{tmp_path}/copy"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Serve it with: skilldrop --data" in asked.stdout
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


def copied_once(catalog: Path, target: Path) -> None:
    """Have Litestream copy a catalog to a folder and end."""
    subprocess.run(
        [HERE / "litestream", "replicate", "-once", catalog, f"file://{target}"],
        check=True,
        capture_output=True,
        env={},
    )


def test_an_existing_catalog_is_replaced_only_on_request(tmp_path: Path) -> None:
    """With --replace it is replaced whole; a file that is no longer recognizable is kept aside."""
    catalog = tmp_path / "data/catalog.db"
    with_one_skill(catalog)
    copied_once(catalog, tmp_path / "copy")
    url = f"file://{tmp_path}/copy"
    with pytest.raises(CatalogBusy, match=r"already\. Choose another --data"):
        replication.restore(url, catalog)
    catalog.write_bytes(b"damaged")
    for _ in range(2):
        replication.restore(url, catalog, replace=True)
        assert seen_at(catalog).keys() == {"one"}
    assert (catalog.parent / "catalog.db.~1~").read_bytes() == b"damaged"
    assert not (catalog.parent / "catalog.db.~2~").exists()


def test_running_readers_see_a_restored_catalog_whole(tmp_path: Path) -> None:
    """A reader in the middle of a transaction keeps the old state, and gets the new one after it.

    A replaced file would stay open, and another process would have answered from the new one.
    """
    catalog = tmp_path / "data/catalog.db"
    with_one_skill(catalog)
    copied_once(catalog, tmp_path / "before")
    replication.restore(f"file://{tmp_path}/before", tmp_path / "replica/catalog.db")
    with_one_skill(catalog, "two")
    copied_once(catalog, tmp_path / "after")
    with closing(connect_to_read(tmp_path / "replica/catalog.db")) as reader:
        reader.execute("BEGIN")
        assert paths_of(reader) == ["one"]
        replication.restore(
            f"file://{tmp_path}/after", tmp_path / "replica/catalog.db", replace=True
        )
        assert paths_of(reader) == ["one"]
        reader.execute("COMMIT")
        assert paths_of(reader) == ["one", "two"]
    assert seen_at(tmp_path / "replica/catalog.db").keys() == {"one", "two"}


def paths_of(reader: sqlite3.Connection) -> list[str]:
    """Return the paths of all skills."""
    return [path for (path,) in reader.execute("SELECT path FROM skills ORDER BY path")]


def test_a_database_of_another_program_is_never_replaced(tmp_path: Path) -> None:
    """Not even with --replace."""
    catalog = tmp_path / "data/catalog.db"
    with_one_skill(catalog)
    copied_once(catalog, tmp_path / "copy")
    catalog.unlink()
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("CREATE TABLE thesis (text)")
    before = catalog.read_bytes()
    with pytest.raises(CatalogUnusable, match="is a database of another program"):
        replication.restore(f"file://{tmp_path}/copy", catalog, replace=True)
    assert catalog.read_bytes() == before


def test_a_directory_in_place_of_the_catalog_is_never_replaced(tmp_path: Path) -> None:
    """Not even with --replace, as its files may be someone's work."""
    (tmp_path / "data/catalog.db").mkdir(parents=True)
    with pytest.raises(CatalogUnusable, match="is a directory, not a catalog file"):
        replication.restore("file:///nowhere", tmp_path / "data/catalog.db", replace=True)
    assert (tmp_path / "data/catalog.db").is_dir()


def test_a_catalog_in_use_by_a_writer_is_not_replaced(tmp_path: Path) -> None:
    """The writer would continue to write a deleted file."""
    catalog = tmp_path / "data/catalog.db"
    with_one_skill(catalog)
    copied_once(catalog, tmp_path / "copy")
    store = Store.open(catalog)
    with pytest.raises(CatalogBusy, match=f"process {os.getpid()}"):
        replication.restore(f"file://{tmp_path}/copy", catalog, replace=True)
    store.close()


def test_a_missing_copy_is_reported(tmp_path: Path) -> None:
    """The message ends with Litestream's last line, and no files are left."""
    with pytest.raises(ReplicationFailed, match="Nothing was restored from file:///nowhere"):
        replication.restore("file:///nowhere", tmp_path / "data/catalog.db")
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["catalog.db.lock"]


def test_a_missing_litestream_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra that installs it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ReplicationFailed, match=r"skilldrop\[replicate\]"):
        replication.restore("file:///nowhere", tmp_path / "catalog.db")
