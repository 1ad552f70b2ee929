"""Commands that keep links to skills, or copies of them, in directories of agents."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import click

from catalog.database import connection
from catalog.database.connection import explained
from catalog.model.errors import NotLinked
from catalog.model.paths import is_utf8
from catalog.model.selection import Selection
from catalog.reading import agent_entries
from catalog.text.suggestions import few
from catalog.text.visible import visible
from catalog.writing.links import table
from pipeline.cli.options import (
    DONE,
    FINDINGS,
    PATH,
    as_json_option,
    confirm,
    filter_options,
    selected,
    settings_of,
    to_json,
    yes_option,
)
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.service.requests import handle


@click.command()
@click.argument("directory", type=PATH)
@filter_options
@click.option("--copy", is_flag=True, help="Keep plain folders there instead of links.")
@yes_option
@as_json_option
@click.pass_context
def link(
    context: click.Context, /, directory: Path, copy: bool, yes: bool, as_json: bool, **options: Any
) -> int:
    """Keep a link to each selected skill in DIRECTORY, for agents.

    Each link has the name of its skill and leads to its current version. With --copy, the directory
    has plain folders instead, for agents that refuse links, for containers and for other file
    systems. skilldrop remembers the directory and keeps it up to date. Other files, folders and
    links in it are never touched; exit 1 if one of them has the name of a skill. A second `link`
    changes the filter, or changes links to copies and back.

    \b
    Examples:
      skilldrop link ~/.claude/skills
      skilldrop link --copy agents/office --tag office
    """
    path, chosen = _absolute(directory), selected(options)
    if chosen:
        _check(settings_of(context), path, chosen, yes=yes)
    result = _changed(context, "link", {"path": path, "copy": copy, **chosen})
    if as_json:
        click.echo(to_json(result))
    else:
        done, skills = "copied" if copy else "linked", counted(result["linked"], "skill")
        click.echo(f"{skills} {done} {'to' if copy else 'in'} {visible(result['directory'])}")
        if result["taken"]:
            click.echo(f"not {done}, because the name is taken there: {few(result['taken'])}")
    return FINDINGS if result["taken"] else DONE


@click.command()
@click.argument("directory", type=PATH)
@as_json_option
@click.pass_context
def unlink(context: click.Context, directory: Path, as_json: bool) -> int:
    """Remove the links and copies of skilldrop from DIRECTORY.

    Everything else in it stays.

    \b
    Example:
      skilldrop unlink ~/.claude/skills
    """
    result = _changed(context, "unlink", {"path": _absolute(directory)})
    if as_json:
        click.echo(to_json(result))
    else:
        removed = counted(len(result["removed"]), "skill")
        click.echo(f"{removed} removed from {visible(result['directory'])}")
    return DONE


def _check(settings: Settings, path: str, options: dict[str, Any], *, yes: bool) -> None:
    """Check a typed filter, and ask before most of the links in a directory are removed."""
    if "index" not in options:
        selection = Selection(**{key: tuple(words) for key, words in options.items()})
    else:
        specs = {spec.name: spec for spec in settings.indexes}
        if options["index"] not in specs or not settings.catalog_path.exists():
            return  # the request tells which indexes there are
        selection = specs[options["index"]].selection
    db = connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path), closing(db.conn):
        if "index" not in options:
            agent_entries.check_typed(db, selection)
        wanted = {entry.name for entry in agent_entries.entries(db, selection)}
        for row in table.directories(db):
            if row.spec.path in (path, os.path.realpath(path)):
                linked = {one.name for one in table.stored_links(db, row).values() if one.is_linked}
                things = f"links in {visible(path)}"
                confirm(len(linked - wanted), len(linked), things, yes=yes)


def _absolute(directory: Path) -> str:
    path = os.path.abspath(os.path.expanduser(directory))
    if not is_utf8(path):
        raise NotLinked(f"{visible(path)} is not valid UTF-8, so the catalog cannot remember it.")
    return path


def _changed(context: click.Context, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return cast(dict[str, Any], handle(settings_of(context), action, arguments))
