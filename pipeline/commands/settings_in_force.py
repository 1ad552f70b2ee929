"""The settings in force for a command."""

from typing import Any

import click

from pipeline import config
from pipeline.commands.invocation import Where
from pipeline.config import Settings


def settings_of(context: click.Context, **given: Any) -> Settings:
    """Load the settings, with what was given on the command line in their place."""
    where: Where = context.obj
    settings = config.load(*where)
    return settings.model_copy(update={k: v for k, v in given.items() if v is not None})
