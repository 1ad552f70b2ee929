"""Fixtures of every test: a world without defaults, real skill folders and the corpus."""

import faulthandler
import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.support import new_catalogs
from tests.support.paths import CORPUS, REPOSITORY
from tests.support.skills import SkillWriter, write_skill
from tests.support.waiting import PATIENCE

pytest_plugins = [
    "tests.support.sites",
    "tests.support.browsers",
    "tests.support.requirements",
]  # the site in this process, a browser before it, and tests that must not be skipped


def pytest_xdist_auto_num_workers() -> int:
    """Return one more worker than cores: many tests wait for a program that they started."""
    return (os.cpu_count() or 1) + 1


SLOWEST = (
    "test_browser.py",
    "test_fuzz.py",
    "test_dask_cluster.py",
    "test_end_to_end.py",
    "test_plain_catalog.py",
    "test_tasks.py",
    "test_process.py",
    "test_other_users.py",
    "test_trouble.py",
    "test_pull.py",
    "test_damaged_catalog.py",
    "test_nginx.py",
    "test_server.py",
    "test_reader.py",
    "test_skills_folder.py",
    "test_published.py",
    "test_promise.py",
    "test_crash.py",
    "test_loop.py",
    "test_reconcile.py",
    "test_rules.py",
    "test_crawl.py",
    "test_pages.py",
    "test_bounds.py",
    "test_ownership.py",
    "test_query_plans.py",
    "test_program.py",
    "test_skill_files.py",
    "test_other_systems.py",
    "test_reader_tokens.py",
    "test_guard.py",
    "test_lists.py",
    "test_packager.py",
    "test_processes.py",
    "test_help_examples.py",
    "test_builder.py",
    "test_reports.py",
    "test_query.py",
    "test_usage.py",
    "test_adoption.py",
    "test_stat_cache.py",
    "test_published_skills.py",
    "test_mirror.py",
    "test_open_pages.py",
    "test_release.py",
    "test_in_ci.py",
)
"""Files that take the longest, the slowest first."""


MEMORY = Path("/dev/shm")
ENOUGH = 8 << 30
"""Bytes: more than the folders of two runs."""


_ERRORS = pytest.StashKey[int]()
"""Standard error of the run, which no test captures."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep the order of `pytest_collection_modifyitems`, and give examples no time limit.

    pytest-xdist would end with the files of the fewest tests, which take the longest.
    """
    config.option.loadscopereorder = False
    config.stash[_ERRORS] = os.dup(2)
    _let_byte_code_be_cached()
    _hear_signals()
    _work_in_memory()
    gc.disable()  # until all tests are collected
    hypothesis.settings.register_profile("untimed", deadline=None, max_examples=30)
    hypothesis.settings.load_profile("untimed")


def _let_byte_code_be_cached() -> None:
    """Let this process, the other test processes and the program that they start cache byte code.

    Containers often set PYTHONDONTWRITEBYTECODE. Each process would then compile every module
    again, which takes a third of the time of a command.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _hear_signals() -> None:
    """Let the program that tests start hear signals that `nohup` and `&` let it ignore."""
    for number in (signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _work_in_memory() -> None:
    """Let temporary folders lie in memory where there is enough, unless TMPDIR says otherwise.

    Published packages and catalogs are flushed to the disk, for which tests would wait.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    memory = os.statvfs(MEMORY)
    if memory.f_bavail * memory.f_frsize > ENOUGH and not memory.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # it may have been looked up already


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slowest files, so that no process works alone on one at the end."""
    ranks = {name: rank for rank, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: ranks.get(item.path.name, len(ranks)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Limit the time of the end of a test too; pytest stops its watch when a test fails."""
    seconds = float(item.config.getini("faulthandler_timeout"))
    faulthandler.dump_traceback_later(seconds, exit=True, file=item.config.stash[_ERRORS])
    yield


def pytest_collection_finish() -> None:
    """Let the garbage collector skip the modules and thousands of tests that stay to the end."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def new_catalogs_are_copies() -> Iterator[None]:
    """Run the migrations of new catalogs once."""
    with new_catalogs.copied():
        yield


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide `watched/`, `var/`, skilldrop.toml and the home folder of this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in [name for name in os.environ if name.upper().startswith("SKILLDROP_")]:
        monkeypatch.delenv(variable)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Remove the log handlers that a command has added for the whole process."""
    log = logging.getLogger()
    level = log.level
    yield
    log.setLevel(level)
    for handler in [each for each in log.handlers if type(each) is logging.StreamHandler]:
        log.removeHandler(handler)


@pytest.fixture
def skill() -> SkillWriter:
    """Return the function that writes a real skill folder; without arguments it is a valid one."""
    return write_skill


@pytest.fixture(scope="module")  # what it calls may leave threads
def elsewhere() -> Iterator[Callable[..., Any]]:
    """Return a function that calls another in a separate process without other threads."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        number = process.submit(os.getpid).result(timeout=PATIENCE)
        yield lambda work, *given: process.submit(work, *given).result(timeout=PATIENCE)
        os.kill(number, signal.SIGKILL)  # it may still be at work if a test waited in vain


@pytest.fixture
def deep_tree(tmp_path: Path) -> Iterator[Path]:
    """Return a directory with 1,100 nested directories; they are removed after the test."""
    deep = tmp_path / "deep"
    deep.mkdir()
    bottom = os.open(deep, os.O_RDONLY)
    for _ in range(1_100):
        os.mkdir("d", dir_fd=bottom)
        below = os.open("d", os.O_RDONLY, dir_fd=bottom)
        os.close(bottom)
        bottom = below
    os.close(bottom)
    yield deep
    subprocess.run(["rm", "-rf", tmp_path], check=True)  # deeper than Python itself can go


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """Return a root with the skills that ship in watched/, and no others."""
    root = tmp_path / "examples"
    for name in ("csv-profile", "release-checklist", "skill-authoring", "会议纪要"):
        shutil.copytree(REPOSITORY / "watched" / name, root / name)
    return root


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of real skills (manifest.json and packages/); skip where it is absent."""
    if not (CORPUS / "manifest.json").is_file():
        pytest.skip(f"no corpus of real skills at {CORPUS}; name one with SKILLDROP_CORPUS")
    return CORPUS
