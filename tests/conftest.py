"""What every test needs: a world without defaults, real skill folders and the corpus."""

import logging
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import pytest

pytest_plugins = ["sites", "browsers"]  # the site in this process, and a browser before it

REPOSITORY = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("SKILLDROP_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
DESCRIPTION = "Takes a text file and gives its word count. Use when asked how long a text is."


class SkillWriter(Protocol):
    """The type of the `skill` fixture."""

    def __call__(
        self,
        folder: Path,
        *,
        name: str | None = None,
        description: str = DESCRIPTION,
        more: str = "",
        body: str = "# A skill\n",
        files: Mapping[str, str | bytes] | None = None,
    ) -> Path:
        """Write a skill and return its folder."""
        ...


PATIENCE = 60.0
"""Seconds that a loaded machine may take for what takes well under a second on an idle one."""

LONGEST = ("test_promise.py", "test_browser.py", "test_trouble.py", "test_reconcile.py")
"""Files that take long, in which little can be done by others meanwhile."""


def pytest_configure(config: pytest.Config) -> None:
    """Leave the files in the order of `pytest_collection_modifyitems`.

    pytest-xdist would end with those of the fewest tests, which take the longest.
    """
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that no process is left alone with one at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


def wait_for(what: Callable[[], object]) -> None:
    """Wait until something is true."""
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def free_port() -> int:
    """Return a port on which nothing listens.

    The system gives none of these to whoever connects to something, so it is free a second later.
    """
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = secrets.choice(range(first_given // 2, first_given))
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def overflow(watched: Path) -> None:
    """Change two files of a watched directory by turns, so often that no queue holds the events.

    Twice the same event in a row would be one; and watchdog pairs renames at a price that grows
    with the square of how many wait.
    """
    files = [watched / "one", watched / "two"]
    for file in files:
        file.touch()
    for _ in range(int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())):
        for file in files:
            file.chmod(0o644)


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep `watched/`, `var/`, skilldrop.toml and the home folder of this machine out of reach."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in [name for name in os.environ if name.upper().startswith("SKILLDROP_")]:
        monkeypatch.delenv(variable)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Take away the log that a command has set up for the whole process."""
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


def write_skill(
    folder: Path,
    *,
    name: str | None = None,
    description: str = DESCRIPTION,
    more: str = "",
    body: str = "# A skill\n",
    files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a skill and return its folder.

    name defaults to the folder's; `more` holds further lines of frontmatter. All are written as
    they are, so YAML that needs quotes needs them here. `files` are paths and contents beside
    SKILL.md; one named SKILL.md takes the place of the generated one.
    """
    frontmatter = [f"name: {name or folder.name}", f"description: {description}"]
    frontmatter += more.splitlines()
    skill_md = "\n".join(["---", *frontmatter, "---", "", body])
    for path, content in {"SKILL.md": skill_md, **(files or {})}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Callable[..., Any]]:
    """Return the function that calls another in a process of its own, with no other threads."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        yield lambda work, *given: process.submit(work, *given).result(timeout=PATIENCE)


@pytest.fixture
def deep_tree(tmp_path: Path) -> Iterator[Path]:
    """Return a directory with 1,100 more inside one another; they are cleared away in the end."""
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
    """Return a root with the skills that ship in watched/, whatever else was dropped there."""
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
