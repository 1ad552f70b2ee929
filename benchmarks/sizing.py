"""Prints what a catalog of made skills takes: disk, files, watches, and time to copy it."""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from made_skills import make_skills

BIN = Path(sys.executable).parent
PULL = Path(__file__).parents[1] / "deploy/skilldrop-pull"


def main() -> None:
    """Make skills, take them in, copy them, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=2_000)
    skills = parser.parse_args().skills
    with tempfile.TemporaryDirectory(prefix="skilldrop-sizing-") as name:
        print(f"| of {skills:,} skills of five files | in all | for each |\n|---|---|---|")
        for what, amount, unit in _measured(Path(name), skills):
            each = f"{amount / skills:.3g} {unit}" if unit != "s" else f"{amount / skills:.2g} s"
            print(f"| {what} | {amount:,.1f} {unit} | {each} |", flush=True)
        for folder, _, _ in os.walk(name):
            os.chmod(folder, 0o700)  # packages are read-only


def _measured(top: Path, skills: int) -> Iterator[tuple[str, float, str]]:
    root, data, copy = top / "watched", top / "data", top / "copy"
    make_skills(root, skills)
    yield "the folder itself", _kilobytes(root), "kB"
    yield "directories, each of which takes a watch", _directories(root), ""
    scan = [BIN / "skilldrop", "--watched", root, "--data", data, "scan"]
    yield "first scan", _seconds(scan), "s"
    yield "most memory of a process in it", _most_kilobytes(), "kB"
    yield "catalog.db", _kilobytes(data / "catalog.db"), "kB"
    yield "packages", _kilobytes(data / "packages"), "kB"
    yield "packages, inodes", _inodes(data / "packages"), ""
    yield "index", _kilobytes(data / "index"), "kB"
    litestream = [BIN / "litestream"]
    url = f"file://{top}/replica"
    yield (
        "first replication, to a disk",
        _seconds([*litestream, "replicate", "-once", data / "catalog.db", url]),
        "s",
    )
    yield "replica, compressed", _kilobytes(top / "replica"), "kB"
    yield "restoring it", _seconds([*litestream, "restore", "-o", copy / "catalog.db", url]), "s"
    if shutil.which("rsync"):
        yield "first round of skilldrop-pull", _seconds([PULL, data, copy]), "s"
        yield "a round in which nothing changed", _seconds([PULL, data, copy]), "s"


def _seconds(words: Sequence[str | Path]) -> float:
    began = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return time.perf_counter() - began


def _most_kilobytes() -> float:
    return float(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _kilobytes(path: Path) -> float:
    """Return what a file or tree takes on the disk, as du counts it."""
    return sum(found.lstat().st_blocks for found in (path, *path.rglob("*"))) / 2


def _directories(path: Path) -> int:
    return 1 + sum(found.is_dir() for found in path.rglob("*"))


def _inodes(path: Path) -> int:
    return 1 + sum(1 for _ in path.rglob("*"))


if __name__ == "__main__":
    main()
