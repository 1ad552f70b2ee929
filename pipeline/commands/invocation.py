"""What every command shares: exit codes, the settings in force, and how JSON is printed."""

import json
from pathlib import Path
from typing import Any

import click

from pipeline.config import Settings

DONE, FINDINGS, WRONG_USAGE, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""

A_PATH = click.Path(path_type=Path, readable=False)  # we say ourselves what cannot be read

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def settings_of(context: click.Context, **given: Any) -> Settings:
    """Load the settings, with what was given on the command line in their place."""
    settings: Settings = context.obj()
    return settings.model_copy(update={k: v for k, v in given.items() if v is not None})


def to_json(value: Any) -> str:
    """Return JSON for people and programs, with its non-ASCII text readable."""
    return json.dumps(value, ensure_ascii=False, indent=2)
