"""The commands that keep the catalog up to date and serve it."""

import signal
from pathlib import Path
from typing import get_args

import click

from catalog import search
from catalog.site.process import SiteProcess
from pipeline import report
from pipeline.commands.invocation import (
    A_PATH,
    DONE,
    FINDINGS,
    as_json_option,
    settings_of,
    to_json,
)
from pipeline.logs import LogFormat, write_log
from pipeline.one_pass import EngineName, engine_named, scan_once, unit_at
from pipeline.opening import open_store
from pipeline.service import Service


@click.command()
@click.option("--host", help="Address of the site.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the site.  [default: 8001]")
@click.option("--no-site", is_flag=True, help="Only watch; serve nothing.")
@click.option("--log-format", type=click.Choice(get_args(LogFormat)), default="text",
              show_default=True, help="How the log on standard error is written.")
@click.pass_context
def up(context: click.Context, host: str | None, port: int | None, no_site: bool,
       log_format: LogFormat) -> int:
    """Watch, re-scan and serve until stopped.

    \b
    Example:
      skilldrop --watched /srv/skills --data /var/lib/skilldrop up --port 8080
    """
    settings = settings_of(context, host=host, port=port)
    site = SiteProcess(settings.catalog_path, settings.host, settings.port,
                       settings.data / "site.log") if settings.site and not no_site else None
    write_log(log_format)
    with report.progress("packages") as progress:
        store = open_store(settings, progress)
    try:
        service = Service(settings, store, site)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: service.stop())
        service.run(lambda: click.echo(
            report.welcome(settings, site.url if site else None), err=True))
    finally:
        store.close()
    click.echo("Stopped.", err=True)
    return DONE


@click.command()
@click.argument("paths", nargs=-1, type=A_PATH)
@click.option("--deep", is_flag=True, help="Read and hash every file, also of unchanged folders.")
@click.option("--engine", type=click.Choice(get_args(EngineName)), default="processes",
              show_default=True, help="Who looks: this process, one a core, or a Dask cluster.")
@click.option("--scheduler", metavar="ADDRESS",
              help="Dask scheduler, tcp://…, for --engine dask.  [default: one on this machine]")
@as_json_option
@click.pass_context
def scan(context: click.Context, paths: tuple[Path, ...], deep: bool, engine: EngineName,
         scheduler: str | None, as_json: bool) -> int:
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
    with report.progress("packages") as published:
        store = open_store(settings, published)
    try:
        with engine_named(engine, scheduler) as looking, report.progress("skills") as progress:
            result = scan_once(settings, store, units, engine=looking, deep=deep,
                               progress=lambda so_far: progress(so_far.seen))
    finally:
        store.close()
    for trouble in result.report.troubles.values():
        click.echo(f"skilldrop: {trouble}", err=True)
    click.echo(to_json(result.as_json()) if as_json else report.scan(result))
    return FINDINGS if result.report.troubles else DONE


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port.  [default: 8001]")
@click.pass_context
def serve(context: click.Context, host: str | None, port: int | None) -> int:
    """Serve the catalog as it is, read-only, without watching anything.

    \b
    Example:
      skilldrop --data /var/lib/skilldrop serve --port 8080
    """
    settings = settings_of(context, host=host, port=port)
    search.open_catalog(settings.catalog_path).conn.close()
    site = SiteProcess(settings.catalog_path, settings.host, settings.port)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: site.stop())
    site.start()
    click.echo(f"Serving {settings.catalog_path} at {site.url}", err=True)
    site.wait()
    return DONE
