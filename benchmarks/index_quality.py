"""Quality of prompt indexes: how often the words of a task lead to the right entry.

    python benchmarks/index_quality.py --sizes 50 300 --budgets 16000

The data are those of `search.py`. Each size is a random draw of the skills, repeated; the tasks are
those with a right skill in the draw. BM25 ranks the entries, as they are shown, for the sentence of
a task. Whole descriptions without a budget are the best that an index can reach.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import bm25s
from recombined_skills import Skill
from search_tasks import Task, rank_of, read_skills, read_tasks

from catalog.prompt_index import builder
from catalog.prompt_index.formats.form import Candidate
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec

FORMS = tuple(name for name in FORMATS if name != "discovery")  # for installers, not for prompts
PACKAGES = "/var/lib/skilldrop/packages"
SHOWN = 10


class Row(NamedTuple):
    """Figures of one form at one size and budget."""

    skills: int
    budget: int | None  # characters; None without a budget
    form: str
    hit_5: float  # share of the tasks with a right skill among the first five
    mrr: float  # mean of 1/rank, 0 beyond the tenth
    share: float  # of the hit_5 of whole descriptions
    listed: float  # mean number of skills in the index

    def cells(self) -> Sequence[str]:
        """Return the cells as text."""
        budget = "none" if self.budget is None else f"{self.budget:,}"
        figures = (
            f"{self.hit_5:.3f}",
            f"{self.mrr:.3f}",
            f"{self.share:.2f}",
            f"{self.listed:.0f}",
        )
        return (f"{self.skills:,}", budget, self.form, *figures)


class _Sample(NamedTuple):
    """Draw of skills, and the tasks that they answer."""

    skills: Sequence[Skill]
    tasks: Sequence[Task]


def main() -> int:
    """Measure each form, and print the table."""
    arguments = _arguments()
    if not (arguments.data / "queries.jsonl").is_file():
        print(f"There is no {arguments.data}/queries.jsonl: name its folder with --data.")
        return 2
    skills, tasks = read_skills(arguments.data), read_tasks(arguments.data)
    rows = [
        row
        for size in arguments.sizes
        for row in _measured(size, skills, tasks, arguments.budgets, arguments.draws)
    ]
    if arguments.json:
        print(json.dumps([row._asdict() for row in rows], indent=1))
        return 0
    print("| skills | characters | form | hit@5 | MRR@10 | of whole descriptions | listed |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row.cells())} |")
    return 0


def _measured(
    size: int, skills: Sequence[Skill], tasks: Sequence[Task], budgets: Sequence[int], draws: int
) -> Iterator[Row]:
    samples = [
        _sample(skills, tasks, size, seed) for seed in range(draws if size < len(skills) else 1)
    ]
    whole, mrr = _quality([(sample, _whole(sample.skills)) for sample in samples])
    size = len(samples[0].skills)
    yield Row(size, None, "whole descriptions", whole, mrr, 1.0, size)
    for budget in budgets:
        for form in FORMS:
            _report(f"{size} skills, {budget:,} characters, {form}")
            texts = [(sample, _shown(sample.skills, form, budget)) for sample in samples]
            hit_5, mrr = _quality(texts)
            listed = sum(len(shown) - shown.count("") for _, shown in texts) / len(texts)
            yield Row(size, budget, form, hit_5, mrr, hit_5 / whole, listed)


def _sample(skills: Sequence[Skill], tasks: Sequence[Task], size: int, seed: int) -> _Sample:
    drawn = random.Random(seed).sample(skills, min(size, len(skills)))
    drawn.sort(key=lambda skill: skill.name)
    names = {skill.name for skill in drawn}
    return _Sample(drawn, [task for task in tasks if task.relevant & names])


def _whole(skills: Sequence[Skill]) -> list[str]:
    return [f"{skill.name} {skill.description}" for skill in skills]


def _shown(skills: Sequence[Skill], form: str, budget: int) -> list[str]:
    """Return the name and the words that an index shows of each skill; "" if it is left out."""
    candidates = [
        Candidate(
            number,
            skill.name,
            skill.description,
            f"{PACKAGES}/{skill.name}/current/SKILL.md",
            skill.name,
            follows_pattern=True,
        )
        for number, skill in enumerate(skills)
    ]
    spec = IndexSpec(format=form, budget_chars=budget, location_base=PACKAGES)
    entries = builder.build(spec, candidates).entries
    texts = [f"{entry.skill.name} {entry.shown}" for entry in entries]
    return [*texts, *[""] * (len(skills) - len(texts))]


def _quality(texts: Sequence[tuple[_Sample, Sequence[str]]]) -> tuple[float, float]:
    """Return hit@5 and MRR@10 over all tasks of all draws."""
    ranks: list[int] = []
    for sample, shown in texts:
        index = bm25s.BM25()
        index.index(bm25s.tokenize(list(shown), show_progress=False), show_progress=False)
        queries = bm25s.tokenize([task.sentence for task in sample.tasks], show_progress=False)
        most = min(SHOWN, len(shown))
        found, scores = index.retrieve(queries, k=most, show_progress=False)
        for task, numbers, values in zip(sample.tasks, found, scores, strict=True):
            pairs = zip(numbers, values, strict=True)
            names = [sample.skills[number].name for number, score in pairs if score > 0]
            ranks.append(rank_of(names, task.relevant))
    placed = [rank for rank in ranks if rank]
    return sum(rank <= 5 for rank in placed) / len(ranks), sum(1 / r for r in placed) / len(ranks)


def _report(work: str) -> None:
    if sys.stderr.isatty():
        print(f"{work} …", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="example: python benchmarks/index_quality.py --sizes 50 300 --budgets 16000",
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/search"), help="folder of tasks and skills"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 300, 484])
    parser.add_argument("--budgets", type=int, nargs="+", default=[16_000, 80_000])
    parser.add_argument("--draws", type=int, default=12, help="random draws of each size")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
