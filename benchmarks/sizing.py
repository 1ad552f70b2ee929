"""Disk, files, watches, processor time and copying time of a catalog of generated skills.

With --sparse each skill is one small file and nothing is copied, so that a million fit on a disk.
With --real each skill has the size of real ones: 35 KB in six files.
"""

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

from made_skills import make_skills, make_sparse_skills
from real_sized_skills import make_real_sized_skills

BIN = Path(sys.executable).parent
PULL = Path(__file__).parents[1] / "deploy/skilldrop-pull"


def main() -> None:
    """Generate skills, scan them, copy the catalog, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=2_000)
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    skills = options.skills
    measured = _sparse if options.sparse else _measured
    if options.real:
        measured = _real_sized
    with tempfile.TemporaryDirectory(prefix="skilldrop-sizing-") as name:
        files = "five files"
        if options.sparse or options.real:
            files = "one small file" if options.sparse else "six files, 35 KB in all"
        print(f"| for {skills:,} skills of {files} | in all | for each |\n|---|---|---|")
        for label, amount, unit in measured(Path(name), skills):
            share = (
                f"{amount / skills:.3g} {unit}"
                if unit != "s"
                else f"{1000 * amount / skills:.2g} ms"
            )
            print(f"| {label} | {amount:,.1f} {unit} | {share} |", flush=True)
        for folder, _, _ in os.walk(name):
            os.chmod(folder, 0o700)  # packages are read-only


def _measured(top: Path, skills: int) -> Iterator[tuple[str, float, str]]:
    root, data, copy = top / "watched", top / "data", top / "copy"
    make_skills(root, skills)
    yield "the folder itself", _kilobytes(root), "kB"
    yield "directories, with one watch each", _directories(root), ""
    scan = [BIN / "skilldrop", "--watched", root, "--data", data, "scan"]
    yield from _scanned("first scan", scan)
    yield "peak memory of its largest process", _most_kilobytes(), "kB"
    yield "catalog.db", _kilobytes(data / "catalog.db"), "kB"
    yield "packages", _kilobytes(data / "packages"), "kB"
    yield "packages, inodes", _inodes(data / "packages"), ""
    yield "skills", _kilobytes(data / "skills"), "kB"
    yield "skills, inodes", _inodes(data / "skills"), ""
    yield "index", _kilobytes(data / "index"), "kB"
    litestream = [BIN / "litestream"]
    url = f"file://{top}/replica"
    yield (
        "first replication, to a disk",
        _seconds([*litestream, "replicate", "-once", data / "catalog.db", url]),
        "s",
    )
    yield "replica, compressed", _kilobytes(top / "replica"), "kB"
    yield (
        "restoring the replica",
        _seconds([*litestream, "restore", "-o", copy / "catalog.db", url]),
        "s",
    )
    if shutil.which("rsync"):
        yield "first round of skilldrop-pull", _seconds([PULL, data, copy]), "s"
        yield "a round without changes", _seconds([PULL, data, copy]), "s"


def _real_sized(top: Path, skills: int) -> Iterator[tuple[str, float, str]]:
    root, catalog = top / "watched", top / "data/catalog.db"
    make_real_sized_skills(root, skills)
    written = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    yield "bytes of all files", written / 1000, "kB"
    program = [BIN / "skilldrop", "--watched", root, "--data", top / "data"]
    yield from _scanned("first scan, with packages", [*program, "scan"])
    yield "catalog.db", catalog.stat().st_size / 1000, "kB"
    yield "catalog.db, as a multiple of the files", catalog.stat().st_size / written, "×"
    copying = ["cp", "-r", root, top / "copy"]
    yield "cp -r, beside", _seconds(copying), "s"


def _sparse(top: Path, skills: int) -> Iterator[tuple[str, float, str]]:
    root, data = top / "watched", top / "data"
    make_sparse_skills(root, skills)
    program = [BIN / "skilldrop", "--watched", root, "--data", data]
    os.environ["SKILLDROP_PUBLISH"] = "in-place"
    yield from _scanned("first scan", [*program, "scan"])
    yield "peak memory of its largest process", _most_kilobytes(), "kB"
    yield "catalog.db", _kilobytes(data / "catalog.db"), "kB"
    yield "catalog.db-wal, afterwards", _kilobytes(data / "catalog.db-wal"), "kB"
    yield from _scanned("unchanged re-scan", [*program, "scan"])
    yield "largest process of both", _most_kilobytes(), "kB"
    for command in (["search", "deploy", "cache"], ["status"], ["index"]):
        yield f"skilldrop {' '.join(command)}", _seconds([*program, *command]), "s"


def _scanned(name: str, command: Sequence[str | Path]) -> Iterator[tuple[str, float, str]]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield name, _seconds(command), "s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield f"{name}, processor time of all processes", seconds, "s"


def _seconds(command: Sequence[str | Path]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {done.stderr[-2000:]}")
    return time.perf_counter() - began


def _most_kilobytes() -> float:
    return float(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _kilobytes(path: Path) -> float:
    """Return the disk usage of a file or tree, as counted by du."""
    return sum(entry.lstat().st_blocks for entry in (path, *path.rglob("*"))) / 2


def _directories(path: Path) -> int:
    return 1 + sum(entry.is_dir() for entry in path.rglob("*"))


def _inodes(path: Path) -> int:
    return 1 + sum(1 for _ in path.rglob("*"))


if __name__ == "__main__":
    main()
