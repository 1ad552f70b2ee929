"""Command that lists the skills of the catalog."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from catalog.database import connection
from catalog.reading import browse
from catalog.text.visible import visible
from pipeline.cli.options import DONE, as_json_option, settings_of, to_json
from pipeline.cli.output import terminal
from pipeline.cli.search_filters import parsed, with_filters


@click.command(name="list")
@with_filters
@as_json_option
@click.pass_context
def list_(context: click.Context, /, as_json: bool, **filters: Any) -> int:
    """List the skills of the catalog by name, by default the active ones.

    \b
    Examples:
      skilldrop list
      skilldrop list --status all --root team-a
      skilldrop list --namespace team-a
      skilldrop list --tag csv --json
    """
    db = connection.open_catalog(settings_of(context).catalog_path)
    rows = browse.listed_skills(db, parsed(filters))
    if as_json:
        click.echo(to_json(rows))
        return DONE
    for line in _skill_lines(rows):
        terminal.echo(line)
    click.echo(f"{terminal.counted(len(rows), 'skill')}.", err=True)
    return DONE


def _skill_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each skill: name, status unless active, and description."""
    room = shutil.get_terminal_size((100, 24)).columns
    labels = [
        visible(row["name"]) + ("" if row["status"] == "active" else f" ({row['status']})")
        for row in rows
    ]
    widest = min(max(map(terminal.width, labels), default=0), room // 3)
    for row, label in zip(rows, labels, strict=True):
        padded = label + " " * (widest - terminal.width(label))
        yield terminal.cut(f"{padded}  {visible(row['description'])}", room).rstrip()
