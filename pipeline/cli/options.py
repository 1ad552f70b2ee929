"""Exit codes, global options and JSON output, shared by all commands."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import click

DONE, FINDINGS, USAGE_ERROR, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""

PATH = click.Path(path_type=Path, readable=False)  # the command reports unreadable paths

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class GlobalOptions(NamedTuple):
    """Options of all commands, which say where settings and data are; `context.obj`."""

    config: Path | None
    watched: Path | None
    data: Path | None


def to_json(value: Any) -> str:
    """Return indented JSON in which non-ASCII text stays readable."""
    return json.dumps(value, ensure_ascii=False, indent=2)
