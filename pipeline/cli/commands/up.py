"""Commands that run the service, or only its site."""

import logging
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from catalog.database.connection import explained, open_catalog, service_runs
from catalog.model.errors import CatalogBusy
from catalog.site import address
from catalog.site.server.process import SiteProcess
from pipeline.cli.options import DONE, settings_of, site_address
from pipeline.cli.output import terminal
from pipeline.config.settings import Settings
from pipeline.service.loop import Service
from pipeline.service.open_catalog import open_store

_PORT = click.IntRange(1, 65535)
_PORT.name = "port"  # for "is not a valid port"


@click.command()
@click.option("--host", help="Address that the site listens on.  [default: 127.0.0.1]")
@click.option("--port", type=_PORT, help="Port of the site.  [default: 8001]")
@click.option("--no-site", is_flag=True, help="Do not serve the site.")
@click.pass_context
def up(context: click.Context, host: str | None, port: int | None, no_site: bool) -> None:
    """Watch the roots, update the catalog and serve the site until stopped.

    \b
    Example:
      skilldrop --watched /srv/skills --data /var/lib/skilldrop up --port 8080
    """
    settings = settings_of(context, host=host, port=port)
    site = (
        site_process(settings, settings.data / "site.log")
        if settings.site.enabled and not no_site
        else None
    )
    write_log()
    last_message = "Stopped."
    service: Service | None = None

    def stop(number: int, _: object) -> None:
        nonlocal last_message
        last_message = f"Stopped by {signal.Signals(number).name}."
        if not service:  # the catalog is consistent at every moment
            _print(last_message)
            raise SystemExit(DONE)
        service.stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, stop)
    with terminal.progress("packages") as progress, _pointer_if_busy(settings):
        store = open_store(settings, progress)
    try:
        service = running = Service(settings, store, site)
        signal.signal(signal.SIGURG, lambda *_: running.wake())  # at a request
        with explained(settings.catalog_path):  # else a broken pipe would seem to be stdout's
            service.run(lambda: _print(_welcome(settings, site.url if site else None)))
    finally:
        store.close()
    _print(last_message)


@contextmanager
def _pointer_if_busy(settings: Settings) -> Iterator[None]:
    """Mention the site of the service that has the catalog open already."""
    try:
        yield
    except CatalogBusy as error:
        if not service_runs(settings.catalog_path):
            raise
        health = next(open_catalog(settings.catalog_path).query("SELECT * FROM health"))
        host, port = site_address(health, settings)
        site = f"; its site is {address.url(host, port)}" if host else ""
        raise CatalogBusy(f"`skilldrop up` runs here already{site}. {error}") from error


def _print(message: str) -> None:
    """Print to standard error; a closed stream must not end the service."""
    with suppress(OSError, ValueError):
        click.echo(message, err=True)


def _welcome(settings: Settings, site: str | None) -> str:
    """Return the paths of the roots, the address of the site, and the paths for agents."""
    lines = [
        f"Follow the repository    {root.origin}"
        if root.origin
        else f"Drop skill folders into  {root.path}"
        for root in settings.root_specs
    ]
    if site:
        lines.append(f"Browse the catalog at    {site}")
    lines += [
        f"Read the prompt index    {settings.index_folder / spec.file_name}"
        for spec in settings.indexes
    ]
    lines.append(f"Point agents to          {settings.skills_folder}")
    return "\n".join([*lines, "Stop with Ctrl-C."])


def write_log() -> None:
    """Send all log records to standard error."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", force=True
    )
    logging.getLogger("watchdog").setLevel(logging.ERROR)  # its warnings do not matter here


TICK = 1.0
"""Seconds between two checks that the site runs."""


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=_PORT, help="Port to listen on.  [default: 8001]")
@click.pass_context
def serve(context: click.Context, host: str | None, port: int | None) -> None:
    """Serve the catalog read-only, without watching the roots.

    \b
    Example:
      skilldrop --data /var/lib/skilldrop serve --port 8080
    """
    settings = settings_of(context, host=host, port=port)
    open_catalog(settings.catalog_path).conn.close()
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


def site_process(settings: Settings, log_file: Path | None = None) -> SiteProcess:
    """Return the process of the site, which writes to a log file or to the output of this one."""
    site = settings.site
    return SiteProcess(
        settings.catalog_path, site.host, site.port, log_file, site, usage=settings.usage
    )
