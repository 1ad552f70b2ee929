"""The command that brings the catalog up to the roots once."""

from pathlib import Path
from typing import get_args

import click

from catalog.text import humanize
from catalog.writing.store import Store
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, FINDINGS, PATH, as_json_option, to_json
from pipeline.cli.output import terminal
from pipeline.sync.open_catalog import with_store
from pipeline.sync.run_once import EngineName, Result, engine_named, scan_once, unit_at


@click.command()
@click.argument("paths", nargs=-1, type=PATH)
@click.option("--deep", is_flag=True, help="Read and hash every file, also of unchanged folders.")
@click.option(
    "--engine",
    type=click.Choice(get_args(EngineName)),
    default="processes",
    show_default=True,
    help="Who looks: this process, one a core, or a Dask cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Dask scheduler, tcp://…, for --engine dask.  [default: one on this machine]",
)
@as_json_option
@click.pass_context
def scan(
    context: click.Context,
    paths: tuple[Path, ...],
    deep: bool,
    engine: EngineName,
    scheduler: str | None,
    as_json: bool,
) -> int:
    """Bring the catalog up to the roots, or to PATHS inside them, and exit.

    \b
    Examples:
      skilldrop scan
      skilldrop --watched ~/skills --data /tmp/catalog scan --json
      skilldrop scan --engine dask --scheduler tcp://scheduler.example:8786
    """
    if scheduler and engine != "dask":
        raise click.UsageError("--scheduler is the address of a Dask cluster: add --engine dask.")
    settings = settings_of(context)
    units = []
    for path in paths:
        unit = unit_at(settings, path)
        if unit is None:
            raise click.UsageError(f"{path} lies in no root; skilldrop status names the roots.")
        units.append(unit)

    def work(store: Store) -> Result:
        with engine_named(engine, scheduler) as looking, terminal.progress("skills") as progress:
            return scan_once(
                settings,
                store,
                units,
                engine=looking,
                deep=deep,
                progress=lambda so_far: progress(so_far.seen),
            )

    with terminal.progress("packages") as published:
        result = with_store(settings, work, published)
    for trouble in result.report.troubles.values():
        click.echo(f"skilldrop: {trouble}", err=True)
    click.echo(to_json(result.as_json()) if as_json else _told(result))
    return FINDINGS if result.report.troubles else DONE


def _told(result: Result) -> str:
    """Print the result of a scan, and what still needs attention."""
    counts = result.as_json()
    changed = [
        f"{counts[word]} {word}"
        for word in ("added", "updated", "renamed", "rejected", "removed", "pending")
        if counts[word]
    ]
    summary = ", ".join(changed) or "nothing changed"
    seen = terminal.counted(result.report.seen, "skill folder")
    lines = [f"{seen} seen in {humanize.duration(result.seconds)}: {summary}."]
    lines += [f"still changing: {unit.root}/{unit.path}" for unit in result.pending]
    if result.held:
        removals = terminal.counted(result.held, "removal")
        lines.append(f"{removals} held; `skilldrop status` says of what.")
    lines.append(
        f"The catalog has {result.active} active, {result.shadowed} shadowed and "
        f"{terminal.counted(result.rejected_in_all, 'rejected skill')}."
    )
    if result.rejected_in_all or result.shadowed:
        lines.append("`skilldrop status` says why.")
    return "\n".join(lines)
