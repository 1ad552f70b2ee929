"""Command that updates the catalog from the roots once."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import get_args

import click

from catalog.database.connection import service_runs
from catalog.model.errors import CatalogBusy
from catalog.reading import health_summary
from catalog.text import humanize
from catalog.writing.store import Store
from pipeline.cli.options import DONE, FINDINGS, PATH, Answer, with_json, with_settings
from pipeline.cli.output import terminal
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.roots.units import WatchUnit
from pipeline.service import pulls
from pipeline.service.open_catalog import with_store
from pipeline.service.run_once import (
    EngineName,
    Result,
    engine_named,
    scan_by_service,
    scan_once,
    unit_at,
)


@click.command()
@click.argument("paths", nargs=-1, type=PATH)
@click.option("--deep", is_flag=True, help="Read and hash every file, even in unchanged folders.")
@click.option(
    "--engine",
    type=click.Choice(get_args(EngineName)),
    default="processes",
    show_default=True,
    help="Scan in this process, in one process per core, or on a Dask cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Dask scheduler, tcp://…, for --engine dask.  [default: a local one]",
)
@with_json
@with_settings
def scan(
    settings: Settings,
    paths: tuple[Path, ...],
    deep: bool,
    engine: EngineName,
    scheduler: str | None,
) -> Answer:
    """Update the catalog from the roots, or only from PATHS inside them, and exit.

    Without PATHS, roots that are git repositories are pulled first. While `skilldrop up` runs, the
    service pulls and scans all roots.

    \b
    Examples:
      skilldrop scan
      skilldrop --watched ~/skills --data /tmp/catalog scan --json
      skilldrop scan --engine dask --scheduler tcp://scheduler.example:8786
    """
    if scheduler and engine != "dask":
        raise click.UsageError("--scheduler needs --engine dask.")
    units = [_unit_at(settings, path) for path in paths]

    def work(store: Store) -> Result:
        notice = partial(click.echo, err=True)
        with (
            engine_named(engine, scheduler, notice) as executor,
            terminal.progress("skills") as progress,
        ):
            return scan_once(
                settings,
                store,
                units,
                engine=executor,
                deep=deep,
                pulls=not units,
                progress=lambda so_far: progress(so_far.folders),
            )

    try:
        with terminal.progress("packages") as published:
            result = with_store(settings, work, published)
    except CatalogBusy:
        if not service_runs(settings.catalog_path):
            raise
        with terminal.progress("seconds: the service is scanning") as waiting:
            result = scan_by_service(settings, deep=deep, waiting=waiting)
    for problem in (*result.failures, *pulls.of_pulled(settings, result.report.troubles)):
        click.echo(f"skilldrop: {problem}", err=True)
    code = FINDINGS if result.failures or result.report.troubles else DONE
    return Answer(result.as_json(), _lines(result), code)


def _unit_at(settings: Settings, path: Path) -> WatchUnit:
    unit = unit_at(settings, path)
    if unit is None:
        raise click.UsageError(f"{path} is not inside a root; `skilldrop status` lists the roots.")
    return unit


def _lines(result: Result) -> Iterator[str]:
    """Yield the result of a scan, and the folders that need attention."""
    counts = result.as_json()
    changed = [
        f"{counts[word]} {word}"
        for word in ("added", "updated", "renamed", "rejected", "removed", "pending")
        if counts[word]
    ]
    summary = ", ".join(changed) or "nothing changed"
    seen = counted(result.report.folders, "skill folder")
    yield f"{seen} scanned in {humanize.duration(result.seconds)}: {summary}."
    yield from (f"still changing: {unit.root}/{unit.path}" for unit in result.pending)
    if result.held:
        yield f"{counted(result.held, 'removal')} held; `skilldrop status` lists them."
    if result.to_review:
        yield health_summary.of_reviews(result.to_review)
    yield (
        f"The catalog has {result.active} active, {result.shadowed} shadowed and "
        f"{counted(result.rejected_in_all, 'rejected skill')}."
    )
    if result.rejected_in_all or result.shadowed:
        yield "`skilldrop status` shows the reasons."
