"""Settings in force for a command, and the address of the site."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.options import GlobalOptions
from pipeline.config import reading
from pipeline.config.reading import ReadingSettings

if TYPE_CHECKING:
    from pipeline.config.scan_settings import ScanSettings
    from pipeline.config.settings import Settings


def reading_settings_of(context: click.Context) -> ReadingSettings:
    """Load the settings of a command that only reads the catalog."""
    options: GlobalOptions = context.obj
    return reading.load(*options)


def settings_of(context: click.Context) -> "ScanSettings":
    """Load the settings of a command that changes the catalog."""
    from pipeline.config import quick_loader  # commands that only read start without it

    options: GlobalOptions = context.obj
    return quick_loader.load(*options)


def all_settings_of(context: click.Context, **site: Any) -> "Settings":
    """Load all settings; site options of the command line override those of the file."""
    from pipeline.config import loader  # its library is slow to import

    options: GlobalOptions = context.obj
    settings = loader.load(*options)
    overrides = {key: value for key, value in site.items() if value is not None}
    return settings.model_copy(update={"site": settings.site.model_copy(update=overrides)})


def site_address(
    health: Mapping[str, Any], settings: "ReadingSettings | Settings"
) -> tuple[str | None, int]:
    """Return host and port of the site of the running service, or else of the settings.

    The host is None if there is no site. health is the health row of the catalog.
    """
    site = settings.site
    if health["service_pid"]:
        return health["site_host"], health["site_port"] or site.port
    return site.host if site.enabled else None, site.port
