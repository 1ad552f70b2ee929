"""Commands that update the catalog from the roots, or compare it with them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import click

from catalog.audit.verdicts import Difference
from catalog.database.connection import service_runs
from catalog.model.change import ChangeResult
from catalog.model.errors import CatalogBusy, RootUnreadable
from catalog.reading import service_health
from catalog.text import humanize
from catalog.text.visible import visible
from catalog.writing.store import Store
from pipeline.cli.extras import needing
from pipeline.cli.options import DONE, FINDINGS, Answer, to_copy, with_json, with_settings
from pipeline.cli.output import terminal
from pipeline.cli.output.skills import finding_line
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.service import pulls
from pipeline.service import reconcile as service_reconcile
from pipeline.service.open_catalog import with_store
from pipeline.service.reconcile import Comparison
from pipeline.service.run_once import Result, scan_by_service, scan_once
from pipeline.service.scanning.engines import Engine, processes


@click.command()
@click.option("--deep", is_flag=True, help="Read and hash every file, even in unchanged folders.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Scan with the workers of the Dask scheduler at tcp://….  [default: all cores here]",
)
@with_json
@with_settings
def scan(settings: Settings, deep: bool, scheduler: str | None) -> Answer:
    """Update the catalog from the roots, and exit.

    Roots that are git repositories are pulled first. While `skilldrop up` runs, the service pulls
    and scans all roots.

    \b
    Examples:
      skilldrop scan
      skilldrop --watched ~/skills --data /tmp/catalog scan --json
      skilldrop scan --scheduler tcp://scheduler.example:8786
    """

    def work(store: Store) -> Result:
        with _engine(scheduler) as engine, terminal.progress("skills") as progress:
            return scan_once(
                settings,
                store,
                engine=engine,
                deep=deep,
                pulls=True,
                progress=lambda so_far: progress(so_far.folders),
            )

    try:
        with terminal.progress("packages") as published:
            result = with_store(settings, work, published)
    except (CatalogBusy, RootUnreadable):  # the service may know other roots
        if not service_runs(settings.catalog_path):
            raise
        with terminal.progress("seconds: the service is scanning") as waiting:
            result = scan_by_service(settings, deep=deep, waiting=waiting)
        if scheduler:
            click.echo("skilldrop: The running service scanned, without --scheduler.", err=True)
    for problem in (*result.failures, *pulls.of_pulled(settings, result.report.troubles)):
        click.echo(f"skilldrop: {problem}", err=True)
    code = FINDINGS if result.failures or result.report.troubles else DONE
    return Answer(result.as_json(), map(to_copy, _lines(result)), code)


def _engine(scheduler: str | None) -> AbstractContextManager[Engine]:
    """Return the engine of a Dask cluster or, without its address, the cores of this machine."""
    if not scheduler:
        return nullcontext(processes)
    with needing("dask"):
        from pipeline.service.scanning.dask_cluster import dask
    return dask(scheduler)


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
    yield from service_health.of_reviews(result.to_look_at)
    yield from (f"still changing: {unit.root}/{unit.path}" for unit in result.pending)
    if result.held:
        yield f"{counted(result.held, 'removal')} held; `skilldrop status` lists them."
    now = result.counts
    active, shadowed, rejected = now["active"], now["shadowed"], now["rejected"]
    yield (
        f"The catalog has {active} active, {now['pending']} pending, {shadowed} shadowed and "
        f"{counted(rejected, 'rejected skill')}."
    )
    if strays := result.to_look_at["not_skills"]:
        ignored = humanize.count(strays, "entry of the roots is", "entries of the roots are")
        yield f"{ignored} no skill{', for example' if strays > 3 else ''}:"
        yield from (f"    {finding_line(row)}" for row in result.strays[:strays])
    if rejected or shadowed or strays:
        yield "`skilldrop status` shows the reasons."


SCREENFUL = 20
"""Most lines of one kind; --json prints all of them."""


@click.command()
@click.option("--check", is_flag=True, help="Report differences without repairing them.")
@click.option(
    "--accept-removals",
    is_flag=True,
    help="Confirm held removals, and list the removed skills.",
)
@with_json
@with_settings
def reconcile(settings: Settings, check: bool, accept_removals: bool) -> Answer:
    """Compare folders, catalog, packages, indexes and links, and repair differences.

    Every file is read and hashed again, including those of the packages. Changes are listed by
    skill. Exit 1 if differences are found with --check, or remain after the repair. While
    `skilldrop up` runs, the service does the repair and keeps following the folders.

    \b
    Examples:
      skilldrop reconcile --check
      skilldrop reconcile --accept-removals
    """
    if check and accept_removals:
        raise click.UsageError("--check changes nothing; use --accept-removals without it.")
    with (
        terminal.progress("skills") as progress,
        terminal.progress("seconds: the service is repairing") as waiting,
    ):
        result = (
            service_reconcile.compare(settings, progress=progress)
            if check
            else service_reconcile.repair(
                settings, accepts_removals=accept_removals, progress=progress, waiting=waiting
            )
        )
    return Answer(
        _as_json(result), _comparison_lines(result), FINDINGS if result.differences else DONE
    )


def _as_json(result: Comparison) -> dict[str, object]:
    return {
        "differences": [difference.as_json() for difference in result.differences],
        "repaired": [difference.as_json() for difference in result.repaired],
        "lost": [difference.as_json() for difference in result.lost],
        "changes": [_change(change) for change in result.changes],
        "removed": [_change(change) for change in result.removed],
        "accepted": [_change(change) for change in result.accepted],
        "seen": result.folders,
        "held": result.held,
        "last_good": result.last_good,
    }


def _change(change: ChangeResult) -> dict[str, object]:
    return {key: getattr(change, key) for key in ("root", "path", "name", "outcome", "detail")}


def _comparison_lines(result: Comparison) -> Iterator[str]:
    changes = (*result.removed, *result.changes)
    changed = {(change.root, change.path) for change in changes}
    repaired = [d for d in result.repaired if (d.folder, d.path) not in changed]
    yield from _screenful([f"{d.kind}: {d.where}: {d.message}" for d in result.differences])
    yield from _screenful(
        [
            *(
                f"{change.outcome}: {change.root}/{change.path}"
                + (f" ({change.detail})" if change.detail else "")
                for change in changes
            ),
            *(f"repaired: {d.where}: {d.message}" for d in repaired),
            *(f"lost: {d.where}: {d.message}; no folder has it" for d in result.lost),
        ]
    )
    seen = "The roots contain no skill folder, so no folder was compared"
    if result.folders:
        seen = f"{counted(result.folders, 'skill folder')} compared"
    yield f"{seen}{_summary(result, changes, repaired)}"
    yield from _accepted_differences(result)


def _screenful(lines: Sequence[str]) -> Iterator[str]:
    yield from map(visible, lines[:SCREENFUL])
    if len(lines) > SCREENFUL:
        yield f"… and {len(lines) - SCREENFUL} more; --json lists all of them"


def _summary(
    result: Comparison, changes: Sequence[ChangeResult], repaired: Sequence[Difference]
) -> str:
    """Return the counts of changes, repairs and remaining differences."""
    counts = Counter(change.outcome for change in changes)
    done = [counted(number, "skill") + f" {outcome}" for outcome, number in counts.items()]
    if repaired:
        done.append(f"{counted(len(repaired), 'difference')} repaired")
    if lost := {difference.package_path for difference in result.lost}:
        done.append(f"{counted(len(lost), 'package')} lost")
    kinds = Counter(difference.kind for difference in result.differences)
    if kinds:
        done.append("differences: " + ", ".join(f"{n} in {kind}" for kind, n in kinds.items()))
    elif done:
        done.append("no differences remain")
    elif result.folders:
        done.append("no differences")
    return f"; {', '.join(done)}." if done else "."


def _accepted_differences(result: Comparison) -> Iterator[str]:
    """Yield a line about held removals, and one about folders with rejected content."""
    if result.held:
        yield (
            f"{counted(result.held, 'removal')} held; `skilldrop status` shows the "
            "reason. Bring the folders or the root back, or confirm with `skilldrop reconcile "
            "--accept-removals`."
        )
    if result.last_good:
        folders = counted(result.last_good, "folder")
        yield (
            f"{folders} with rejected newest content; the last good version stays published. "
            "`skilldrop status` lists them."
        )
