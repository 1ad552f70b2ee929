"""Parts that all commands share: exit codes, settings options and JSON."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import click

DONE, FINDINGS, USAGE_ERROR, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""

PATH = click.Path(path_type=Path, readable=False)  # we say ourselves what cannot be read

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class GlobalOptions(NamedTuple):
    """What the command line says of where the settings are; the commands' `context.obj`."""

    config: Path | None
    watched: Path | None
    data: Path | None


def to_json(value: Any) -> str:
    """Return JSON for people and programs, with its non-ASCII text readable."""
    return json.dumps(value, ensure_ascii=False, indent=2)
