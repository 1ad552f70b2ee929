"""The command that keeps the catalog up to date for as long as it runs."""

from contextlib import suppress
from typing import get_args

import click

from catalog.database.connection import explained
from catalog.site.server.process import SiteProcess
from pipeline.cli import stopping
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE
from pipeline.cli.output import terminal
from pipeline.cli.output.log_format import LogFormat, write_log
from pipeline.config.settings import Settings
from pipeline.service.loop import Service
from pipeline.sync.open_catalog import open_store


@click.command()
@click.option("--host", help="Address of the site.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the site.  [default: 8001]")
@click.option("--no-site", is_flag=True, help="Only watch; serve nothing.")
@click.option(
    "--log-format",
    type=click.Choice(get_args(LogFormat)),
    default="text",
    show_default=True,
    help="How the log on standard error is written.",
)
@click.pass_context
def up(
    context: click.Context, host: str | None, port: int | None, no_site: bool, log_format: LogFormat
) -> int:
    """Watch, re-scan and serve until stopped.

    \b
    Example:
      skilldrop --watched /srv/skills --data /var/lib/skilldrop up --port 8080
    """
    settings = settings_of(context, host=host, port=port)
    site = (
        SiteProcess(
            settings.catalog_path,
            settings.site.host,
            settings.site.port,
            settings.data / "site.log",
            names=settings.site.names,
            sql=settings.site.sql,
        )
        if settings.site.enabled and not no_site
        else None
    )
    write_log(log_format)
    stopped_by: list[int] = []
    service: Service | None = None

    def stop(number: int, _: object) -> None:
        stopped_by.append(number)
        if not service:  # the catalog is whole at every moment
            _say(stopping.sentence(number))
            raise SystemExit(DONE)
        service.stop()

    stopping.stop_by(stop)
    with terminal.progress("packages") as progress:
        store = open_store(settings, progress)
    try:
        service = Service(settings, store, site)
        with explained(settings.catalog_path):  # else a broken pipe would be taken for a reader's
            service.run(lambda: _say(_welcome(settings, site.url if site else None)))
    finally:
        store.close()
    _say(stopping.sentence(stopped_by[0]) if stopped_by else "Stopped.")
    return DONE


def _say(message: str) -> None:
    """Print to standard error, which may be closed by now: that is no reason to end."""
    with suppress(OSError, ValueError):
        click.echo(message, err=True)


def _welcome(settings: Settings, site: str | None) -> str:
    """Say where to drop folders, and where site and index files are."""
    lines = [f"Drop skill folders into  {root.path}" for root in settings.root_specs]
    if site:
        lines.append(f"Browse the catalog at    {site}")
    lines += [
        f"Agents fetch the index   {settings.index_folder / spec.file_name}"
        for spec in settings.index_specs
    ]
    return "\n".join([*lines, "Stop with Ctrl-C."])
