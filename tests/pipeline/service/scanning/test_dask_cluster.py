"""A Dask cluster returns the results of one process; all clusters here are real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.model.change import Judged
from catalog.model.errors import ClusterUnusable
from catalog.model.skill import RootSpec, Verdict
from pipeline.config.loader import load
from pipeline.config.settings import Settings
from pipeline.roots.local.folder import Limits
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning import dask_cluster, engines
from pipeline.service.scanning.engines import Engine, serial
from pipeline.service.scanning.scanner import ScanOptions, ScanScope
from tests.support.mcp_servers import answers
from tests.support.ports import free_port
from tests.support.skills import SkillWriter
from tests.support.waiting import PATIENCE, wait_for

distributed = pytest.importorskip("distributed")
config = pytest.importorskip("dask.config")

pytestmark = pytest.mark.filterwarnings("ignore:::distributed")

HOW = ScanOptions(Limits(), quiet=0.0)


@pytest.fixture(scope="module", autouse=True)
def without_profiles() -> Iterator[None]:
    """Let no process of Dask look a hundred times a second at what it does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")
        with config.set({"distributed.worker.profile.enabled": False}):
            yield


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """Start a scheduler and two worker processes, as a team would on other machines."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


@pytest.fixture(autouse=True)
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even a few folders use the cluster."""
    monkeypatch.setattr(engines, "WORTH_IT", 5)
    monkeypatch.setattr(engines, "FOLDERS_IN_A_PIECE", 2)


@pytest.fixture
def root(tmp_path: Path, skill: SkillWriter) -> RootSpec:
    """Return a root with good skills, a broken one, one in another and two of one name."""
    for number in range(60):
        skill(tmp_path / "root" / f"group-{number % 3}" / f"skill-{number}")
    skill(tmp_path / "root/group-0/skill-0/nested")
    skill(tmp_path / "root/other/skill-1")
    skill(tmp_path / "root/broken", files={"SKILL.md": "nothing\n"})
    return RootSpec(str(tmp_path / "root"))


def scanned(settings: Settings, engine: Engine) -> dict[str, list[Any]]:
    """Scan into a new catalog and return its rows without ids and times."""
    store = open_store(settings)
    scan_once(settings, store, engine=engine)
    questions = {
        "skills": "SELECT path, skill_id, name, status, status_reason, digest, fingerprint,"
        " file_inventory, frontmatter FROM skills ORDER BY path",
        "files": "SELECT s.path, f.path, f.sha256, f.mode FROM files AS f JOIN versions AS v"
        " ON v.id = f.version JOIN skills AS s ON s.id = v.skill ORDER BY 1, 2",
        "findings": "SELECT folder, code, message, line FROM findings ORDER BY 1, 2, 4",
        "index": "SELECT replace(t.text, rtrim(packages_folder, 'packages'), '')"
        " FROM health, index_builds"
        " JOIN index_texts AS t USING (sha256)",
    }
    found = {name: store.db.execute(sql).fetchall() for name, sql in questions.items()}
    store.close()
    return found


def killing(engine: Engine, victim: Callable[[], int]) -> Engine:
    """Return an engine that kills a process after the first verdict."""

    def scan(scope: ScanScope, options: ScanOptions) -> Iterator[Any]:
        todo = [victim]
        for result in engine(scope, options):
            yield result
            if todo and isinstance(result, Judged):
                os.kill(todo.pop()(), signal.SIGKILL)

    return scan


def test_the_catalog_is_the_same_even_if_a_worker_is_killed(
    root: RootSpec, tmp_path: Path, workers: Any
) -> None:
    """Skills, files, findings and index of a real scan equal those of one process."""
    alone = scanned(load(None, Path(root.path), tmp_path / "one"), serial)
    with dask_cluster.dask(workers.scheduler_address) as engine:
        shared = scanned(
            load(None, Path(root.path), tmp_path / "two"),  # as long: the index names it
            killing(engine, lambda: next(iter(workers.workers.values())).pid),
        )
    assert len(alone["skills"]) == 63
    assert shared == alone


def test_a_cluster_that_goes_away_loses_nothing(
    root: RootSpec, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller scans the rest, and logs a warning."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as leaving,
        dask_cluster.dask(leaving.scheduler_address) as engine,
    ):
        seen: list[Verdict] = []
        for one in engine(ScanScope(root, ("",), {}), HOW):
            if isinstance(one, Judged):
                if not seen:
                    leaving.scale(0)
                    # Only the pieces sent before are scanned there: fewer than half of them.
                    wait_for(lambda: not leaving.scheduler.workers)
                seen.append(one.verdict)
    assert {verdict.place.path for verdict in seen} == {
        one.verdict.place.path
        for one in serial(ScanScope(root, ("",), {}), HOW)
        if isinstance(one, Judged)
    }
    assert "scans the rest alone" in caplog.text


@pytest.fixture
def team(tmp_path: Path) -> Iterator[tuple[str, dict[str, subprocess.Popen[bytes]]]]:
    """Start a scheduler and a worker with the commands of Dask; return its address and both."""
    port = free_port()
    program = Path(sys.executable).with_name("dask")
    address = f"tcp://127.0.0.1:{port}"
    commands = {
        "scheduler": ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        "worker": [address, "--nthreads", "1", "--no-dashboard", "--no-nanny"],
    }
    running = {
        name: subprocess.Popen([program, name, *words], stderr=subprocess.DEVNULL, cwd=tmp_path)
        for name, words in commands.items()
    }
    try:
        wait_for(lambda: answers(port))
        yield address, running
    finally:
        for process in reversed(running.values()):
            process.kill()
            process.wait()


