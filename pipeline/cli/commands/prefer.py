"""Command that decides which skill has a name."""

from typing import Any, cast

import click

from catalog.model.paths import is_utf8, text_path
from catalog.text.visible import visible
from pipeline.cli.folder_argument import absolute_path
from pipeline.cli.options import DONE, as_json_option, settings_of, to_json
from pipeline.service.requests import handle


@click.command()
@click.argument("path")
@as_json_option
@click.pass_context
def prefer(context: click.Context, path: str, as_json: bool) -> int:
    """Make the skill in PATH win over other skills with the same name and level.

    By default, the skill that had the name first keeps it, and later ones are shadowed. If PATH
    wins already, this settles the conflict: `status` no longer reports it. PATH is a folder, and
    may be relative to its root.

    \b
    Examples:
      skilldrop prefer watched/csv-profile
      skilldrop prefer team-a/csv-profile --json
    """
    settings = settings_of(context)
    arguments: dict[str, Any] = {
        "folder": path if is_utf8(path) else text_path(path),
        "absolute": absolute_path(settings, path),
    }
    result = cast(dict[str, Any], handle(settings, "prefer", arguments))
    if as_json:
        click.echo(to_json(result))
        return DONE
    for skill in result["skills"]:
        click.echo(visible(f"{skill['status']} {skill['name']} in {skill['root']}/{skill['path']}"))
    return DONE
