"""Commands that keep links to skills, or copies of them, in directories of agents."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from catalog.database.connection import explained, open_catalog
from catalog.model.errors import NotLinked
from catalog.model.paths import is_utf8
from catalog.reading import agent_entries
from catalog.text.suggestions import few
from catalog.text.visible import visible
from catalog.writing.links import table
from pipeline.cli.filter_options import selected, selection_of, with_index_or_words
from pipeline.cli.options import (
    DONE,
    FINDINGS,
    PATH,
    Answer,
    confirm,
    with_json,
    with_settings,
    yes_option,
)
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.service.requests import handle


@click.command()
@click.argument("directory", type=PATH)
@with_index_or_words
@click.option("--copy", is_flag=True, help="Keep plain folders there instead of links.")
@yes_option
@with_json
@with_settings
def link(settings: Settings, /, directory: Path, copy: bool, yes: bool, **options: Any) -> Answer:
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
        _check(settings, path, chosen, yes=yes)
    result = handle(settings, "link", {"path": path, "copy": copy, **chosen})
    code = FINDINGS if result["taken"] else DONE
    return Answer(result, _linked(result, copy=copy), code)


def _linked(result: Mapping[str, Any], *, copy: bool) -> Iterator[str]:
    done, place = ("copied", "to") if copy else ("linked", "in")
    yield f"{counted(result['linked'], 'skill')} {done} {place} {visible(result['directory'])}"
    if result["taken"]:
        yield f"not {done}, because the name is taken there: {few(result['taken'])}"


def _check(settings: Settings, path: str, chosen: Mapping[str, Any], *, yes: bool) -> None:
    """Check a typed filter, and ask before most of the links in a directory are removed."""
    of_index = {spec.name: spec.selection for spec in settings.indexes}.get(chosen.get("index", ""))
    if "index" in chosen and not (of_index and settings.catalog_path.exists()):
        return  # the request tells which indexes there are
    with explained(settings.catalog_path):
        db = open_catalog(settings.catalog_path)
        selection = of_index or selection_of(db, chosen)
        wanted = {entry.name for entry in agent_entries.entries(db, selection)}
        for row in table.directories(db):
            if row.spec.path in (path, os.path.realpath(path)):
                linked = {one.name for one in table.stored_links(db, row).values() if one.is_linked}
                things = f"links in {visible(path)}"
                confirm(len(linked - wanted), len(linked), things, yes=yes)


@click.command()
@click.argument("directory", type=PATH)
@with_json
@with_settings
def unlink(settings: Settings, directory: Path) -> Answer:
    """Remove the links and copies of skilldrop from DIRECTORY.

    Everything else in it stays.

    \b
    Example:
      skilldrop unlink ~/.claude/skills
    """
    result = handle(settings, "unlink", {"path": _absolute(directory)})
    removed = counted(len(result["removed"]), "skill")
    return Answer(result, [f"{removed} removed from {visible(result['directory'])}"])


def _absolute(directory: Path) -> str:
    path = os.path.abspath(os.path.expanduser(directory))
    if not is_utf8(path):
        raise NotLinked(f"{visible(path)} is not valid UTF-8, so the catalog cannot remember it.")
    return path
