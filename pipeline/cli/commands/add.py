"""Commands that write new skills, put skills into a root, or take them out of it."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from catalog.database.connection import open_catalog, service_runs
from catalog.database.queries import Database
from catalog.model import naming
from catalog.model.errors import NotPossible, SkilldropError
from catalog.model.paths import is_archive, os_path, text_path
from catalog.model.skill import RootSpec
from catalog.reading import lookup
from catalog.reading.skills import skill_facts
from catalog.text.suggestions import few, shown
from catalog.text.visible import visible
from pipeline.authoring import add as authoring_add
from pipeline.authoring import trash
from pipeline.authoring.add import Addition, root_named
from pipeline.authoring.add import add as add_to
from pipeline.authoring.restore import restore as restored_to
from pipeline.cli.options import (
    DONE,
    FINDINGS,
    PATH,
    Answer,
    as_json_option,
    to_copy,
    to_json,
    with_catalog,
    with_settings,
)
from pipeline.cli.output import terminal
from pipeline.cli.output.skills import file_list, finding_at
from pipeline.config.settings import Settings
from pipeline.dialects.registry import OWNERS, dialect_named
from pipeline.roots.file_kinds import SKILL_MD
from pipeline.service.scanning.scanner import place_of


@click.command()
@click.argument("name")
@click.option(
    "--in",
    "parent",
    type=PATH,
    default=Path(),
    help="Directory for the folder.  [default: the current one]",
)
@click.option(
    "--profile",
    type=click.Choice(list(OWNERS)),
    help="Write a package that passes this profile, too.",
)
def new(name: str, parent: Path, profile: str | None) -> None:
    """Write a skill called NAME to fill in: a folder with a SKILL.md.

    NAME has lowercase letters of any script, digits and hyphens. Once its [TODO: …] texts are
    replaced, the skill passes every profile that `validate` checks by default. With --profile it
    is a package for the system of that profile, too.

    \b
    Examples:
      skilldrop new csv-profile
      skilldrop new csv-profile --in ~/drafts
    """
    texts = dialect_named(profile).skeleton if profile else authoring_add.PLAIN
    folder = visible(str(authoring_add.make(name, parent, texts)))
    click.echo(
        f"Made {folder}. Fill in {folder}/SKILL.md, and check it with `skilldrop validate "
        f"{folder}`. If it lies in no root yet, `skilldrop add {folder}` copies it to one."
    )


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--root",
    "root_name",
    metavar="PATH|LEVEL",
    help="Root to copy to.  [default: the first root of level project]",
)
@click.option("--replace", is_flag=True, help="Replace an entry of the same name.")
@click.option("--dry-run", is_flag=True, help="Print what would be added, and copy nothing.")
@as_json_option
@with_settings
def add(
    settings: Settings,
    sources: tuple[Path, ...],
    root_name: str | None,
    replace: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Copy skill folders or archives into a root; exit 1 if one is not fit for it.

    A SKILL.md stands for its folder. Each source is validated with the settings of the root, then
    copied as a whole, unless the root would reject it or its description is still the template's.
    A running service finds it at once; without a service, the next `scan` does.

    \b
    Examples:
      skilldrop add ~/drafts/word-count
      skilldrop add skills.zip --root enterprise --replace
      skilldrop add drafts/count/SKILL.md --dry-run
    """
    root = root_named(settings.root_specs, root_name)
    additions = []
    for addition in add_to(sources, root, replace=replace, dry_run=dry_run):
        details: dict[str, Any] = {
            "added": addition.is_added and not dry_run,
            "accepted": addition.is_added,
            "rivals": list(_rivals(settings, root, addition)),
        }
        additions.append(addition.as_json() | details)
        follower = "" if dry_run else _follower(settings)
        for line in () if as_json else _addition_lines(addition, root, follower):
            terminal.echo(line)
        for name, path in () if as_json else details["rivals"]:
            text = f"{path} has the name {name}, too, and only one of the two reaches agents."
            terminal.echo(visible(f"{text} Rename one, or choose with `skilldrop prefer`."))
    if as_json:
        click.echo(to_json(additions))
    return DONE if all(addition["accepted"] for addition in additions) else FINDINGS


def _rivals(settings: Settings, root: RootSpec, addition: Addition) -> Iterator[tuple[str, str]]:
    """Yield name and folder of each active skill elsewhere that has the name of one in a source."""
    try:
        db = open_catalog(settings.catalog_path)
    except SkilldropError:
        return  # without a readable catalog, no rival is known
    source = text_path(addition.source.as_posix())
    for judgement in addition.judgements:
        path = text_path(addition.place.name) + judgement.path.removeprefix(source)
        wanted = naming.skill_id(judgement.name, place_of(root, path).namespace, path)
        for row in skill_facts.folders_of(db, wanted) if judgement.name else ():
            if row["status"] == "active" and (row["root"], row["path"]) != (root.path, path):
                yield row["name"], f"{row['root']}/{row['path']}"


