"""Command that decides which skill has a name."""

from typing import Any, cast

import click

from catalog.model.paths import is_utf8, text_path
from catalog.text.display import visible
from pipeline.cli.folder_argument import absolute_path
from pipeline.cli.options import DONE, as_json_option, settings_of, to_json
from pipeline.sync.request_handlers import handle


@click.command()
@click.argument("path")
@as_json_option
@click.pass_context
def prefer(context: click.Context, path: str, as_json: bool) -> int:
    """Give the skill in the folder PATH its name, before other skills of its level and name.

    Without this command, the skill that took a name first keeps it, and later ones are shadowed.
    For the present winner, it settles the conflict: `status` no longer reports it. PATH may be
    relative to its root. While `skilldrop up` runs, the service carries this out.

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
