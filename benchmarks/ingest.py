"""Duration of a scan, compared with the cost of reading the disk: one table from one run.

A cold scan, an unchanged re-scan and one change are timed in this process, from opening the catalog
to the published index. Each floor is a plain command on the same tree, timed before and after; the
ratio is to its median.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from made_skills import make_skills
from timing import seconds_of

from pipeline.config import loader
from pipeline.config import settings as config_settings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once, unit_at
from pipeline.service.scanning.engines import Engine, processes, serial

HASH_ALL = "find {} -type f -print0 | xargs -0 sha256sum > /dev/null"
STAT_ALL = "find {} -type f -printf '%p %s %T@\\n' > /dev/null"


def main() -> None:
    """Generate the skills, measure everything, and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as folder:
        watched = Path(folder, "watched")
        print(f"Generating {arguments.skills:,} skills of 5 files …", flush=True)
        make_skills(watched, arguments.skills, arguments.seed)
        settings = loader.load(None, watched, Path(folder, "data"))
        time.sleep(settings.settle_quiet + 0.1)  # a scan waits for younger folders
        measured = _measure(settings, watched, arguments.repeat)
    print(
        f"\n{platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
        f"{arguments.skills:,} skills of 5 files, seed {arguments.seed}\n"
    )
    print("| work | seconds | skills/s | floor | floor seconds | ratio |")
    print("|---|---|---|---|---|---|")
    for name, seconds, skills, floor, floor_seconds in measured:
        print(
            f"| {name} | {seconds:.3f} | {skills / seconds:,.0f} | `{floor}` "
            f"| {floor_seconds:.3f} | {seconds / floor_seconds:.2f} |"
        )


def _measure(
    settings: config_settings.Settings, watched: Path, repeat: int
) -> list[tuple[str, float, int, str, float]]:
    changed = next(watched.rglob("SKILL.md"))
    hash_all, stat_all = HASH_ALL.format(watched), STAT_ALL.format(watched)
    hash_one = HASH_ALL.format(changed.parent)
    floors = {
        command: [seconds_of(_shell(command)) for _ in range(repeat)]
        for command in (hash_all, stat_all, hash_one)
    }

    def scan(engine: Engine = processes) -> None:
        store = open_store(settings)
        scan_once(settings, store, engine=engine)
        store.close()

    def cold_scan(engine: Engine) -> float:
        shutil.rmtree(settings.data, ignore_errors=True)
        os.sync()  # pending writes do not count for this scan
        return seconds_of(lambda: scan(engine))

    cold_serial = cold_scan(serial)
    cold = statistics.median(cold_scan(processes) for _ in range(repeat))
    again = statistics.median(seconds_of(scan) for _ in range(repeat))
    one = statistics.median(_one_change(settings, changed, n) for n in range(repeat))
    for command, times in floors.items():
        times += [seconds_of(_shell(command)) for _ in range(repeat)]
    count = sum(1 for _ in watched.rglob("SKILL.md"))
    floor = {command: statistics.median(times) for command, times in floors.items()}
    return [
        ("cold scan", cold, count, HASH_ALL.format("ROOT"), floor[hash_all]),
        ("cold scan, serial", cold_serial, count, HASH_ALL.format("ROOT"), floor[hash_all]),
        ("unchanged re-scan", again, count, STAT_ALL.format("ROOT"), floor[stat_all]),
        ("one change → index", one, 1, HASH_ALL.format("FOLDER"), floor[hash_one]),
    ]


def _one_change(settings: config_settings.Settings, skill_md: Path, number: int) -> float:
    text = skill_md.read_text(encoding="utf-8")
    skill_md.write_text(
        text.replace("description: ", f"description: Now {number}. "), encoding="utf-8"
    )
    time.sleep(settings.settle_quiet + 0.1)
    store = open_store(settings)
    unit = unit_at(settings, skill_md.parent)
    assert unit
    seconds = seconds_of(lambda: scan_once(settings, store, [unit]))
    store.close()
    return seconds


def _shell(command: str) -> Callable[[], object]:
    return lambda: subprocess.run(command, shell=True, check=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of short work")
    return parser.parse_args()


if __name__ == "__main__":
    main()
