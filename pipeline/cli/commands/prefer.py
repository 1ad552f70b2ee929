"""Command that decides which skill has a name."""

import os
from pathlib import Path
from typing import Any, cast

import click

from catalog.model.paths import is_utf8, os_path, text_path
from catalog.text.display import visible
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, as_json_option, to_json
from pipeline.config.settings import Settings
from pipeline.sync.request_handlers import handle
from pipeline.sync.run_once import unit_at


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
        "absolute": _absolute(settings, path),
    }
    result = cast(dict[str, Any], handle(settings, "prefer", arguments))
    if as_json:
        click.echo(to_json(result))
        return DONE
    for skill in result["skills"]:
        click.echo(visible(f"{skill['status']} {skill['name']} in {skill['root']}/{skill['path']}"))
    return DONE


def _absolute(settings: Settings, path: str) -> str:
    """Return the absolute path of a folder, as text of the catalog."""
    unit = unit_at(settings, Path(path))
    absolute = f"{unit.root}/{unit.path}" if unit else text_path(str(Path(path).absolute()))
    # A path inside an archive is on no disk; a person writes it as the catalog shows it.
    is_as_shown = is_utf8(path) and not os.path.lexists(path)
    return os_path(absolute) if is_as_shown else absolute
