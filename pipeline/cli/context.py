"""Settings in force for a command, and the address of the site."""

from collections.abc import Mapping
from typing import Any

import click

from pipeline.cli.options import GlobalOptions
from pipeline.config import loader
from pipeline.config.settings import Settings


def settings_of(context: click.Context, **site: Any) -> Settings:
    """Load the settings; site options of the command line override those of the file."""
    options: GlobalOptions = context.obj
    settings = loader.load(*options)
    overrides = {key: value for key, value in site.items() if value is not None}
    return settings.model_copy(update={"site": settings.site.model_copy(update=overrides)})


def site_address(health: Mapping[str, Any], settings: Settings) -> tuple[str | None, int]:
    """Return host and port of the site of the running service, or else of the settings.

    The host is None if there is no site. health is the health row of the catalog.
    """
    site = settings.site
    if health["service_pid"]:
        return health["site_host"], health["site_port"] or site.port
    return site.host if site.enabled else None, site.port
