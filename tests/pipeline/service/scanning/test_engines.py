"""All engines return the same results."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from catalog.model.change import Judged
from catalog.model.skill import RootSpec
from pipeline.processes import process_pool
from pipeline.roots.local.folder import Limits
from pipeline.service.scanning import engines as engines_processes
from pipeline.service.scanning.engines import Piece, Results
from pipeline.service.scanning.scanner import ScanOptions, ScanResult, ScanScope, Unchanged, scan
from tests.support.made_archives import make_tar, make_zip
from tests.support.skills import SkillWriter
from tests.support.waiting import PATIENCE, wait_for


def _unchanged(results: Iterable[object]) -> list[str]:
    """Return the sorted paths of unchanged folders."""
    return sorted(path for one in results if isinstance(one, Unchanged) for path in one.paths)


@pytest.fixture
def root(tmp_path: Path, skill: SkillWriter) -> RootSpec:
    """Return a root with skills at several depths, one of them broken, and a loose finding."""
    for number in range(6):
        skill(tmp_path / "root" / f"group-{number % 2}" / f"skill-{number}")
    skill(tmp_path / "root/group-0/skill-0/nested")
    skill(tmp_path / "root/flat")
    skill(tmp_path / "root/broken", files={"SKILL.md": "nothing\n"})
    for place in ("group-0/x.zip", "y.tgz"):
        make = make_zip if place.endswith("zip") else make_tar
        make(tmp_path / "root" / place, {f"{n}/SKILL.md": "nothing\n" for n in range(3)})
    (tmp_path / "root/SKILL.md").write_text("stray")
    (tmp_path / "root/group-1/dangling").symlink_to("nowhere")
    return RootSpec(str(tmp_path / "root"))


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even a few folders use two processes."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(engines_processes, "WORTH_IT", 5)
    monkeypatch.setattr(engines_processes, "FOLDERS_IN_A_PIECE", 2)


def verdicts(seen: Sequence[object]) -> list[str]:
    """Return the results without times, sorted."""
    return sorted(repr(one.verdict if isinstance(one, Judged) else one) for one in seen if one)


def test_no_folder_waits_for_imports(root: RootSpec) -> None:
    """The service imports all rules at its start, and a scan before it forks its workers.

    The search for their words is compiled then, too.
    """
    program = (
        "import sys; from catalog.model.skill import RootSpec\n"
        "from pipeline.roots import words\n"
        "from pipeline.roots.local.folder import Limits\n"
        "from pipeline.service.scanning.scanner import *\n"
        "import_rules(); before = set(sys.modules); compiled = words._search.cache_info().misses\n"
        "found = list(scan(ScanScope(RootSpec(sys.argv[1]), ('flat',), {}), "
        "ScanOptions(Limits(), 0.0)))\n"
        "print(len(found), sorted(set(sys.modules) - before),"
        " words._search.cache_info().misses - compiled)\n"
    )
    command = [sys.executable, "-c", program, root.path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1 [] 0\n"


@pytest.mark.usefixtures("in_processes")
@pytest.mark.parametrize("paths", [("",), ("group-0", "group-1"), ("flat",), ("nowhere",)])
def test_processes_see_what_one_process_sees(root: RootSpec, paths: tuple[str, ...]) -> None:
    """Every verdict and finding, once, also behind a link and below ignore files."""
    place = Path(root.path)
    (place / "alias").symlink_to("flat")
    (place / "group-1/.skillignore").write_text("skill-1/\n*.txt\n")
    (place / "group-1/skill-3/ignored.txt").write_text("Wool.\n")
    scope, options = ScanScope(root, paths, {}), ScanOptions(Limits(), quiet=0.0)
    alone = list(engines_processes.serial(scope, options))
    assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(alone)


def shared_out(root: RootSpec, beside: bool) -> tuple[list[str], list[str], set[str], int]:
    """Scan with processes and alone; return both results, process classes and leftover count."""
    may_end = threading.Event()
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
        patch.setattr(engines_processes, "WORTH_IT", 5)
        patch.setattr(engines_processes, "FOLDERS_IN_A_PIECE", 2)
        other = threading.Thread(target=may_end.wait)
        if beside:
            other.start()
        try:
            looking = engines_processes.processes(scope, options)
            begun = []
            for one in looking:
                begun.append(one)
                if isinstance(one, Judged):
                    break
            kinds = {type(child).__name__ for child in multiprocessing.active_children()}
            seen = [*begun, *looking]
        finally:
            may_end.set()
            if beside:
                other.join()
    return (
        verdicts(seen),
        verdicts(list(engines_processes.serial(scope, options))),
        kinds,
        len(multiprocessing.active_children()),
    )


@pytest.mark.parametrize("beside", [False, True], ids=["forked", "beside another thread"])
def test_processes_start_and_end_with_and_without_forks(
    root: RootSpec, elsewhere: Callable[..., Any], beside: bool
) -> None:
    """Beside other threads nothing is forked, and the results are the same."""
    shared, alone, kinds, remaining = elsewhere(shared_out, root, beside)
    assert shared == alone
    assert kinds == {"ForkServerProcess" if beside else "ForkProcess"}
    assert remaining == 0


@pytest.mark.usefixtures("in_processes")
def test_every_process_has_the_known_fingerprints(root: RootSpec) -> None:
    """Each piece contains the fingerprints of its paths."""
    options = ScanOptions(Limits(), quiet=0.0)
    known = {
        one.verdict.place.path: one.verdict.fingerprint
        for one in engines_processes.serial(ScanScope(root, ("",), {}), options)
        if isinstance(one, Judged)
    }
    seen = list(engines_processes.processes(ScanScope(root, ("",), known), options))
    assert sorted(
        path for one in seen if isinstance(one, Unchanged) for path in one.paths
    ) == sorted(known)
    assert not [one for one in seen if isinstance(one, Judged)]


def test_an_unchanged_rescan_opens_no_file(root: RootSpec, elsewhere: Callable[..., Any]) -> None:
    """Directories are listed; nothing else is read."""
    known, unchanged, events = elsewhere(rescanned, root)
    assert unchanged == known
    assert events == {"os.scandir"}


def rescanned(root: RootSpec) -> tuple[list[str], list[str], set[str]]:
    """Scan known folders again; return the known and the unchanged paths, and what was opened.

    A file opened below a root has a name without its directory.
    """
    options = ScanOptions(Limits(), quiet=0.0)
    known = {
        one.verdict.place.path: one.verdict.fingerprint
        for one in engines_processes.serial(ScanScope(root, ("",), {}), options)
        if isinstance(one, Judged)
    }
    events: set[str] = set()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in ("open", "os.scandir"):
            return
        where, _, flags = (*arguments, 0, 0)[:3]
        is_listing = event == "os.scandir" and isinstance(where, int)
        is_file = (
            isinstance(where, str)
            and "/" not in where
            and isinstance(flags, int)
            and (not flags & os.O_DIRECTORY)
        )
        if is_listing or is_file:
            events.add(event)

    sys.addaudithook(hook)
    compared = replace(options, new_folders=False)
    seen = list(engines_processes.processes(ScanScope(root, ("",), known), compared))
    return sorted(known), _unchanged(seen), events


def die(asking: int, folder: Path, root: RootSpec, piece: Piece, options: ScanOptions) -> Results:
    """Stand in for work that the system kills because memory is short."""
    assert os.getpid() != asking
    with suppress(FileExistsError):
        (folder / "killed").touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    return engines_processes.judge_piece(root, piece, options)


def fail(asking: int, folder: Path, root: RootSpec, piece: Piece, options: ScanOptions) -> Results:
    """Stand in for work that raises an exception."""
    raise LookupError


@pytest.mark.usefixtures("in_processes")
@pytest.mark.parametrize("ahead", [1, 64])
@pytest.mark.parametrize("dies", [die, fail])
def test_a_process_that_dies_loses_nothing(
    root: RootSpec,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    ahead: int,
    dies: Callable[..., Results],
) -> None:
    """The caller scans the rest once, however many pieces the dead one had."""
    monkeypatch.setattr(engines_processes, "PIECES_AHEAD", ahead)
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    alone = list(engines_processes.serial(scope, options))
    found = scan(scope, replace(options, judges=False))
    with process_pool(2) as pool:
        seen = engines_processes.share(
            pool,
            scope,
            found,
            options,
            room=lambda _: ahead,
            work=partial(dies, os.getpid(), tmp_path),
        )
        assert verdicts(list(seen)) == verdicts(alone)


@pytest.mark.usefixtures("in_processes")
def test_if_no_process_can_start_the_caller_scans_alone(
    root: RootSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, because the system allows no more processes."""

    def refused(*_: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refused)
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(
        list(engines_processes.serial(scope, options))
    )


