"""The command that says how the catalog is."""

import click

from catalog.database import connection as database_connection
from catalog.database.connection import explained
from catalog.reading import search
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, FINDINGS, as_json_option, to_json
from pipeline.cli.output import status as output_status


@click.command()
@click.option(
    "--check", is_flag=True, help="Say health alone; exit 1 unless a service runs and needs nobody."
)
@as_json_option
@click.pass_context
def status(context: click.Context, check: bool, as_json: bool) -> int:
    """Say how the catalog is: its health, counts, and what waits or is rejected, and why.

    \b
    Examples:
      skilldrop status --json
      skilldrop status --check || echo "somebody has to look"
    """
    catalog = settings_of(context).catalog_path
    with explained(catalog):
        found = search.status(database_connection.open_catalog(catalog), catalog)
    if as_json:
        click.echo(to_json(found))
    else:
        click.echo(output_status.health(found) if check else output_status.status(found))
    return FINDINGS if check and not output_status.health_of(found).is_followed else DONE
