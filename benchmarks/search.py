"""Quality and speed of the search, beside plain FTS5, bm25s and tantivy: one table from one run.

    python benchmarks/search.py --sizes 484 3300

`search_tasks.py` describes the data. Each task is searched as a sentence and as keywords. Made
skills with the same vocabulary fill the catalog up to each size; all engines have the same texts.
The tools and queries of MetaTool, if they are there, are a catalog of their own: these words were
written by others than those of the tasks. The floor of the times is plain FTS5 OR in the same run.
"""

import argparse
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import bm25s
import tantivy
from recombined_skills import Skill, recombined
from search_tasks import (
    Task,
    rank_of,
    read_skills,
    read_tasks,
    read_tool_queries,
    read_tools,
)

from catalog.database import connection
from catalog.database.queries import Database
from catalog.reading.search import word_search
from catalog.text.search_terms import terms_of
from pipeline.config import loader
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once

SHOWN = 10
"""Skills that a search returns."""
FLOOR = "plain FTS5 OR"
METATOOL = "MetaTool"

Engine = Callable[[str], Sequence[str]]  # from a query to names, best first


class Row(NamedTuple):
    """Figures of one engine for one form of the tasks."""

    skills: int
    query: str
    engine: str
    mrr: float  # mean of 1/rank, 0 beyond the tenth
    hit_1: float  # share of the tasks with a right skill first
    hit_5: float
    nothing: float  # share of the tasks without any result
    p50: float  # milliseconds
    p95: float
    p95_to_floor: float

    def cells(self) -> Sequence[str]:
        """Return the cells as text."""
        return (
            f"{self.skills:,}",
            self.query,
            self.engine,
            *(f"{share:.3f}" for share in (self.mrr, self.hit_1, self.hit_5, self.nothing)),
            f"{self.p50:.1f}",
            f"{self.p95:.1f}",
            f"{self.p95_to_floor:.2f}",
        )


def main() -> int:
    """Measure at each size, and print the table."""
    arguments = _arguments()
    if not (arguments.data / "queries.jsonl").is_file():
        print(f"There is no {arguments.data}/queries.jsonl: name its folder with --data.")
        return 2
    tasks, real = read_tasks(arguments.data), read_skills(arguments.data)
    rows: list[Row] = []
    for size in arguments.sizes:
        skills = [*real[:size], *recombined(real, size - len(real), arguments.seed)]
        rows += _measured(skills, tasks, ("sentence", "keywords"))
    queries = read_tool_queries(arguments.data)
    if queries:
        rows += _measured(read_tools(arguments.data), queries, (METATOOL,))
    if arguments.json:
        print(json.dumps([row._asdict() for row in rows], indent=1))
        return 0
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, {len(tasks)} tasks, seed {arguments.seed}\n"
    )
    print(
        "| skills | query | engine | MRR@10 | hit@1 | hit@5 | nothing found | p50 ms | p95 ms "
        f"| p95 to {FLOOR} |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for row in rows:
        print(f"| {' | '.join(row.cells())} |")
    if not queries:
        print(f"\n{METATOOL} is not measured: there is no {arguments.data}/metatool/queries.jsonl.")
    return 0


def _measured(
    skills: Sequence[Skill], tasks: Sequence[Task], forms: Sequence[str]
) -> Iterator[Row]:
    size = len(skills)
    _report(f"{size:,} skills: writing")
    engines: dict[str, Engine] = {}
    with (
        tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place,
        closing(_catalog(skills, Path(place))) as catalog,
    ):
        engines["skilldrop"] = _skilldrop(catalog)
        for name, engine in _PEERS.items():
            _report(f"{size:,} skills: indexing for {name}")
            engines[name] = engine(skills)
        for form in forms:
            _report(f"{size:,} skills: searching by {form}")
            yield from _rows(size, form, engines, tasks)


def _catalog(skills: Sequence[Skill], place: Path) -> sqlite3.Connection:
    """Write the skills as folders, scan them, and open the catalog for reading."""
    for number, skill in enumerate(skills):
        folder = place / "watched" / f"group-{number // 1000}" / skill.name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill.skill_md(), "utf-8")
    settings = loader.load(None, place / "watched", place / "data").model_copy(
        update={"settle_quiet": 0.0, "publish": "in-place"}
    )
    _report(f"{len(skills):,} skills: indexing for skilldrop")
    store = open_store(settings)
    scan_once(settings, store)
    store.close()
    return connection.connect_to_read(settings.catalog_path)


