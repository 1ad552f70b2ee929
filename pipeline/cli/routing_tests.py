"""Routing tests of validated skills, run in the catalog or among the skills themselves."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from catalog.database.connection import open_catalog
from catalog.database.queries import Database
from catalog.model.errors import CatalogUnusable, NotInCatalog
from catalog.model.paths import os_path
from catalog.model.skill import RootSpec
from catalog.reading.search import routing
from catalog.writing.store import Store
from pipeline.authoring.lint import Judgement
from pipeline.authoring.targets import target_of
from pipeline.cli.options import GlobalOptions
from pipeline.cli.output.terminal import counted
from pipeline.config import loader
from pipeline.config.selection import CodeSelection
from pipeline.config.settings import Settings
from pipeline.roots.snapshot import digest
from pipeline.service.scanning.change_batches import ScanPlan
from pipeline.service.scanning.synchronizer import Synchronizer
from pipeline.watch.settling import WatchUnit


def tested(
    judged: Sequence[Judgement],
    paths: Iterable[Path],
    select: CodeSelection,
    given: GlobalOptions | None,
    notes: list[str],
) -> Iterator[Judgement]:
    """Yield judgements of the skills at some paths, with the findings of their routing tests.

    A skill that is active in the catalog with this content is searched for there, any other one
    among these skills; the notes say how many were.
    """
    tests = {
        each.path: files
        for each in judged
        if (files := routing.with_tests((file.path, file.text) for file in each.files))
    }
    places = list(_places(paths, loader.load(*(given or ())))) if tests else []
    run = Counter[str]()
    for judgement in judged:
        for place, db in places if judgement.path in tests else ():
            if row := db.row(_ACTIVE, [digest(judgement.files)]):
                number, findings = routing.run(db, row["id"], tests[judgement.path])
                run[place] += number
                folder = os.path.realpath(os_path(judgement.path))
                found = select.apply(findings, folder, judgement.document or "")
                judgement = replace(judgement, findings=(*judgement.findings, *found))
                break
        yield judgement
    for place, number in run.items():
        notes.append(f"{counted(number, 'routing test')} run by searches {place}, without a model.")


def _places(paths: Iterable[Path], settings: Settings) -> Iterator[tuple[str, Database]]:
    """Yield the catalog of the settings, if it can be read, and one of the skills at some paths."""
    with suppress(NotInCatalog, CatalogUnusable):
        yield f"of {settings.catalog_path}", open_catalog(settings.catalog_path)
    units = [WatchUnit(str(place.root), place.under) for place in map(target_of, paths)]
    roots = [RootSpec(root) for root in dict.fromkeys(unit.root for unit in units)]
    store = Store.in_memory()
    store.roots.configure(roots, "", datetime.now(UTC))
    plan = ScanPlan(store=store, roots=roots, limits=settings.limits, quiet=0, trigger="command")
    list(Synchronizer(plan).run(units))
    (skills,) = store.db.execute("SELECT count(*) FROM skills WHERE status = 'active'").fetchone()
    yield f"among {counted(skills, 'skill')}", store.db


_ACTIVE = "SELECT id FROM skills WHERE digest = ? AND status = 'active'"
