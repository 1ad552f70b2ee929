"""User who may read the catalog's directory but not write in it."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.paths import REPOSITORY
from tests.support.ports import free_port
from tests.support.serving import ServingProcess
from tests.support.skills import SkillWriter
from tests.support.waiting import wait_for

SKILLDROP = str(Path(sys.executable).with_name("skilldrop"))
NOBODY = (
    "setpriv",
    "--reuid",
    "65534",
    "--regid",
    "65534",
    "--clear-groups",
    "--inh-caps",
    "+dac_read_search",
    "--ambient-caps",
    "+dac_read_search",
)
"""Another user, who may read the interpreter wherever it lies."""

COMMANDS_IN_TURN = """
import json, sys
from tests.support.program import run
ended = [run(*words) for words in json.loads(sys.argv[1])]
print(json.dumps([(done.returncode, done.stdout, done.stderr) for done in ended]))
"""

WRITE_AND_DIE = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("UPDATE skills SET description = 'Text only in the log.' WHERE path = 'a'")
os._exit(0)
"""

pytestmark = pytest.mark.skipif(
    os.getuid() != 0
    or subprocess.run([*NOBODY, "true"], check=False, capture_output=True).returncode != 0,
    reason="only root can be another user",
)


@pytest.fixture
def made(skill: SkillWriter) -> Iterator[ServingProcess]:
    """Return a service with a skill `a`, in a directory that other users can enter."""
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        made = ServingProcess(Path(folder), rescan_every=3600.0)
        skill(made.root / "a")
        yield made
        made.kill()


@pytest.fixture
def up(made: ServingProcess) -> ServingProcess:
    """Return it while it runs."""
    made.start()
    made.settle()
    return made


@pytest.fixture
def stopped(made: ServingProcess) -> ServingProcess:
    """Return it with a complete catalog, while it does not run."""
    store = open_store(made.settings)
    scan_once(made.settings, store, engine=serial)
    store.close()
    return made


def reading(up: ServingProcess, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as the other user, to its end."""
    return subprocess.run(
        [*NOBODY, SKILLDROP, "--watched", str(up.root), "--data", str(up.settings.data), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


def reading_in_turn(up: ServingProcess, *commands: list[str]) -> list[tuple[int, str, str]]:
    """Run commands in one process as the other user; return exit code, output and messages."""
    catalog = ["--watched", str(up.root), "--data", str(up.settings.data)]
    words = json.dumps([[*catalog, *words] for words in commands])
    done = subprocess.run(
        [*NOBODY, sys.executable, "-c", COMMANDS_IN_TURN, words],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    return [tuple(each) for each in json.loads(done.stdout)]


COMMANDS = (
    ["status"],
    ["search", "text"],
    ["versions", "a"],
    ["read", "a"],
    ["index"],
    ["search", "a", "--json"],
)


@pytest.mark.parametrize("end", ["runs", "stopped", "killed", "copied"])
def test_every_reading_command_answers(request: pytest.FixtureRequest, end: str) -> None:
    """Beside the service, without it, after its kill, and for a copy of the file."""
    up: ServingProcess = request.getfixturevalue("up" if end in ("runs", "killed") else "stopped")
    if end == "killed":
        up.kill()
        subprocess.run([sys.executable, "-c", WRITE_AND_DIE, up.settings.catalog_path], check=True)
        assert up.settings.catalog_path.with_name("catalog.db-wal").stat().st_size
    elif end == "copied":
        for ending in ("-wal", "-shm", ".lock"):
            up.settings.catalog_path.with_name(f"catalog.db{ending}").unlink()
    ended = reading_in_turn(up, *COMMANDS)
    for words, (code, _, messages) in zip(COMMANDS, ended, strict=True):
        assert (code, messages) == (0, ""), words
    hits = json.loads(ended[-1][1])
    assert hits[0]["description"] == (
        "Text only in the log." if end == "killed" else hits[0]["description"]
    )


def test_an_unreadable_log_is_an_error(up: ServingProcess) -> None:
    """Old rows are never shown as the newest."""
    up.kill()
    log = up.settings.catalog_path.with_name("catalog.db-wal")
    log.write_bytes(log.read_bytes() or b"something")
    up.settings.catalog_path.with_name("catalog.db-shm").unlink()
    done = reading(up, "status")
    assert done.returncode == 2
    assert "was not closed" in done.stderr
    assert done.stderr.count("\n") == 1


@contextmanager
def site_of_another_user(up: ServingProcess, log: Path) -> Iterator[Callable[[], str]]:
    """Serve the catalog as another user; yield a function that returns a page, or nothing yet."""
    port = free_port()
    with log.open("w") as opened:
        site = subprocess.Popen(
            [*NOBODY, SKILLDROP, "--data", str(up.settings.data), "serve", "--port", str(port)],
            stderr=opened,
            cwd="/",
        )

    def preview() -> str:
        url = f"http://127.0.0.1:{port}/skills/a/preview"
        with suppress(OSError), urllib.request.urlopen(url) as answer:
            return json.dumps(json.loads(answer.read()))
        return ""

    try:
        yield preview
    finally:
        site.terminate()
        site.wait()


@pytest.mark.parametrize("is_alone", [False, True], ids=["stopped", "copied"])
def test_the_site_of_a_user_who_cannot_write_follows_the_writer(
    stopped: ServingProcess, is_alone: bool, tmp_path: Path
) -> None:
    """The writer starts later; the site starts again and does not show old rows."""
    up = stopped
    if is_alone:
        for ending in ("-wal", "-shm"):
            up.settings.catalog_path.with_name(f"catalog.db{ending}").unlink()
    log = tmp_path / "site.log"
    with site_of_another_user(up, log) as preview:
        wait_for(preview)
        up.start()
        (up.root / "a/SKILL.md").write_text("---\nname: a\ndescription: New.\n---\n")
        up.wait_for(lambda: up.rows("SELECT 1 FROM skills WHERE description = 'New.'"))
        wait_for(lambda: "New." in preview())
        # A page may open the file again, and show new rows before the site notices the writer.
        if is_alone:
            wait_for(lambda: "opened as immutable" in log.read_text())
    assert ("opened as immutable" in log.read_text()) is is_alone


def test_agents_can_read_by_mcp_without_the_right_to_write(stopped: ServingProcess) -> None:
    """Over stdio, while no service runs."""
    server = StdioServerParameters(
        command=NOBODY[0],
        args=[*NOBODY[1:], SKILLDROP, "--data", str(stopped.settings.data), "mcp"],
        cwd="/",
    )

    async def asked() -> CallToolResult:
        async with Client(server, read_timeout_seconds=60) as client:
            return await client.call_tool("search_skills", {"query": "text"})

    answer = asyncio.run(asked())
    assert not answer.is_error
    assert "Takes a text file" in str(answer.content)


def test_after_a_stop_the_catalog_file_is_complete(up: ServingProcess, tmp_path: Path) -> None:
    """SQLite's log beside it is empty, so a copy of the file is enough."""
    up.stop()
    assert up.settings.catalog_path.with_name("catalog.db-wal").stat().st_size == 0
    copy = shutil.copy(up.settings.catalog_path, tmp_path / "copy.db")
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute("SELECT status FROM skills WHERE path = 'a'").fetchone() == ("active",)
