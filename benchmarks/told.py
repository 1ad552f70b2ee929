"""Tasks whose skill a model is told, or finds by one search, with and without `link --fit`.

    python benchmarks/told.py --data ../shared/search

`search_tasks.py` describes the data. Of the tasks, those count whose skills are in the catalog: 78
and 300 real ones, or all and made skills with the same vocabulary. A skill is told if its
description is there whole or cut. The search has the task as its author wrote it, and finds a skill
among its first five results.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from recombined_skills import Skill, recombined
from search_tasks import Task, read_skills, read_tasks

from catalog.listings.agents import AGENTS
from catalog.reading import told_skills
from catalog.reading.search import word_search
from catalog.writing.store import Store
from pipeline.config import loader
from pipeline.config.settings import linked_directory
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once

SIZES = (78, 300, 3300)
FOUND = 5
"""Results of a search among which the right skill counts as found."""


def main() -> int:
    """Measure at each size, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    tasks, real = read_tasks(data), read_skills(data)
    print("| skills | tasks | agent | told | told with --fit | or found by its search |")
    print("|---|---|---|---|---|---|")
    for size in SIZES:
        some = random.Random(1).sample(real, min(size, len(real)))
        skills = [*some, *recombined(real, size - len(some), 1)]
        with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place:
            _print(skills, tasks, Path(place))
    return 0


def _print(skills: Sequence[Skill], tasks: Sequence[Task], place: Path) -> None:
    """Print a row for each agent at one size."""
    for skill in skills:
        (place / "watched" / skill.name).mkdir(parents=True, exist_ok=True)
        (place / "watched" / skill.name / "SKILL.md").write_text(skill.skill_md(), "utf-8")
    settings = loader.load(None, place / "watched", place / "data").model_copy(
        update={"settle_quiet": 0.0}
    )
    store = open_store(settings)
    scan_once(settings, store)
    names = {skill.name for skill in skills}
    tasks = [task for task in tasks if task.relevant & names]
    found = [_found(store, task) for task in tasks]
    for agent in AGENTS:
        before, after = (
            _told(store, place / f"{agent}-{fit}", agent, fit=fit) for fit in (False, True)
        )
        told = [bool(task.relevant & before) for task in tasks]
        fits = [bool(task.relevant & after) for task in tasks]
        either = [one or other for one, other in zip(fits, found, strict=True)]
        cells = " | ".join(f"{sum(each) / len(tasks):.0%}" for each in (told, fits, either))
        print(f"| {len(skills):,} | {len(tasks)} | {AGENTS[agent].title} | {cells} |")
    store.close()


def _found(store: Store, task: Task) -> bool:
    hits = word_search.search(store.db, task.sentence, FOUND).hits
    return any(hit.name in task.relevant for hit in hits)


def _told(store: Store, path: Path, agent: str, *, fit: bool) -> set[str]:
    """Return the names of the skills whose descriptions an agent tells its model."""
    store.links.link(linked_directory({"path": str(path), "for": agent, "fit": fit}))
    (directory,) = told_skills.of_directories(store.db, str(path))
    return {name for name, told in directory.skills.items() if told.chars}


if __name__ == "__main__":
    sys.exit(main())
