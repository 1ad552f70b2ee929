"""Virtual environment with Datasette and sqlite-utils, and without skilldrop."""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.paths import REPOSITORY

REQUIREMENTS = ("datasette>=0.65.5,<1.0a0", "sqlite-utils")
FOLDER = REPOSITORY / ".cache" / "bare"


def interpreter() -> Path:
    """Return its Python; make the environment if it is missing or has other requirements.

    Other test processes wait for the one that makes it. Raises AssertionError with the output of
    the installer if that fails.
    """
    stamp, wanted = FOLDER / "made-with", "\n".join([sys.version, *REQUIREMENTS])
    FOLDER.parent.mkdir(exist_ok=True)
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text("utf-8") != wanted:
            _make()
            stamp.write_text(wanted, "utf-8")  # last, so that half an environment is made again
    return FOLDER / "bin" / "python"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run its Python, which ignores PYTHONPATH and the working directory, to its end."""
    return subprocess.run(
        [interpreter(), "-I", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def _make() -> None:
    """Install the requirements, with uv where there is one."""
    python = str(FOLDER / "bin" / "python")
    if uv := shutil.which("uv"):
        _install(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(FOLDER))
        _install(uv, "pip", "install", "--quiet", "--python", python, *REQUIREMENTS)
    else:
        _install(sys.executable, "-m", "venv", "--clear", str(FOLDER))
        pip = (python, "-I", "-m", "pip", "--quiet", "--disable-pip-version-check")
        _install(*pip, "install", *REQUIREMENTS)


def _install(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
