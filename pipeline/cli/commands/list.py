"""Commands that list skills and findings of the catalog."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from catalog.database import connection
from catalog.model.errors import NotInCatalog
from catalog.reading import listing, versions
from catalog.text.display import visible
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, FINDINGS, as_json_option, to_json
from pipeline.cli.output import columns, terminal
from pipeline.cli.output.finding_line import finding_line
from pipeline.cli.output.finding_types import REGISTRY
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
    rows = listing.skills(db, parsed(filters))
    if as_json:
        click.echo(to_json(rows))
        return DONE
    for line in _skill_lines(rows):
        terminal.echo(line)
    click.echo(f"{terminal.counted(len(rows), 'skill')}.", err=True)
    return DONE


@click.command()
@click.argument("about", metavar="[SKILL|CODE]", required=False)
@as_json_option
@click.pass_context
def findings(context: click.Context, about: str | None, as_json: bool) -> int:
    """List the findings of the catalog, or only those of SKILL or with CODE.

    Exit 1 if one of them is an error. `skilldrop rule CODE` explains a finding.

    \b
    Examples:
      skilldrop findings
      skilldrop findings csv-profile
      skilldrop findings name-not-folder --json
    """
    db = connection.open_catalog(settings_of(context).catalog_path)
    if about and about in REGISTRY:
        rows = listing.findings(db, code=about)
    elif about:
        try:
            rows = listing.findings(db, skill=versions.find_skill(db, about)["id"])
        except NotInCatalog as error:
            raise NotInCatalog(f"{error} Nor is there a finding of this code.") from None
    else:
        rows = listing.findings(db)
    if as_json:
        click.echo(to_json(rows))
    else:
        for row in rows:
            terminal.echo(finding_line(row))
        click.echo(f"{terminal.counted(len(rows), 'finding')}.", err=True)
    return FINDINGS if any(row["severity"] == "error" for row in rows) else DONE


def _skill_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each skill: name, status unless active, and description."""
    room = shutil.get_terminal_size((100, 24)).columns
    labels = [
        visible(row["name"]) + ("" if row["status"] == "active" else f" ({row['status']})")
        for row in rows
    ]
    widest = min(max(map(columns.width, labels), default=0), room // 3)
    for row, label in zip(rows, labels, strict=True):
        padded = label + " " * (widest - columns.width(label))
        yield columns.cut(f"{padded}  {visible(row['description'])}", room).rstrip()
