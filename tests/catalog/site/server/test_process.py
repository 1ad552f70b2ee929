"""The site as the real child process."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from catalog.filesystem import token_file
from catalog.model.errors import CatalogUnusable, NotInCatalog, SkilldropError
from catalog.site.__main__ import LOG_BYTES
from catalog.site.server import process
from catalog.site.server.process import SiteProcess
from catalog.writing.store import Store
from tests.support import loopback
from tests.support.ports import free_port
from tests.support.sites import fill
from tests.support.waiting import PATIENCE, Stopwatch, wait_for

REPOSITORY = Path(__file__).parents[4]


@pytest.fixture
def child(catalog: Path, tmp_path: Path) -> Iterator[SiteProcess]:
    """Return the site of the filled catalog, not yet started."""
    child = SiteProcess(catalog, "127.0.0.1", free_port(), tmp_path / "site.log")
    yield child
    child.stop()


def ask(child: SiteProcess, path: str = "catalog/skills.json?_shape=array") -> Any:
    """Ask a child as soon as it answers; it has 60 seconds to."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(httpx.ConnectError):
            return loopback.get(f"{child.url}{path}").raise_for_status().json()
        assert not ended(child.pid, 0.02), "the site ended"
    pytest.fail("the site does not answer")


def ended(pid: int | None, seconds: float) -> bool:
    """Wait for a process to end, for so long at most."""
    try:
        handle = os.pidfd_open(pid or 0)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def test_the_child_serves_until_it_is_stopped(child: SiteProcess) -> None:
    """Started it answers, after its first death it restarts without a pause, stopped it is gone.

    Its port is free again.
    """
    child.start()
    assert len(ask(child)) == 11
    pid = child.pid
    child.ensure_running(100.0)
    assert child.pid == pid, "it runs, so nothing is done"
    os.kill(pid or 0, signal.SIGKILL)
    assert ended(pid, PATIENCE)
    child.ensure_running(101.0)
    assert child.pid != pid
    assert len(ask(child)) == 11
    pid = child.pid
    child.stop()
    assert ended(pid, 0)
    assert child.pid is None
    child.start()


def test_the_child_serves_a_catalog_of_any_name_from_any_directory(tmp_path: Path) -> None:
    """The database is named `catalog`, whatever the name of its folder or file.

    A `catalog` that lies where a command is started is not the package that is run.
    """
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "__init__.py").write_text("raise SystemExit('astray')")
    path = tmp_path / "100% #1? 目录" / "skills.sqlite"
    fill(Store.open(path)).close()
    child = SiteProcess(path, "127.0.0.1", free_port(), tmp_path / "site.log")
    child.start()
    try:
        assert len(ask(child)) == 11
    finally:
        child.stop()


