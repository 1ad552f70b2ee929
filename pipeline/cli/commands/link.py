"""Commands that give skills to agents: links and copies."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from catalog.database.connection import explained, open_catalog
from catalog.database.queries import Database
from catalog.export.published_skills import PublishedSkills
from catalog.listings.agents import AGENTS, meant, reader_of
from catalog.model.errors import NotPossible
from catalog.model.paths import is_utf8
from catalog.pull import folder as pull_folder
from catalog.pull.folder import Folder
from catalog.pull.program import agrees, said
from catalog.reading import told_skills
from catalog.reading.skills import offered
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
    with_catalog,
    with_json,
    with_settings,
    yes_option,
)
from pipeline.cli.output import terminal
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.service.requests import handle


@click.command()
@click.argument("directory", type=PATH)
@with_index_or_words
@click.option("--copy", is_flag=True, help="Keep plain folders there instead of links.")
@click.option(
    "--for",
    "agent",
    type=click.Choice(list(AGENTS)),
    help="The agent that reads DIRECTORY; by default the one that is known to do so.",
)
@click.option(
    "--fit",
    is_flag=True,
    help="Place only the skills that the agent tells its model whole, and one that finds others.",
)
@yes_option
@with_json
@with_settings
def link(
    settings: Settings,
    /,
    directory: Path,
    copy: bool,
    agent: str | None,
    fit: bool,
    yes: bool,
    **options: Any,
) -> Answer:
    """Keep a link to each selected skill in DIRECTORY, for agents.

    Each link has the name of its skill and leads to its current version. With --copy, the directory
    has plain folders instead. skilldrop remembers the directory and keeps it up to date. Other
    files, folders and links in it are never touched; exit 1 if one of them has the name of a skill.
    A second `link` changes the filter, or changes links to copies and back.

    Agents tell their model the descriptions of skills as far as they have room; the answer says of
    which skills they do not. With --fit, the directory has only the first skills of an index that
    are told whole, and the skill skilldrop-search, with which the model finds the others.

    \b
    Examples:
      skilldrop link ~/.claude/skills
      skilldrop link ~/.codex/skills --fit
      skilldrop link --copy agents/office --tag office
    """
    path, chosen = _absolute(directory), selected(options)
    if chosen:
        _check(settings, path, chosen, agent or reader_of(directory), yes=yes)
    reader = {"for": agent} if agent else {}
    result = handle(settings, "link", {"path": path, "copy": copy, "fit": fit, **reader, **chosen})
    code = FINDINGS if result["taken"] else DONE
    near = None if agent or reader_of(directory) else meant(Path(path))
    advice = near and visible(f"No agent that skilldrop knows reads {path}; did you mean {near}?")
    return Answer(result, _linked(result, copy=copy), code, advice or "")


def _linked(result: Mapping[str, Any], *, copy: bool) -> Iterator[str]:
    done, place = ("copied", "to") if copy else ("linked", "in")
    skills, directory = counted(result["linked"], "skill"), visible(result["directory"])
    yield f"{done.capitalize()} {skills} {place} {directory}."
    if result["taken"]:
        yield f"not {done}, because the name is taken there: {few(result['taken'])}"
    if result["told"]:
        yield from map(visible, told_skills.lines(result["told"], result["linked"]))


def _check(
    settings: Settings, path: str, chosen: Mapping[str, Any], agent: str | None, *, yes: bool
) -> None:
    """Check a typed filter, and ask before most of the links in a directory are removed."""
    of_index = {spec.name: spec.selection for spec in settings.indexes}.get(chosen.get("index", ""))
    if "index" in chosen and not (of_index and settings.catalog_path.exists()):
        return  # the request tells which indexes there are
    with explained(settings.catalog_path):
        db = open_catalog(settings.catalog_path)
        among = offered.allowed_for(agent)
        selection = of_index or selection_of(db, chosen, among)
        wanted = {entry.name for entry in offered.entries(db, selection, among=among)}
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
    return Answer(result, [f"Removed {removed} from {visible(result['directory'])}."])


def _absolute(directory: Path) -> str:
    path = os.path.abspath(os.path.expanduser(directory))
    if not is_utf8(path):
        raise NotPossible(f"{visible(path)} is not valid UTF-8, so the catalog cannot remember it.")
    return path


@click.command()
@click.argument("directory", type=PATH)
@click.option(
    "--repair", is_flag=True, help="Repair SKILL.md where agents would not load it; see `show`."
)
@with_index_or_words
@yes_option
@with_catalog
def export(
    settings: Settings,
    db: Database,
    /,
    directory: Path,
    repair: bool,
    yes: bool,
    **options: Any,
) -> Answer:
    """Copy the published skills to DIRECTORY, with a lock file.

    Each skill is a folder with its name. Only differences are written, each folder in one step.
    The lock file skilldrop.lock lists the version, digest and files of each skill. A folder that
    was edited there stays, as do all other files; exit 1 if one of them has the name of a skill.

    \b
    Examples:
      skilldrop export image/skills --tag office
      skilldrop export image/skills --only report-writer --only csv-profile
    """
    directory = _outside(settings, directory)
    selection = selection_of(db, selected(options), offered.IN_INDEX)
    source = PublishedSkills(db, settings.packages_folder, selection, repair=repair)
    try:
        with terminal.progress("skills") as progress:
            result = Folder(directory).pull(
                source, "", partial(agrees, yes), lambda done, _: progress(done)
            )
    except pull_folder.NotPossible as error:
        raise NotPossible(str(error)) from error
    except OSError as error:
        raise NotPossible(f"{error.filename or directory}: {error.strerror}.") from error
    report = asdict(result) | {"directory": str(directory)}
    return Answer(report, said(result, directory), DONE if result.is_whole else FINDINGS)


def _outside(settings: Settings, path: Path) -> Path:
    """Return a path, with the home folder in place of `~`.

    Raises NotPossible if it lies in a root, where it would be scanned, or in the data directory.
    """
    real = Path(os.path.realpath(path.expanduser()))
    for folder in (settings.data, *(Path(root.path).resolve() for root in settings.root_specs)):
        if real.is_relative_to(folder):
            raise NotPossible(f"{path} lies inside {folder}; export to a place outside of it.")
    return path.expanduser()
