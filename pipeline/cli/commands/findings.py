"""Command that lists the findings of the catalog."""

import click

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.reading import browse, named
from pipeline.cli.options import DONE, FINDINGS, Answer, with_catalog
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.cli.output.skills import finding_line
from pipeline.cli.output.terminal import counted


@click.command()
@click.argument("about", metavar="[SKILL|CODE]", required=False)
@with_catalog
def findings(_: object, db: Database, about: str | None) -> Answer:
    """List the findings of the catalog, or only those of SKILL or with CODE.

    Exit 1 if one of them is an error. `skilldrop rule CODE` explains a finding.

    \b
    Examples:
      skilldrop findings
      skilldrop findings csv-profile
      skilldrop findings name-not-folder --json
    """
    if not about or about in REGISTRY:
        rows = browse.listed_findings(db, code=about or "")
    else:
        try:
            rows = browse.listed_findings(db, skill=named.find_skill(db, about)["id"])
        except NotInCatalog as error:
            raise NotInCatalog(f"{error} Nor is there a finding of this code.") from None
    code = FINDINGS if any(row["severity"] == "error" for row in rows) else DONE
    return Answer(rows, map(finding_line, rows), code, f"{counted(len(rows), 'finding')}.")
