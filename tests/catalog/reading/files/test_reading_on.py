"""An agent that reads while folders change never gets a missing, mixed or wrong file."""

import hashlib
import os
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.indexes import location_of
from tests.support.serving import Serving
from tests.support.skills import write_skill
from tests.support.waiting import PATIENCE

SECONDS = float(os.environ.get("SKILLDROP_READING_SECONDS", "2"))
"""Time for which the agent reads, at least; a longer run finds more."""


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Return a service with a short quiet time."""
    made = Serving(tmp_path, settle_quiet=0.05).start()
    yield made
    made.stop()


def test_locations_in_an_index_always_lead_to_one_whole_version(serving: Serving) -> None:
    """A folder is good, half copied, bad, gone and good again between thousands of reads."""
    write(serving.root / "a", 0)
    serving.wait_for(lambda: location_of(serving.index(), "a"))
    stop = threading.Event()
    writer = threading.Thread(target=rewrite, args=(serving, stop))
    writer.start()
    seen: Counter[str] = Counter()
    reads = 0
    try:
        with sqlite3.connect(f"file:{serving.settings.catalog_path}?mode=ro", uri=True) as db:
            begun = time.monotonic()
            while (
                time.monotonic() < begun + SECONDS
                or reads < 500
                or len(seen.keys() - {"not listed"}) < 3
            ):
                assert time.monotonic() < begun + SECONDS + PATIENCE, seen
                index = serving.settings.index_folder / "default.txt"
                listing = index.read_text("utf-8")
                try:
                    seen[read_whole(index, listing, db)] += 1
                except FileNotFoundError:  # a skill that left, after the index that names it
                    assert index.read_text("utf-8") != listing
                reads += 1
        db.close()
    finally:
        stop.set()
        writer.join()


def read_whole(index: Path, listing: str, db: sqlite3.Connection) -> str:
    """Follow the text of an index as an agent does, check all files, and return the version."""
    location = location_of(listing, "a")
    if not location:
        return "not listed"
    by_path = Path(location).parent
    assert by_path == index.parent.parent / "skills/a"
    for file in ["SKILL.md", *(f"deep/{number}/x.txt" for number in range(6))]:
        text = (by_path / file).read_bytes()  # of this version or another, but always whole
        assert db.execute(
            "SELECT 1 FROM files WHERE path = ? AND sha256 = ?",
            [file, hashlib.sha256(text).hexdigest()],
        ).fetchone()
    shelf = index.parent.parent / "packages/a"
    version = os.readlink(shelf / "current")
    package = shelf / version
    expected = dict(
        db.execute(
            "SELECT f.path, f.sha256 FROM files AS f JOIN versions AS v ON v.id = f.version"
            " WHERE v.skill_id = ? AND v.version = ?",
            [shelf.name, version],
        ).fetchall()
    )
    there = {
        str(file.relative_to(package)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in package.rglob("*")
        if not file.is_dir()
    }
    assert expected
    assert there == expected
    return version


def rewrite(serving: Serving, stop: threading.Event) -> None:
    """Rewrite a folder repeatedly, and wait for the result half of the time."""
    folder = serving.root / "a"
    steps: list[Callable[[int], object]] = [
        lambda n: write(folder, n),
        lambda n: write(folder, n, half=True),
        lambda n: (folder / "SKILL.md").write_text("---\nname: a\n---\n"),
        lambda n: write(folder, n),
        lambda n: shutil.rmtree(folder),
        lambda n: write(folder, n),
        lambda n: [write(folder, n + more, half=more % 2 == 0) for more in range(5)],
    ]
    number = 0
    while not stop.is_set():
        number += 10
        steps[number // 10 % len(steps)](number)
        stop.wait(0.0 if number % 30 else 0.4)


def write(folder: Path, number: int, *, half: bool = False) -> None:
    """Write the skill a with files that contain one number, or stop halfway."""
    if not half:
        write_skill(folder, name="a", description=f"Number {number}.")
    for file in range(2 if half else 6):
        (folder / f"deep/{file}").mkdir(parents=True, exist_ok=True)
        (folder / f"deep/{file}/x.txt").write_text(f"{number} {file}\n" * 50)
