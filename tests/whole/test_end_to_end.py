"""Whole program as its users run it: real processes, real events, a real site."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import loopback
from tests.support.indexes import location_of
from tests.support.ports import free_port
from tests.support.serving import descendants
from tests.support.skills import SkillWriter
from tests.support.waiting import PATIENCE, Stopwatch, wait_for


class Running:
    """Process `skilldrop up` with separate folders."""

    def __init__(self, folder: Path) -> None:
        self.watched, self.data = folder / "watched", folder / "data"
        self.watched.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.log = folder / "up.log"
        self.process = self.start()

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the program and return its process."""
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [
                    program(),
                    "--watched",
                    self.watched,
                    "--data",
                    self.data,
                    "up",
                    "--port",
                    str(self.port),
                    *options,
                ],
                env=os.environ | {"SKILLDROP_SETTLE_QUIET": "0.2"},
                stderr=log,
                stdout=log,
            )

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Query the catalog file; return nothing while it does not exist."""
        try:
            with sqlite3.connect(f"file:{self.data / 'catalog.db'}?mode=ro", uri=True) as db:
                return db.execute(sql, values).fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            if "db" in locals():
                db.close()

    def index(self) -> str:
        """Return the text of the index file; nothing while it does not exist."""
        path = self.data / "index" / "default.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def site(self, path: str, status: int = 200) -> Any:
        """Return the JSON of a page; nothing unless the answer has this status."""
        try:
            answer = loopback.get(f"http://127.0.0.1:{self.port}{path}")
        except httpx.HTTPError:
            return None
        return answer.json() if answer.status_code == status else None

    def eventually(self, what: Callable[[], Any]) -> Any:
        """Wait until a condition is true, and return its value; on failure show the log."""

        def check() -> None:
            assert self.process.poll() is None

        try:
            return wait_for(what, check)
        except AssertionError as error:
            error.add_note(self.log.read_text())
            raise


def program() -> Path:
    """Return the installed command."""
    return Path(sys.executable).with_name("skilldrop")


def run(*words: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [program(), *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | env,
        check=False,
        timeout=PATIENCE,
    )


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Running]:
    """Start the program and end it afterwards."""
    running = Running(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a program for the tests that leave it as it was."""
    running = Running(tmp_path_factory.mktemp("lasting"))
    yield running
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(PATIENCE) == 0


def shows(up: Running, path: str, description: str) -> bool:
    """Return whether SQLite, the index and the site all show the one skill like this."""
    row = (path, description, "active")
    return (
        up.rows("SELECT path, description, status FROM skills") == [row]
        and f"\ncount-words: {description}\n" in up.index()
        and str(location_of(up.index(), "count-words")).endswith("skills/count-words/SKILL.md")
        and site_rows(up, "path", "description", "status") == [row]
    )


def site_rows(up: Running, *columns: str) -> list[tuple[str, ...]]:
    """Return columns of the skills as the site has them."""
    rows = up.site("/catalog/skills.json?_shape=array") or ()
    return [tuple(row[column] for column in columns) for row in rows]


@pytest.mark.requirement("card/watch", "card/drop", "card/index-file")
@pytest.mark.requirement("prd/life-drop", "own/life-edit", "own/life-removal")
def test_a_dropped_folder_is_followed_through_its_whole_life(
    up: Running, skill: SkillWriter, tmp_path: Path
) -> None:
    """Each copy, edit, renaming and deletion shows in SQLite, in the index and over HTTP."""
    description = "Counts the words of a text."
    files = {"scripts/count.py": "print(1)\n"}
    outside = skill(tmp_path / "count-words", description=description, files=files)
    shutil.copytree(outside, up.watched / "count-words")
    up.eventually(lambda: shows(up, "count-words", description))

    skill(up.watched / "count-words", description="Counts words and lines.")
    up.eventually(lambda: shows(up, "count-words", "Counts words and lines."))

    (up.watched / "count-words").rename(up.watched / "word-count")
    up.eventually(lambda: shows(up, "word-count", "Counts words and lines."))

    shutil.rmtree(up.watched / "word-count")
    up.eventually(lambda: up.rows("SELECT status FROM skills") == [("removed",)])
    up.eventually(lambda: up.index() == "")
    up.eventually(lambda: site_rows(up, "status") == [("removed",)])


@pytest.mark.requirement("card/next-scan", "card/index")
def test_status_names_the_next_full_scan_and_agents_fetch_the_index(
    lasting: Running, skill: SkillWriter
) -> None:
    """The time is the timer's. Over HTTP, the index leads to URLs instead of folders."""
    skill(lasting.watched / "fetched", description="Reads a file.")
    lasting.eventually(lambda: "\nfetched: Reads a file.\n" in lasting.index())
    lasting.eventually(lambda: lasting.site("/-/state.json"))
    fetched = loopback.get(f"http://127.0.0.1:{lasting.port}/index/default")
    assert fetched.status_code == 200
    assert lasting.index().replace(f"{lasting.data}/skills/NAME/", "…") == re.sub(
        r"http://\S+", "…", fetched.text
    )
    ((due,),) = lasting.eventually(
        lambda: lasting.rows("SELECT next_full_scan FROM health WHERE next_full_scan IS NOT NULL")
    )
    assert datetime.fromisoformat(due) > datetime.now(UTC)
    shown = run("--data", lasting.data, "status").stdout
    assert re.search(r"last full scan .*, next .* from now, up to date\.", shown), shown
    shutil.rmtree(lasting.watched / "fetched")
    lasting.eventually(lambda: "fetched" not in lasting.index())


