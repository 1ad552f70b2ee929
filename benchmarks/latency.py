"""Time from the last write of a change to the new index file.

    python benchmarks/latency.py --skills 10000 --changes 200

The changes alternately add a skill to a large catalog and edit it. Each measurement waits until the
file of an index with this skill is replaced, and checks that its package is published. The index is
the second of two; the first one ranks all skills. The floor, measured in the same run, is an empty
catalog. The figures are milliseconds above `settle_quiet`. The target is 150 ms at p99 on an idle
machine, so the table has the load, too.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from made_skills import make_skills
from running_programs import is_quiet, wait_for

PATIENCE = 120.0


def main() -> None:
    """Print percentiles for an empty and a full catalog."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--quiet", type=float, default=1.0, help="settle_quiet, in seconds")
    arguments = parser.parse_args()
    print(
        f"{'skills':>8} {'change':>8} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'worst':>8}"
        f"   above quiet; {os.cpu_count()} cores, load before"
    )
    for skills in (0, arguments.skills):
        load = os.getloadavg()[0]
        with tempfile.TemporaryDirectory(prefix="latency-") as folder:
            times = measure(Path(folder), skills, arguments.changes, arguments.quiet)
        for kind, part in (("add", times[::2]), ("edit", times[1::2]), ("all", times)):
            above = sorted(1000 * (seconds - arguments.quiet) for seconds in part)
            cuts = statistics.quantiles(above, n=100, method="inclusive")
            print(
                f"{skills:>8} {kind:>8} {cuts[49]:>8.0f} {cuts[94]:>8.0f} {cuts[98]:>8.0f}"
                f" {above[-1]:>8.0f}   {load:.1f}",
                flush=True,
            )


def measure(
    folder: Path,
    skills: int,
    changes: int,
    quiet: float,
    make: Callable[[Path, int], None] = make_skills,
) -> list[float]:
    """Return for each change the seconds from its last write to the new index file."""
    root, data = folder / "root", folder / "data"
    root.mkdir()
    if skills:
        make(root, skills)
    env = os.environ | {"SKILLDROP_SETTLE_QUIET": str(quiet), "SKILLDROP_RESCAN_EVERY": "3600"}
    config = folder / "skilldrop.toml"
    config.write_text(
        f'watched = "{root}"\ndata = "{data}"\n'
        '[[indexes]]\nname = "default"\n'
        '[[indexes]]\nname = "one"\nformat = "xml"\nbudget_chars = 1000000\n'
        f"names = {[name(number) for number in range(changes)]}\n"
    )
    command = [Path(sys.executable).with_name("skilldrop"), "--config", config]
    subprocess.run([*command, "scan"], env=env, check=True, stdout=subprocess.DEVNULL)
    up = subprocess.Popen([*command, "up", "--no-site"], env=env, stderr=subprocess.PIPE, text=True)
    try:
        assert up.stderr
        while "Stop with" not in up.stderr.readline():
            assert up.poll() is None
        wait_for(lambda: is_quiet(data / "catalog.db"), PATIENCE)  # after the scan at the start
        return [change(root, data, number) for number in range(changes)]
    finally:
        up.terminate()
        up.wait()


def name(number: int) -> str:
    """Return the name of the skill that a change adds; an edit has the name of the add before."""
    return f"0-latency-{number - number % 2}"


def change(root: Path, data: Path, number: int) -> float:
    """Write a skill, and return the seconds until the index contains it."""
    index = data / "index/one.xml"
    before = inode(index)
    folder = root / name(number)
    folder.mkdir(exist_ok=True)
    (folder / "notes.md").write_text(f"Note {number}.\n")
    written = f"---\nname: {folder.name}\ndescription: Counts to {number}.\n---\n# Count\n"
    (folder / "SKILL.md").write_text(written)
    began = time.monotonic()
    while inode(index) == before:
        assert time.monotonic() - began < PATIENCE, "the index never changed"
        time.sleep(0.001)
    took = time.monotonic() - began
    assert (data / "packages" / folder.name / "current/SKILL.md").read_text() == written
    return took


def inode(path: Path) -> tuple[int, int]:
    """Return numbers that change when a file is replaced."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_ino, status.st_mtime_ns)


if __name__ == "__main__":
    main()
