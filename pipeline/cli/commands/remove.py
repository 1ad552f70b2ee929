"""Command that moves a skill to the trash."""

from datetime import datetime

import click

from catalog.database import connection
from catalog.model.errors import NotRemoved
from catalog.model.paths import is_utf8, text_path
from catalog.reading import skill_folders
from catalog.text.display import visible
from catalog.text.suggestions import few, shown
from pipeline.authoring import trash
from pipeline.cli.context import settings_of
from pipeline.cli.folder_argument import absolute_path
from pipeline.cli.options import DONE, as_json_option, to_json


@click.command()
@click.argument("skill")
@as_json_option
@click.pass_context
def remove(context: click.Context, skill: str, as_json: bool) -> int:
    """Move the folder of SKILL, or its archive, to a dated trash; nothing is deleted.

    SKILL is a name, or the folder of one of several skills with that name, which may be relative
    to its root. The trash is in the data directory, or beside the root where that is on another
    file system. A running service notices the removal at once; otherwise the next `scan` does.

    \b
    Examples:
      skilldrop remove csv-profile
      skilldrop remove watched/team-b/csv-profile
    """
    settings = settings_of(context)
    db = connection.open_catalog(settings.catalog_path)
    text = skill if is_utf8(skill) else text_path(skill)
    row = skill_folders.find_or_named(db, text, absolute_path(settings, skill))
    if row["status"] == "removed":
        raise NotRemoved(f"The folder of {shown(skill)} is gone already.")
    moved = trash.move(db, row, settings.data, datetime.now())
    if as_json:
        click.echo(to_json(moved.as_json()))
        return DONE
    along = f" With it went the skills inside it: {few(moved.others)}." if moved.others else ""
    if moved.used_by:
        along += f" It is used by {few(moved.used_by)}; `skilldrop status` lists what breaks."
    click.echo(visible(f"Moved {moved.source} to {moved.place}.{along}"))
    return DONE
