"""Time to update an index after one change, in a small and a large catalog.

Both catalogs hold the same kind of skills, stored directly in SQLite. Each change is one skill's
description. The time covers all work after the change: the query, the text, the record of the
publication, and the written file. The ratio is large to small; the target is at most 1.5.
"""

import argparse
import hashlib
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from made_skills import sentence

from catalog.model.change import Judged
from catalog.model.skill import FileEntry, Inventory, Place, RootSpec, SkillRecord
from catalog.prompt_index.spec import IndexSpec
from catalog.writing.rows import derived
from catalog.writing.store import Store

ROOT = "/watched"
LEVELS = ("enterprise", "personal", "project")
BATCH = 1000
START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Fill both catalogs, change skills in each, and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as folder:
        stores = [
            _filled(Path(folder, str(count)), count, arguments.seed)
            for count in (arguments.small, arguments.large)
        ]
        print(
            f"\n{platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
            f"median of {arguments.repeat}\n"
        )
        print(f"| index | ms at {arguments.small:,} | ms at {arguments.large:,} | ratio |")
        print("|---|---|---|---|")
        for name, spec in _specs().items():
            small, large = _measured(stores, spec, Path(folder), arguments.repeat)
            print(f"| {name} | {small:.1f} | {large:.1f} | {large / small:.2f} |")


def _specs() -> dict[str, IndexSpec]:
    named = tuple(_name(number) for number in range(0, 1000, 10))
    return {
        "fit, 16,000 characters": IndexSpec(),
        "fit, semibot": IndexSpec(format="semibot"),
        "exclude": IndexSpec(overflow="exclude"),
        "two levels": IndexSpec(levels=("personal", "project")),
        "20 featured": IndexSpec(featured=named[:20]),
        "100 names": IndexSpec(names=named),
        "a tag of a tenth": IndexSpec(tags=("tag-3",)),
        "a tag of 20 skills": IndexSpec(tags=("rare",)),
    }


def _measured(
    stores: list[Store], spec: IndexSpec, folder: Path, repeat: int
) -> tuple[float, float]:
    """Return the median milliseconds for each catalog, measured alternately."""
    times: list[list[float]] = [[] for _ in stores]
    for store in stores:
        store.indexes.configure([spec])
        store.publish_indexes([spec], folder / "index", START)
    for round_ in range(repeat):
        for position, store in enumerate(stores):
            now = START + timedelta(seconds=round_ + 1)
            changed = _judged(round_ % 50, random.Random(round_), f"Changed {time.time_ns()}. ")
            store.apply([changed], trigger="event", at=now)
            began = time.perf_counter()
            store.publish_indexes([spec], folder / f"index-{position}", now)
            times[position].append((time.perf_counter() - began) * 1000)
    return statistics.median(times[0]), statistics.median(times[1])


def _filled(folder: Path, count: int, seed: int) -> Store:
    began = time.perf_counter()
    store = Store.open(folder / "catalog.db")
    store.roots.configure([RootSpec(f"{ROOT}/{level}", level) for level in LEVELS], "bench", START)
    for batch in _batches(count, seed):
        store.apply(batch, trigger="start", at=START)
    print(f"{count:,} skills in {time.perf_counter() - began:.1f} s", flush=True)
    return store


def _batches(count: int, seed: int) -> Iterator[list[Judged]]:
    rng = random.Random(seed)
    for first in range(0, count, BATCH):
        yield [_judged(number, rng) for number in range(first, min(first + BATCH, count))]


def _name(number: int) -> str:
    # A hash, so that neighbours in the index are far apart in the table, as in real catalogs.
    return f"skill-{hashlib.sha256(str(number).encode()).hexdigest()[:6]}-{number:06d}"


def _judged(number: int, rng: random.Random, words: str = "") -> Judged:
    name, level = _name(number), LEVELS[number % 3]
    description = f"{words}{sentence(rng)} {sentence(rng)} Use when asked for {sentence(rng)}"
    body = sentence(rng, 200)
    content = f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"
    sha = hashlib.sha256(content.encode()).hexdigest()
    files = (
        FileEntry("SKILL.md", len(content), sha, 0o644, "skill_md", True),
        FileEntry("scripts/run.py", 9, sha, 0o755, "script", True),
    )
    record = SkillRecord(
        place=Place(f"{ROOT}/{level}", name, level),
        skill_id=name,
        name=name,
        description=description,
        spec_valid=True,
        fingerprint=sha,
        digest=f"sha256:{sha}",
        skill_md_hash=sha,
        skill_md_name="SKILL.md",
        skill_md_content=content,
        body_chars=len(body),
        headings=(),
        body_lines=3,
        estimated_tokens=9,
        files=files,
        inventory=Inventory.of(files),
        findings=(),
        frontmatter={"name": name, "description": description},
        tags=(f"tag-{number % 10}", *(("rare",) if number < 20 else ())),
        priority=0.9 if number % 100 == 0 else None,
    )
    return derived.judged(record, "[]", START.isoformat(), 1.0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=15)
    return parser.parse_args()


if __name__ == "__main__":
    main()