def _addition_lines(addition: Addition, root: RootSpec, follower: str) -> Iterator[str]:
    """Yield skills, files and findings of a source, and the result; no follower: it is a trial."""
    for judgement in addition.judgements:
        if judgement.name is None:
            continue
        described = visible(judgement.description) if judgement.loadable else "rejected"
        yield f"{click.style(visible(judgement.name), bold=True)}: {described}"
        if judgement.files:
            sizes = [(file.path, file.size) for file in judgement.files]
            yield f"    {file_list(judgement.document or SKILL_MD, sizes)}"
    for judgement in addition.judgements:
        for finding in judgement.findings:
            yield finding_at(judgement.file(finding), finding._asdict())
    place = visible(text_path(str(addition.place)))
    if not addition.is_added:
        yield f"Not added to {place}: fix the errors above, then add it again."
    elif not follower:
        yield f"Would be added as {place}; nothing was copied."
    else:
        found = {finding.severity for each in addition.judgements for finding in each.findings}
        then = "publishes it; `skilldrop status` says if it does not reach agents"
        if "danger" in found and root.review != "none":
            then = "stores it; agents get dangerous content once `skilldrop review` approved it"
        yield to_copy(f"Added {place}. {follower} {then}.")


@click.command()
@click.argument("skill")
@with_catalog
def remove(settings: Settings, db: Database, skill: str) -> Answer:
    """Move the folder of SKILL, or its archive, to a dated trash; nothing is deleted.

    SKILL is a name, or the path of a folder or an archive, which may be relative to its root. An
    archive is moved with all skills in it. The trash is in the data directory, or beside the root
    if that is on another file system. A running service finds the removal at once; without a
    service, the next `scan` does.

    \b
    Examples:
      skilldrop remove csv-profile
      skilldrop remove watched/team-b/csv-profile
      skilldrop remove skills.zip
    """
    place, undo = _archive(settings, skill), ""
    if place is None:
        row = lookup.find_skill(db, skill)
        if row["status"] == "removed":
            raise NotPossible(f"The folder of {shown(skill)} is gone already.")
        by_name = skill in (row["name"], row["bare_name"], row["skill_id"])
        if by_name and len(places := _places(db, row["skill_id"])) > 1:
            raise NotPossible(
                f"{len(places)} folders have the name {shown(skill)}: {few(places)}. Name the one "
                "to remove by its path."
            )
        place = row["root"], row["path"]
        if row["package_path"]:
            asked = naming.argument(row)
            undo = f" `skilldrop restore {asked}` brings its newest version back."
    moved = trash.move(db, *place, settings.data, datetime.now())
    along = f" The skills inside it were moved, too: {few(moved.others)}." if moved.others else ""
    then = f"{_follower(settings)} takes it out of the catalog.{undo}{along}"
    line = f"Moved {moved.path} to {moved.trash}. {then}"
    return Answer(moved._asdict(), [to_copy(visible(line))])


def _places(db: Database, skill_id: str) -> list[str]:
    rows = skill_facts.folders_of(db, skill_id)
    return [f"{row['root']}/{row['path']}" for row in rows if row["status"] != "removed"]


def _archive(settings: Settings, asked: str) -> tuple[str, str] | None:
    """Return the root and the path of an archive, as `add` took it or as it lies in its root."""
    for root in settings.root_specs:
        path = asked.removeprefix(f"{root.path}/")
        is_inside = is_archive(path) and ".." not in path.split("/")
        if is_inside and os.path.isfile(os.path.join(root.path, os_path(path))):
            return root.path, path
    return None


@click.command()
@click.argument("skill")
@click.option(
    "--version", metavar="VERSION", help="Restore this version.  [default: the newest that is kept]"
)
@click.option("--to", type=PATH, help="Directory for the folder.  [default: its former place]")
@with_catalog
def restore(
    settings: Settings, db: Database, /, skill: str, version: str | None, to: Path | None
) -> Answer:
    """Make a new folder of a version of the removed SKILL; `list --status removed` lists them.

    It is at its former place. If that was in an archive or a git repository, or cannot be written,
    the first root that takes a folder gets it. No folder is replaced, and files that were part of
    no version do not come back.

    \b
    Examples:
      skilldrop restore csv-profile
      skilldrop restore csv-profile --version 20261120-140500 --to drafts
    """
    places = settings.packages_folder, settings.root_specs
    with terminal.progress("files") as progress:
        name, restored, path = restored_to(db, *places, skill, version, to, progress)
    line = f"Restored {name}, version {restored}, to {path}."
    if any(Path(path).is_relative_to(root.path) for root in settings.root_specs):
        line += f" {_follower(settings)} publishes it."
    return Answer({"skill": name, "version": restored, "path": path}, [to_copy(visible(line))])


def _follower(settings: Settings) -> str:
    """Return the subject of a sentence: who brings a change in a root to the agents."""
    return "The running service" if service_runs(settings.catalog_path) else "`skilldrop scan`"
