"""Command that lists the versions of a skill."""

import click

from catalog.database import connection as database_connection
from catalog.reading import versions as reading_versions
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, as_json_option, to_json
from pipeline.cli.output import status as output_status


@click.command()
@click.argument("skill")
@click.option("--diff", is_flag=True, help="Also show the changes of SKILL.md.")
@as_json_option
@click.pass_context
def versions(context: click.Context, skill: str, diff: bool, as_json: bool) -> int:
    """List the versions of SKILL and their changes, newest first.

    \b
    Examples:
      skilldrop versions csv-profile
      skilldrop versions csv-profile --diff
    """
    db = database_connection.open_catalog(settings_of(context).catalog_path)
    history = reading_versions.history(db, skill).as_json()
    click.echo(to_json(history) if as_json else output_status.versions(history, diff=diff))
    return DONE