def _skilldrop(catalog: sqlite3.Connection) -> Engine:
    db = Database(catalog)
    (active,) = catalog.execute("SELECT count(*) FROM skills WHERE status = 'active'").fetchone()
    _report(f"{active:,} skills are active")
    return lambda query: [hit.name for hit in word_search.search(db, query, SHOWN).hits]


def _plain_fts5(operator: str, skills: Sequence[Skill]) -> Engine:
    db = sqlite3.connect("")
    db.execute(
        "CREATE VIRTUAL TABLE skills USING fts5 "
        "(name, description, body, tokenize = 'porter unicode61')"
    )
    db.executemany("INSERT INTO skills VALUES (?, ?, ?)", skills)

    def find(query: str) -> list[str]:
        match = f" {operator} ".join(f'"{term.text}"' for term in terms_of(query))
        rows = db.execute(
            "SELECT name FROM skills WHERE skills MATCH ? ORDER BY rank LIMIT ?", [match, SHOWN]
        )
        return [name for (name,) in rows]

    return find


def _bm25s(skills: Sequence[Skill]) -> Engine:
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize(["\n".join(skill) for skill in skills], show_progress=False),
        show_progress=False,
    )

    def find(query: str) -> list[str]:
        tokens = bm25s.tokenize([query], show_progress=False)
        found, scores = index.retrieve(tokens, k=SHOWN, show_progress=False)
        pairs = zip(found[0], scores[0], strict=True)
        return [skills[number].name for number, score in pairs if score > 0]

    return find


def _tantivy(skills: Sequence[Skill]) -> Engine:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("name", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(schema.build())
    writer = index.writer()
    for skill in skills:
        writer.add_document(tantivy.Document(name=skill.name, text="\n".join(skill)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def find(query: str) -> list[str]:
        words = " ".join(term.text for term in terms_of(query))
        parsed, _ = index.parse_query_lenient(words, ["text"])
        hits = searcher.search(parsed, SHOWN).hits
        return [searcher.doc(address)["name"][0] for _, address in hits]

    return find


_PEERS: Mapping[str, Callable[[Sequence[Skill]], Engine]] = {
    FLOOR: lambda skills: _plain_fts5("OR", skills),
    "plain FTS5 AND": lambda skills: _plain_fts5("AND", skills),
    "bm25s": _bm25s,
    "tantivy": _tantivy,
}


def _rows(
    size: int, form: str, engines: Mapping[str, Engine], tasks: Sequence[Task]
) -> Iterator[Row]:
    """Search for each task with all engines in turns, and return the figures of each engine."""
    ranks: dict[str, list[int]] = {name: [] for name in engines}  # 0 for a task without a hit
    times: dict[str, list[float]] = {name: [] for name in engines}
    empty = dict.fromkeys(engines, 0)
    for task in tasks:
        for name, find in engines.items():
            began = time.perf_counter()
            names = find(task.keywords if form == "keywords" else task.sentence)
            times[name].append(1000 * (time.perf_counter() - began))
            ranks[name].append(rank_of(names, task.relevant))
            empty[name] += not names
    cuts = {name: statistics.quantiles(taken, n=20) for name, taken in times.items()}
    for name in engines:
        placed = [rank for rank in ranks[name] if rank]
        yield Row(
            size,
            form,
            name,
            sum(1 / rank for rank in placed) / len(tasks),
            placed.count(1) / len(tasks),
            sum(rank <= 5 for rank in placed) / len(tasks),
            empty[name] / len(tasks),
            cuts[name][9],
            cuts[name][18],
            cuts[name][18] / cuts[FLOOR][18],
        )


def _report(work: str) -> None:
    if sys.stderr.isatty():
        print(f"{work} …", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog="example: python benchmarks/search.py --sizes 484 3300",
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/search"), help="folder of tasks and skills"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[484, 3_300, 40_000])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