def noted(folder: Path, root: RootSpec, piece: Piece, options: ScanOptions) -> Results:
    """Note each piece that is scanned."""
    (folder / piece[0].path.replace("/", ":")).touch()
    return engines_processes.judge_piece(root, piece, options)


@pytest.mark.usefixtures("in_processes")
def test_the_number_of_results_in_memory_is_limited(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes pause while the caller takes no results; in the end all arrive."""
    for number in range(40):
        skill(tmp_path / f"root/s{number:02}")
    (tmp_path / "noted").mkdir()
    scope = ScanScope(RootSpec(str(tmp_path / "root")), ("",), {})
    options = ScanOptions(Limits(), quiet=0.0)
    with process_pool(2) as pool:
        seen = engines_processes.share(
            pool,
            scope,
            scan(scope, replace(options, judges=False)),
            options,
            room=lambda _: 4,
            work=partial(noted, tmp_path / "noted"),
        )
        taken = [next(one for one in seen if one)]
        wait_for(lambda: len(list((tmp_path / "noted").iterdir())) > 4)  # those after its piece
        assert len(list((tmp_path / "noted").iterdir())) <= 8
        taken += (one for one in seen if one)
    assert len(taken) == 40


@pytest.mark.usefixtures("in_processes")
def test_long_requests_and_long_results_do_not_wait_for_each_other(
    root: RootSpec, skill: SkillWriter
) -> None:
    """Each is larger than the buffer of a pipe."""
    for number in range(12):
        skill(
            Path(root.path, f"long-{number:02}"),
            files={f"{name}.md": f"{name} {'words ' * 9_000}" for name in range(8)},
        )
    known = {f"long-{number:02}": "x" * 300_000 for number in range(12)}
    seen: list[ScanResult | None] = []
    looking = threading.Thread(
        daemon=True,
        target=lambda: seen.extend(
            engines_processes.processes(
                ScanScope(root, ("",), known), ScanOptions(Limits(), quiet=0.0, deep=True)
            )
        ),
    )
    looking.start()
    looking.join(timeout=PATIENCE)
    assert not looking.is_alive()
    assert (
        len([one for one in seen if isinstance(one, Judged) and one.verdict.place.path in known])
        == 12
    )
