"""Command that lists the findings of the catalog."""

import click

from catalog.database import connection
from catalog.model.errors import NotInCatalog
from catalog.reading import browse, named
from pipeline.cli.options import DONE, FINDINGS, as_json_option, settings_of, to_json
from pipeline.cli.output import terminal
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.cli.output.skills import finding_line


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
        rows = browse.listed_findings(db, code=about)
    elif about:
        try:
            rows = browse.listed_findings(db, skill=named.find_skill(db, about)["id"])
        except NotInCatalog as error:
            raise NotInCatalog(f"{error} Nor is there a finding of this code.") from None
    else:
        rows = browse.listed_findings(db)
    if as_json:
        click.echo(to_json(rows))
    else:
        for row in rows:
            terminal.echo(finding_line(row))
        click.echo(f"{terminal.counted(len(rows), 'finding')}.", err=True)
    return FINDINGS if any(row["severity"] == "error" for row in rows) else DONE