@pytest.mark.requirement("own/life-rejected")
def test_a_broken_skill_never_stops_the_others(lasting: Running, skill: SkillWriter) -> None:
    """It is a row with findings, and becomes active once its author corrects it."""
    (lasting.watched / "broken").mkdir()
    (lasting.watched / "broken" / "SKILL.md").write_bytes(b"\xff\xfe\x00 no frontmatter")
    skill(lasting.watched / "whole")
    lasting.eventually(lambda: location_of(lasting.index(), "whole"))
    lasting.eventually(
        lambda: lasting.rows(
            "SELECT 1 FROM findings AS f JOIN skills AS s ON s.id = f.skill"
            " WHERE s.path = 'broken' AND f.severity = 'error'"
        )
    )
    skill(lasting.watched / "broken")
    lasting.eventually(lambda: location_of(lasting.index(), "broken"))
    assert lasting.rows("SELECT count(*) FROM findings") == [(0,)]


def test_a_signal_ends_everything_within_two_seconds(up: Running, skill: SkillWriter) -> None:
    """The site ends too, nothing is lost, and the next start finds changes made in between."""

    def wait_for_skill(folder: Path) -> None:
        up.eventually(lambda: location_of(up.index(), folder.name))

    wait_for_skill(skill(up.watched / "before"))
    options_of_next_start: dict[signal.Signals, tuple[str, ...]] = {
        signal.SIGTERM: (),
        signal.SIGINT: (),
        signal.SIGHUP: ("--no-site",),
    }
    for number, options in options_of_next_start.items():
        up.eventually(lambda: up.site("/search.json?q=a") is not None)
        watch = Stopwatch(os.getpid(), up.process.pid, *descendants(up.process.pid))
        up.process.send_signal(number)
        wait_for(lambda: up.process.poll() is not None, watch.look)
        assert watch.seconds() < 2
        assert up.process.returncode == 0
        assert up.log.read_text().endswith(f"Stopped by {number.name}.\n")
        assert up.site("/search.json?q=a") is None
        assert up.rows("PRAGMA integrity_check") == [("ok",)]
        meanwhile = skill(up.watched / f"after-{number.name.lower()}")
        up.process = up.start(*options)
        wait_for_skill(meanwhile)
        assert location_of(up.index(), "before")


def test_a_killed_program_leaves_neither_site_nor_lock_behind(
    up: Running, skill: SkillWriter
) -> None:
    """After kill -9 the site ends by itself, and a new start takes over."""
    up.eventually(lambda: up.site("/search.json?q=a") is not None)
    up.process.kill()
    up.process.wait()
    wait_for(lambda: up.site("/search.json?q=a") is None)
    skill(up.watched / "meanwhile")
    up.process = up.start("--no-site")
    up.eventually(lambda: location_of(up.index(), "meanwhile"))


def site_of(up: Running) -> int | None:
    """Return the process that serves the site of a program; None while there is none."""
    for child in Path(f"/proc/{up.process.pid}/task/{up.process.pid}/children").read_text().split():
        with suppress(OSError):
            if b"catalog.site" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    return None


def kill_site(up: Running) -> int:
    """Kill the process that serves the site, and return that of its successor once it answers."""
    first = up.eventually(lambda: site_of(up))
    up.eventually(lambda: up.site("/search.json?q=a") is not None)
    os.kill(first, signal.SIGKILL)
    second: int = up.eventually(lambda: site_of(up) not in (None, first) and site_of(up))
    up.eventually(lambda: up.site("/search.json?q=a") is not None)
    assert site_of(up) == second
    return second


def test_the_site_is_restarted_when_it_dies(lasting: Running) -> None:
    """Readers can continue after a crash of Datasette; repeated crashes are reported."""
    lasting.eventually(lambda: lasting.site("/-/healthz"))
    healthy = run("--data", lasting.data, "status", "--check")
    kill_site(lasting)
    kill_site(lasting)
    found = lasting.eventually(lambda: (lasting.site("/-/healthz") or {}).get("troubles"))
    assert [(one["part"], one["times"]) for one in found] == [("site", 2)]
    checked = run("--data", lasting.data, "status", "--check")
    assert (healthy.returncode, checked.returncode) == (0, 1)
    assert "The site: The site ended with code -9. Failed 2 times" in checked.stdout


def with_unread_output(*words: object) -> subprocess.Popen[bytes]:
    """Start a command whose standard output and error are a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.Popen([program(), *map(str, words)], stderr=writer, stdout=writer)
    finally:
        os.close(writer)


def test_the_service_goes_on_when_the_reader_of_its_log_dies(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """It also ends in order."""
    skill(tmp_path / "watched/before")
    index = tmp_path / "data/index/default.txt"
    process = with_unread_output(
        "--watched", tmp_path / "watched", "--data", tmp_path / "data", "up", "--no-site"
    )
    try:

        def check() -> None:
            assert process.poll() is None

        wait_for(lambda: index.exists() and "before" in index.read_text(), check)
    finally:
        process.terminate()
    assert process.wait(PATIENCE) == 0


def test_a_second_service_is_refused_with_the_process_id_of_the_first(lasting: Running) -> None:
    """It names the site of the first."""
    lasting.eventually(lambda: lasting.rows("SELECT 1 FROM health WHERE service_pid IS NOT NULL"))
    second = run("--watched", lasting.watched, "--data", lasting.data, "up")
    assert second.returncode == 2
    assert f"process {lasting.process.pid}" in second.stderr
    assert "runs here already; its site is http://127.0.0.1:" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_port_in_use_gives_one_sentence(tmp_path: Path) -> None:
    """It names the address, and the program ends."""
    (tmp_path / "watched").mkdir()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        tried = run(
            "--watched", tmp_path / "watched", "--data", tmp_path / "d", "up", "--port", port
        )
    assert (tried.returncode, "Traceback" in tried.stderr) == (2, False)
    assert str(port) in tried.stderr
