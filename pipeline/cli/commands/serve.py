"""Command that serves only the site."""

import signal
import threading
import time

import click

from catalog.database import connection
from catalog.site.server.process import SiteProcess
from pipeline.cli.options import DONE, settings_of

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
    site = SiteProcess(
        settings.catalog_path,
        settings.site.host,
        settings.site.port,
        names=settings.site.names,
        sql=settings.site.sql,
        usage=settings.usage,
        url=settings.site.url or "",
        behind_proxy=settings.site.behind_proxy,
    )
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
