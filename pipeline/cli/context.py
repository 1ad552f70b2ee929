"""Settings in force for a command."""

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
