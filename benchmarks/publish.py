"""Time of publication, compared with `cp` of the same tree: one table from one run.

The skills are already scanned. Publication reads each file again, hashes and compares it, and
flushes the batch to the disk. `cp` does none of this, so the table also has `cp` with a sync. Each
task writes into a new directory, alternating with its floor, so that both see the same disk.
"""

import argparse
import os
import platform
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from made_skills import make_skills
from timing import seconds_of

from catalog.filesystem.ownership import OwnedFolder
from catalog.model.skill import RootSpec
from catalog.writing.packages.builder import Packaging
from catalog.writing.store import Store
from pipeline.processes import at_work
from pipeline.service import open_catalog
from tests.support.scanning import scan_all


def main() -> None:
    """Generate the skills, measure everything, and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(
        prefix="skilldrop-bench-", dir=arguments.dir, ignore_cleanup_errors=True
    ) as place:
        bench = _Bench(Path(place))
        print(f"Generating {arguments.skills:,} skills of 5 files …", flush=True)
        make_skills(bench.root, arguments.skills, arguments.seed)
        bench.scan_all()
        times: dict[str, list[float]] = {}
        for number in range(arguments.repeat):
            for name, work in bench.works(number):
                os.sync()  # pending writes do not count for this task
                times.setdefault(name, []).append(seconds_of(work))
                print(f"  {name}: {times[name][-1]:.2f} s", flush=True)
        counts = bench.counts()
        subprocess.run(["chmod", "-R", "u+w", place], check=True)
    seconds = {name: statistics.median(runs) for name, runs in times.items()}
    print(
        f"\n{platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
        f"{arguments.skills:,} skills of 5 files, seed {arguments.seed}, "
        f"median of {arguments.repeat}\n"
    )
    print("| work | seconds | floor | floor seconds | ratio |")
    print("|---|---|---|---|---|")
    for work, floor in (
        ("publish all", "cp -r"),
        ("publish all", "cp -r, sync"),
        ("publish one changed file each", "cp -al"),
        ("publish one changed file each", "cp -r"),
    ):
        print(
            f"| {work} | {seconds[work]:.2f} | `{floor}` | {seconds[floor]:.2f} "
            f"| {seconds[work] / seconds[floor]:.2f} |"
        )
    print(
        f"\nOf {counts[0]:,} files in the second publication, {counts[1]:,} were written; "
        "the others are hard links."
    )


class _Bench:
    """A root, its catalog, and a sequence of folders to publish into."""

    def __init__(self, place: Path) -> None:
        self.place, self.root = place, place / "root"
        self.store = Store.open(place / "catalog.db")
        self.folder = OwnedFolder(place / "none", "packages")

    def scan_all(self) -> None:
        """Scan all skills into the catalog without publishing any."""
        self.store.roots.configure([RootSpec(str(self.root))], "rules", datetime.now(UTC))
        self._scan()

    def works(self, number: int) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield the tasks in turns, and prepare each of them in between."""
        yield "cp -r", lambda: self._cp("-r", f"cp-r-{number}")
        self.folder = OwnedFolder(self.place / f"packages-{number}", "packages")
        yield "publish all", self._publish
        yield "cp -r, sync", lambda: self._cp("-r", f"cp-rs-{number}", sync=True)
        yield "cp -al", lambda: self._cp("-al", f"cp-al-{number}")
        self._change(number)
        yield "publish one changed file each", self._publish

    def counts(self) -> tuple[int, int]:
        """Return the numbers of published and newly written files in the last publication."""
        files = [
            file.stat().st_nlink
            for version in {(shelf / "current").resolve() for shelf in self.folder.path.iterdir()}
            for file in version.rglob("*")
            if file.is_file()
        ]
        return len(files), files.count(1)

    def _scan(self) -> None:
        scan_all(self.store, [RootSpec(str(self.root))])

    def _cp(self, option: str, name: str, *, sync: bool = False) -> None:
        subprocess.run(["cp", option, self.root, self.place / name], check=True)
        if sync:
            subprocess.run(["sync", "-f", self.place], check=True)

    def _publish(self) -> None:
        """Publish all skills that are not in the folder yet."""
        packaging = Packaging(self.folder, open_catalog.package_sources, at_work=at_work)
        for _ in self.store.publish_into(packaging, datetime.now(UTC)):
            pass

    def _change(self, number: int) -> None:
        """Change one file of each skill, and scan the changes without publishing them."""
        for script in self.root.rglob("run.sh"):
            script.write_text(f"#!/bin/sh\nexec python run.py {number}\n")
        self.store.packager.packaging = None
        self._scan()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each task")
    parser.add_argument("--dir", type=Path, help="working directory, on the disk to measure")
    return parser.parse_args()


if __name__ == "__main__":
    main()
