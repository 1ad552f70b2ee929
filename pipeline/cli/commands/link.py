"""Commands that keep links to skills in directories of agents."""

import os
from pathlib import Path
from typing import Any, cast

import click

from catalog.model.errors import NotLinked
from catalog.model.paths import is_utf8
from catalog.text.display import visible
from catalog.text.suggestions import few
from pipeline.cli.context import settings_of
from pipeline.cli.options import (
    DONE,
    FINDINGS,
    PATH,
    as_json_option,
    filter_options,
    selected,
    to_json,
)
from pipeline.cli.output.terminal import counted
from pipeline.sync.request_handlers import handle


@click.command()
@click.argument("directory", type=PATH)
@filter_options
@as_json_option
@click.pass_context
def link(context: click.Context, /, directory: Path, as_json: bool, **options: Any) -> int:
    """Keep a link to each selected skill in DIRECTORY, for agents.

    Each link has the name of its skill and leads to the current version. skilldrop remembers the
    directory, and adds and removes links as skills come and go. Files, folders and links of others
    in it are never touched; exit 1 if one of them has the name of a skill. A second `link` changes
    the filter. While `skilldrop up` runs, the service carries this out.

    \b
    Examples:
      skilldrop link ~/.claude/skills
      skilldrop link agents/office --tag office --json
    """
    result = _changed(context, "link", {"path": _absolute(directory), **selected(options)})
    if as_json:
        click.echo(to_json(result))
    else:
        click.echo(f"{counted(result['linked'], 'skill')} linked in {visible(result['directory'])}")
        if result["taken"]:
            click.echo(f"not linked, because the name is taken there: {few(result['taken'])}")
    return FINDINGS if result["taken"] else DONE


@click.command()
@click.argument("directory", type=PATH)
@as_json_option
@click.pass_context
def unlink(context: click.Context, directory: Path, as_json: bool) -> int:
    """Remove the links of skilldrop from DIRECTORY.

    Everything else in it stays. While `skilldrop up` runs, the service carries this out.

    \b
    Example:
      skilldrop unlink ~/.claude/skills
    """
    result = _changed(context, "unlink", {"path": _absolute(directory)})
    if as_json:
        click.echo(to_json(result))
    else:
        removed = counted(len(result["removed"]), "link")
        click.echo(f"{removed} removed from {visible(result['directory'])}")
    return DONE


def _absolute(directory: Path) -> str:
    path = os.path.abspath(os.path.expanduser(directory))
    if not is_utf8(path):
        raise NotLinked(f"{visible(path)} is not valid UTF-8, so the catalog cannot remember it.")
    return path


def _changed(context: click.Context, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return cast(dict[str, Any], handle(settings_of(context), action, arguments))
