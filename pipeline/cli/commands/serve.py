"""Command that serves only the site."""

import signal
import threading
import time
from pathlib import Path

import click

from catalog.database import connection
from catalog.site.server.process import SiteOptions, SiteProcess
from pipeline.cli.options import DONE, settings_of
from pipeline.config.settings import Settings

TICK = 1.0
"""Seconds between two checks that the site runs."""


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on.  [default: 8001]")
@click.pass_context
def serve(context: click.Context, host: str | None, port: int | None) -> int:
    """Serve the catalog read-only, without watching the roots.

    \b
    Example:
      skilldrop --data /var/lib/skilldrop serve --port 8080
    """
    settings = settings_of(context, host=host, port=port)
    connection.open_catalog(settings.catalog_path).conn.close()
    site = site_process(settings)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    site.start()
    click.echo(f"Serving {settings.catalog_path} at {site.url}", err=True)
    try:
        while not stopped.wait(TICK):
            site.ensure_running(time.monotonic())
    finally:
        site.stop()
    return DONE


def site_process(settings: Settings, log_file: Path | None = None) -> SiteProcess:
    """Return the process of the site, which writes to a log file or to the output of this one."""
    site = settings.site
    options = SiteOptions(
        site.names, site.sql, settings.usage, site.url or "", behind_proxy=site.behind_proxy
    )
    return SiteProcess(settings.catalog_path, site.host, site.port, log_file, options)
