"""Measures how long a change takes from its last write to the new index file.

    python benchmarks/latency.py --skills 10000 --changes 100

Each change writes one skill of a large catalog and waits until the file of an index that names it
is replaced, which is the second of two; the first one ranks all skills. The floor, measured in
the same run, is the same with an empty catalog. What is above `settle_quiet` is our own.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from made_skills import make_skills

PATIENCE = 120.0


def main() -> None:
    """Print percentiles for an empty and for a full catalog."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--quiet", type=float, default=1.0, help="settle_quiet, in seconds")
    given = parser.parse_args()
    print(f"{'skills':>8} {'p50 ms':>8} {'p90 ms':>8} {'p99 ms':>8} {'worst':>8}   above quiet")
    for skills in (0, given.skills):
        with tempfile.TemporaryDirectory(prefix="latency-") as folder:
            found = measure(Path(folder), skills, given.changes, given.quiet)
        above = sorted(1000 * (seconds - given.quiet) for seconds in found)
        cuts = statistics.quantiles(above, n=100, method="inclusive")
        print(f"{skills:>8} {cuts[49]:>8.0f} {cuts[89]:>8.0f} {cuts[98]:>8.0f} {above[-1]:>8.0f}")


def measure(folder: Path, skills: int, changes: int, quiet: float) -> list[float]:
    """Return the seconds from the last write to the new index file, of each change."""
    root, data = folder / "root", folder / "data"
    root.mkdir()
    if skills:
        make_skills(root, skills)
    env = os.environ | {"SKILLDROP_SETTLE_QUIET": str(quiet), "SKILLDROP_RESCAN_EVERY": "3600"}
    config = folder / "skilldrop.toml"
    config.write_text(f'watched = "{root}"\ndata = "{data}"\n'
                      '[[indexes]]\nname = "default"\n'
                      '[[indexes]]\nname = "one"\nnames = ["0-latency"]\n')
    command = [Path(sys.executable).with_name("skilldrop"), "--config", config]
    subprocess.run([*command, "scan"], env=env, check=True, stdout=subprocess.DEVNULL)
    up = subprocess.Popen([*command, "up", "--no-site"], env=env, stderr=subprocess.PIPE, text=True)
    try:
        assert up.stderr
        while "Stop with" not in up.stderr.readline():
            assert up.poll() is None
        time.sleep(3 + skills / 5000)  # the start-up scan
        return [change(root, data / "index/one.xml", number) for number in range(changes)]
    finally:
        up.terminate()
        up.wait()


def change(root: Path, index: Path, number: int) -> float:
    """Write a skill that enters the index, and return how long that took."""
    before = inode(index)
    folder = root / "0-latency"
    folder.mkdir(exist_ok=True)
    (folder / "notes.md").write_text(f"Note {number}.\n")
    (folder / "SKILL.md").write_text(
        f"---\nname: 0-latency\ndescription: Counts to {number}.\n---\n# Count\n")
    began = time.monotonic()
    while inode(index) == before:
        assert time.monotonic() - began < PATIENCE, "the index never changed"
        time.sleep(0.001)
    return time.monotonic() - began


def inode(path: Path) -> tuple[int, int]:
    """Return what changes when a file is replaced."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_ino, found.st_mtime_ns)


if __name__ == "__main__":
    main()