def test_a_scheduler_that_is_killed_loses_nothing(
    root: RootSpec, tmp_path: Path, team: tuple[str, dict[str, subprocess.Popen[bytes]]]
) -> None:
    """The catalog equals that of one process, though nobody knows the other pieces any more."""
    alone = scanned(load(None, Path(root.path), tmp_path / "one"), serial)
    address, running = team
    with dask_cluster.dask(address) as engine:
        shared = scanned(
            load(None, Path(root.path), tmp_path / "two"),
            killing(engine, lambda: running["scheduler"].pid),
        )
    assert shared == alone


@pytest.mark.parametrize(
    ("victim", "number"),
    [
        ("scheduler", signal.SIGTERM),
        ("scheduler", signal.SIGKILL),
        ("worker", signal.SIGKILL),
    ],
)
def test_a_loss_is_reported_in_sentences(
    tmp_path: Path,
    skill: SkillWriter,
    team: tuple[str, dict[str, subprocess.Popen[bytes]]],
    victim: str,
    number: signal.Signals,
) -> None:
    """Standard error has no log line and no traceback of Dask."""
    for name in range(520):
        skill(tmp_path / f"root/s{name}")
    address, running = team
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(1)
        running["worker"].send_signal(signal.SIGSTOP)  # no piece is finished before the loss
        scan = subprocess.Popen(
            [
                Path(sys.executable).with_name("skilldrop"),
                *("--watched", tmp_path / "root", "--data", tmp_path / "data"),
                *("scan", "--scheduler", address),
            ],
            # Without it, too few of the new folders have settled for the scan to need the cluster.
            env=os.environ | {"SKILLDROP_SETTLE_QUIET": "0", "SKILLDROP_PUBLISH": "in-place"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: any(client.processing().values()))
    running[victim].send_signal(number)
    _, printed = scan.communicate(timeout=PATIENCE)
    lines = printed.splitlines()
    assert lines[-1] == "The Dask cluster is gone; this process scans the rest alone."
    assert {line.partition(" ")[0] for line in lines} == {"The"}, printed
    assert scan.returncode == 0


def test_a_frozen_worker_does_not_stop_a_scan(
    root: RootSpec,
    team: tuple[str, dict[str, subprocess.Popen[bytes]]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After some silence, this process scans its folders."""
    monkeypatch.setattr(dask_cluster, "SILENT_FOR", 0.5)
    address, running = team
    with dask_cluster.dask(address) as engine:
        running["worker"].send_signal(signal.SIGSTOP)
        seen = [one for one in engine(ScanScope(root, ("",), {}), HOW) if one]
    assert len(seen) == 63
    assert caplog.messages == [
        "The Dask cluster has not answered for 0.5 s; this process scans the rest alone."
    ]


def test_no_more_pieces_are_sent_than_the_cluster_has_room_for(workers: Any) -> None:
    """Otherwise, results would pile up in the workers while this process stores others."""
    with distributed.Client(workers.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(2)
        assert dask_cluster._room(client, 0.0) == engines.PIECES_AHEAD + 2


def test_a_piece_that_the_scheduler_loses_is_scanned_here(
    root: RootSpec, workers: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A scheduler that ends cancels all its tasks."""

    def cancelled(*given: Any, **options: Any) -> Any:
        future = submit(*given, **options)
        future.cancel()
        return future

    submit = distributed.Client.submit
    monkeypatch.setattr(distributed.Client, "submit", cancelled)
    with dask_cluster.dask(workers.scheduler_address) as engine:
        seen = [one for one in engine(ScanScope(root, ("",), {}), HOW) if one]
    assert len(seen) == 63
    assert {message.partition("(")[0] for message in caplog.messages} == {
        "The Dask cluster lost a piece "
    }


def test_a_worker_with_another_directory_is_refused(
    root: RootSpec, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a share that is not mounted there would empty the catalog."""
    monkeypatch.setattr(dask_cluster, "_inode", lambda _: 1)
    with (
        dask_cluster.dask(workers.scheduler_address) as engine,
        pytest.raises(ClusterUnusable, match="has another directory"),
    ):
        list(engine(ScanScope(root, ("",), {}), HOW))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:9", "nonsense", "tcp://:x"])
def test_a_scheduler_that_does_not_answer_is_named(address: str) -> None:
    """The error also explains how to start one."""
    with (
        pytest.raises(ClusterUnusable, match="Start one with `dask scheduler`"),
        dask_cluster.dask(address),
    ):
        pass


def test_a_cluster_without_workers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait for workers is limited."""
    monkeypatch.setattr(dask_cluster, "CONNECT_WITHIN", 0.3)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as empty,
        pytest.raises(ClusterUnusable, match="has no worker"),
        dask_cluster.dask(empty.scheduler_address),
    ):
        pass


def test_a_scan_imports_nothing_from_the_working_directory(
    tmp_path: Path, skill: SkillWriter, workers: Any
) -> None:
    """Not even if the directory is a skill's folder."""
    modules = ("dask", "distributed", "tornado", "yaml")
    here = skill(
        tmp_path / "root/hostile",
        files={f"{module}.py": "open('imported', 'a').write(__name__)\n" for module in modules},
    )
    done = subprocess.run(
        [
            Path(sys.executable).with_name("skilldrop"),
            *("--watched", tmp_path / "root", "--data", tmp_path / "data"),
            *("scan", "--scheduler", workers.scheduler_address),
        ],
        cwd=here,
        env=os.environ | {"SKILLDROP_SETTLE_QUIET": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (here / "imported").exists()
