"""Commands that put skills into a root, or take them out of it."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import click

from catalog.database import connection
from catalog.database.connection import open_catalog
from catalog.model.errors import NotRemoved
from catalog.model.paths import is_utf8, text_path
from catalog.model.skill import RootSpec
from catalog.reading import named
from catalog.text.suggestions import few, shown
from catalog.text.visible import visible
from pipeline.authoring import trash
from pipeline.authoring.add import Addition, root_named
from pipeline.authoring.add import add as add_to
from pipeline.authoring.lint import Judgement
from pipeline.cli.folder_argument import absolute_path
from pipeline.cli.options import DONE, FINDINGS, as_json_option, settings_of, to_json
from pipeline.cli.output import terminal
from pipeline.cli.output.skills import file_list, finding_at
from pipeline.config.settings import Settings
from pipeline.roots.names import SKILL_MD
from pipeline.service.scanning.results import place_of


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
@click.option("--fix", is_flag=True, help="Fix the copy of a folder as `validate --fix` does.")
@as_json_option
@click.pass_context
def add(
    context: click.Context,
    sources: tuple[Path, ...],
    root_name: str | None,
    replace: bool,
    dry_run: bool,
    fix: bool,
    as_json: bool,
) -> int:
    """Copy skill folders or archives into a root; exit 1 if one would be rejected.

    A SKILL.md stands for its folder. Each source is validated with the settings of the root, then
    copied as a whole. A running service finds it at once; without a service, the next `scan`
    does.

    \b
    Examples:
      skilldrop add ~/drafts/word-count
      skilldrop add skills.zip --root enterprise --replace
      skilldrop add drafts/word-count/SKILL.md --dry-run
    """
    settings = settings_of(context)
    root = root_named(settings.root_specs, root_name)
    additions = []
    for addition in add_to(sources, root, replace=replace, fix=fix, dry_run=dry_run):
        additions.append(addition)
        if not as_json:
            terminal.echo(
                _rendered_addition(addition, _expected(settings, root, addition), dry_run=dry_run)
            )
    if as_json:
        click.echo(
            to_json(
                [
                    addition.as_json()
                    | {
                        "added": addition.is_added and not dry_run,
                        "accepted": addition.is_added,
                        "shadowed_by": _expected(settings, root, addition),
                    }
                    for addition in additions
                ]
            )
        )
    return DONE if all(addition.is_added for addition in additions) else FINDINGS


def _expected(settings: Settings, root: RootSpec, addition: Addition) -> dict[str, str]:
    """Return the folders that keep the names of added skills, by name."""
    if not settings.catalog_path.exists():
        return {}
    db = open_catalog(settings.catalog_path)
    position = settings.root_specs.index(root)
    found = {}
    for judgement in addition.judgements:
        source = text_path(str(addition.source))
        below = judgement.path.removeprefix(source)
        if source == "." and below:
            below = f"/{below}"
        place = place_of(root, f"{text_path(addition.place.name)}{below}")
        holder = named.holder_of_name(db, judgement.name or "", place, position)
        if holder and judgement.loadable:
            found[judgement.name or ""] = holder
    return found


def _skill(judgement: Judgement) -> Iterator[str]:
    """Yield the name and description of a skill, and its files with their number and size."""
    if judgement.name is None:
        return
    described = visible(judgement.description) if judgement.loadable else "rejected"
    yield f"{click.style(visible(judgement.name), bold=True)}: {described}"
    if judgement.files:
        sizes = [(file.path, file.size) for file in judgement.files]
        yield f"    {file_list(judgement.document or SKILL_MD, sizes)}"


def _rendered_addition(addition: Addition, expected: Mapping[str, str], *, dry_run: bool) -> str:
    """Return skills, files and findings of a source, and a line about the result."""
    lines = [line for judgement in addition.judgements for line in _skill(judgement)]
    lines += [
        finding_at(judgement.file(finding), finding._asdict())
        for judgement in addition.judgements
        for finding in judgement.findings
    ]
    place = visible(text_path(str(addition.place)))
    lines += [
        f"{visible(name)} will be shadowed: the skill in {visible(holder)} has the name."
        for name, holder in expected.items()
    ]
    if dry_run and addition.is_added:
        lines.append(f"Would be added as {place}; nothing was copied.")
        return "\n".join(lines)
    lines.append(
        f"Added {place}{f'; {addition.fixed} fixed' if addition.fixed else ''}."
        if addition.is_added
        else f"Not added to {place}: fix the errors above, then add it again."
    )
    return "\n".join(lines)


@click.command()
@click.argument("skill")
@as_json_option
@click.pass_context
def remove(context: click.Context, skill: str, as_json: bool) -> int:
    """Move the folder of SKILL, or its archive, to a dated trash; nothing is deleted.

    SKILL is a name, or a folder if several skills have the name; the folder may be relative to its
    root. The trash is in the data directory, or beside the root if that is on another file system.
    A running service finds the removal at once; without a service, the next `scan` does.

    \b
    Examples:
      skilldrop remove csv-profile
      skilldrop remove watched/team-b/csv-profile
    """
    settings = settings_of(context)
    db = connection.open_catalog(settings.catalog_path)
    text = skill if is_utf8(skill) else text_path(skill)
    row = named.find_or_named(db, text, absolute_path(settings, skill))
    if row["status"] == "removed":
        raise NotRemoved(f"The folder of {shown(skill)} is gone already.")
    moved = trash.move(db, row, settings.data, datetime.now())
    if as_json:
        click.echo(to_json(moved.as_json()))
        return DONE
    along = f" The skills inside it were moved, too: {few(moved.others)}." if moved.others else ""
    if moved.used_by:
        along += f" It is used by {few(moved.used_by)}; `skilldrop status` lists what breaks."
    click.echo(visible(f"Moved {moved.source} to {moved.place}.{along}"))
    return DONE