def test_the_child_dies_with_its_parent(catalog: Path) -> None:
    """Even a parent that was killed leaves no site behind."""
    port = free_port()
    program = (
        "import sys; from pathlib import Path\n"
        "from catalog.site.server.process import SiteProcess\n"
        f"site = SiteProcess(Path({str(catalog)!r}), '127.0.0.1', {port})\n"
        "site.start(); print(site.pid, flush=True); site.wait()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    with parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        handle = os.pidfd_open(pid)  # taken now: later the number could mean another process
        parent.kill()
    died = select.select([handle], [], [], PATIENCE)[0]
    if not died:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    os.close(handle)
    assert died, "the site outlived its parent"


def test_a_stopped_child_stays_stopped(child: SiteProcess) -> None:
    """Neither before the start nor after the end does looking after it start it."""
    child.ensure_running(1.0)
    assert child.pid is None
    child.start()
    child.stop()
    child.ensure_running(2.0)
    assert child.pid is None


@pytest.fixture
def sickly(child: SiteProcess, monkeypatch: pytest.MonkeyPatch) -> SiteProcess:
    """Return a site that ends as soon as it is started."""
    monkeypatch.setattr(child, "_command", lambda: [sys.executable, "-c", "raise SystemExit(3)"])
    return child


def tries(child: SiteProcess, times: list[float]) -> list[float]:
    """Look after a site at these times; return those at which it was started."""
    started = []
    for now in times:
        before = child.pid
        assert ended(before, PATIENCE)
        child.ensure_running(now)
        started += [now] if child.pid != before else []
    return started


def test_a_child_that_does_not_stay_up_gets_ever_longer_pauses(
    sickly: SiteProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """At once, after 1 s, 2 s, 4 s … and never more than a minute; each is logged once."""
    sickly.start()
    assert tries(sickly, [0, 1, 1.9, 2, 3, 4.9, 5, 6, 9.9, 10]) == [0, 2, 5, 10]
    assert "The site ended with code 3; starting it again in 1 s" in caplog.messages
    assert len(caplog.messages) == 4
    assert tries(sickly, [20, 28, 29, 45, 46, 78, 79, 138.9, 139, 140, 200]) == [
        28,
        45,
        78,
        139,
        200,
    ]


def test_a_child_that_ran_for_long_is_trusted_again(child: SiteProcess) -> None:
    """After a minute of service a death is the first one again."""
    child._pause = 32.0
    child.start()
    ask(child)
    child.ensure_running(0)
    wait_for(lambda: child._probe.has_answered)
    child.ensure_running(process.STEADY)
    os.kill(child.pid or 0, signal.SIGKILL)
    assert tries(child, [100]) == [100]


def test_a_port_taken_meanwhile_is_logged_and_tried_again(
    sickly: SiteProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is raised into the service, whose work goes on without the site."""
    sickly.start()
    assert ended(sickly.pid, PATIENCE)
    port = int(sickly.url.rstrip("/").rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        assert tries(sickly, [0, 0.5]) == []
    assert "another program uses it" in caplog.messages[-1]
    assert tries(sickly, [1]) == [1]


@pytest.mark.parametrize(
    ("content", "error", "complaint"),
    [
        pytest.param(None, NotInCatalog, "There is no catalog at .* yet", id="missing"),
        pytest.param(
            b"no database, but long enough to be read as one" * 20,
            CatalogUnusable,
            "cannot be read",
            id="no database",
        ),
        pytest.param(b"", CatalogUnusable, "is empty", id="empty"),
    ],
)
def test_without_a_catalog_there_is_no_site(
    tmp_path: Path, content: bytes | None, error: type[SkilldropError], complaint: str
) -> None:
    """The error is one sentence, and nothing is started or created."""
    path = tmp_path / "catalog.db"
    if content is not None:
        path.write_bytes(content)
    site = SiteProcess(path, "127.0.0.1", free_port())
    with pytest.raises(error, match=complaint):
        site.start()
    assert site.pid is None
    assert path.exists() == (content is not None)


def test_the_command_says_in_one_line_why_it_cannot_serve(tmp_path: Path) -> None:
    """`python -m catalog.site` ends with code 1 and a sentence, not a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "catalog.site", str(tmp_path / "none.db")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 1
    assert re.fullmatch(r"There is no catalog at .*none.db yet\. .*\n", done.stderr)


def test_a_large_log_is_set_aside(child: SiteProcess, catalog: Path, tmp_path: Path) -> None:
    """At the start and while the site runs; the last one is kept.

    Neither the log of months nor a visitor who makes it complain fills the disk.
    """
    log = tmp_path / "site.log"
    log.write_bytes(b"x" * (LOG_BYTES + 1))
    child.start()
    ask(child)
    assert log.stat().st_size < LOG_BYTES
    assert (tmp_path / "site.log.1").stat().st_size == LOG_BYTES + 1

    with log.open("ab") as file:
        file.write(b"x" * (LOG_BYTES + 2))
    catalog.with_name(token_file.NAME).write_text("no token")
    assert loopback.get(child.url).status_code == 503  # and complains
    assert log.stat().st_size < LOG_BYTES
    assert (tmp_path / "site.log.1").stat().st_size > LOG_BYTES + 1


@pytest.mark.parametrize("name", ["site.log", "site.log.1"])
def test_what_a_link_in_place_of_a_log_leads_to_stays(
    child: SiteProcess, tmp_path: Path, name: str
) -> None:
    """It is neither cut nor written over."""
    other = tmp_path / "other"
    other.write_bytes(b"x" * (LOG_BYTES + 1))
    (tmp_path / "site.log").write_bytes(b"y" * (LOG_BYTES + 1))
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).symlink_to(other)
    child.start()
    ask(child)
    assert other.read_bytes().startswith(b"x" * (LOG_BYTES + 1))


def serve(catalog: Path, port: int) -> subprocess.Popen[str]:
    """Start the command `serve`."""
    skilldrop = Path(sys.executable).with_name("skilldrop")
    return subprocess.Popen(
        [skilldrop, "--data", catalog.parent, "serve", "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
    )


def answers(port: int) -> bool:
    """Return whether a site answers a search, which must then succeed."""
    with suppress(httpx.ConnectError):
        url = f"http://127.0.0.1:{port}/search.json?q=a"
        return loopback.get(url).raise_for_status().is_success
    return False


def test_the_command_serve_starts_a_dead_site_again(catalog: Path) -> None:
    """The command restarts a dead site, and ends cleanly on SIGTERM."""
    port = free_port()
    with serve(catalog, port) as command:
        try:
            wait_for(lambda: answers(port))
            (child,) = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
            os.kill(int(child), signal.SIGKILL)
            assert ended(int(child), PATIENCE)
            wait_for(lambda: answers(port))
        finally:
            command.terminate()
        assert command.wait(PATIENCE) == 0
        assert command.stderr
        assert "starting it again" in command.stderr.read()


# A site that does not answer

HANGS = "select instr(zeroblob(32000000), zeroblob(16000000)||x'01')"
"""One call of one function, which takes hours, and which no time limit interrupts."""


def watched_until(child: SiteProcess, is_true: Callable[[], Any]) -> float:
    """Look after a site as a service does, until something is true.

    Return the seconds of the longest look that did not start it again.
    """
    looks = [0.0]

    def look() -> None:
        pid, watch = child.pid, Stopwatch(os.getpid())
        child.ensure_running(time.monotonic())
        watch.look()
        looks.append(watch.seconds() if child.pid == pid else 0.0)

    wait_for(is_true, look)
    return max(looks)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a site have little time to answer."""
    monkeypatch.setattr(process, "ASK_EVERY", 0.01)
    monkeypatch.setattr(process, "ANSWER_SECONDS", 1)
    monkeypatch.setattr(process, "STOPPING", 0.1)


@pytest.mark.usefixtures("impatient")
def test_a_site_that_hangs_is_replaced(
    catalog: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The new site responds. Looking after the one that hangs never waits: there is other work."""
    child = SiteProcess(catalog, "127.0.0.1", free_port(), tmp_path / "site.log")
    child.start()
    try:
        ask(child)
        watched_until(child, lambda: child._probe.has_answered)
        assert child.trouble is None
        os.kill(child.pid or 0, signal.SIGSTOP)
        pid = child.pid
        longest = watched_until(child, lambda: child.trouble)
        assert child.trouble == "The site does not answer; it is being replaced."
        longest = max(longest, watched_until(child, lambda: child.pid != pid))
        assert longest < process.ANSWER_SECONDS
        assert ended(pid, 0)
        assert len(ask(child)) == 11
        watched_until(child, lambda: not child.trouble)
    finally:
        child.stop()
    assert "The site did not answer 3 times and was ended; starting it again" in caplog.messages


@pytest.mark.usefixtures("impatient")
def test_a_site_that_is_starting_has_more_time(child: SiteProcess) -> None:
    """On a busy machine it may take a while until the first answer."""
    child.start()
    pid = child.pid
    os.kill(pid or 0, signal.SIGSTOP)
    watched_until(child, lambda: child._probe.misses > process.MOST_MISSES)
    assert (child.pid, child.trouble) == (pid, None)
    child.ensure_running(time.monotonic() + process.STARTING)
    assert child.trouble


def test_a_site_that_ended_is_a_trouble_until_it_answers_again(sickly: SiteProcess) -> None:
    """The trouble is one sentence, for the health of the service."""
    assert sickly.trouble is None
    sickly.start()
    tries(sickly, [0, 1])
    assert sickly.trouble == "The site ended with code 3."
    sickly.stop()
    assert sickly.trouble is None
