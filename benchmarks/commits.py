"""Files of another commit, and runs of programs that must not fail."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def write_files(commit: str, folder: Path, command: str) -> None:
    """Write the files of a commit into a new folder.

    Raises SystemExit, which tells how the command names a commit.
    """
    archive = folder.with_suffix(".tar")
    git = ["git", "-C", REPOSITORY, "archive", "--output", archive, commit]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"Git finds no commit {commit!r} here; write {command} BASE=<commit>.")
    shutil.unpack_archive(archive, folder)


def run(what: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
    """Run a program in a folder. Raises SystemExit with this name of it if it fails."""
    done = subprocess.run(
        command,
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if reason := failure(done.returncode, done.stderr):
        raise SystemExit(f"{what} failed: {reason}")


def failure(code: int, stderr: str) -> str:
    """Return why a program failed, or "".

    1 is the exit code of findings, and also of Python after an error that nothing has caught; only
    then is there something on stderr.
    """
    said = stderr.strip()
    if code == 0 or (code == 1 and not said):
        return ""
    return said.split("\n")[-1] or f"exit code {code}"
