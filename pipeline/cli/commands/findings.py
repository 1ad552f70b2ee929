"""Commands about findings: lists them, or explains one."""

import difflib

import click

from catalog.database import connection
from catalog.model.errors import NotInCatalog
from catalog.reading import browse, named
from pipeline.cli.options import DONE, FINDINGS, as_json_option, settings_of, to_json
from pipeline.cli.output import rule_page, terminal
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


@click.command()
@click.argument("code", required=False)
def rule(code: str | None) -> int:
    """Explain the finding CODE, with examples; without CODE, list all codes.

    \b
    Examples:
      skilldrop rule name-not-folder
      skilldrop rule | grep safety
    """
    if code is None:
        for kind in REGISTRY.values():
            terminal.echo(f"{kind.code:32} {kind.profile:12} {kind.severity:8} {kind.summary}")
        return DONE
    if code not in REGISTRY:
        near = difflib.get_close_matches(code, REGISTRY, n=1)
        hint = f"did you mean {near[0]}?" if near else "`skilldrop rule` lists all codes."
        raise click.UsageError(f"There is no finding {code!r}; {hint}")
    terminal.echo(rule_page.page(REGISTRY[code]))
    return DONE
