"""Command that copies the published skills to a directory or an archive."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from catalog.database import connection
from catalog.database.connection import explained
from catalog.export.archive import write_archive
from catalog.export.folder import Exported, export_to
from catalog.export.selected import Failure, Source, selected
from catalog.model.errors import NotExported
from catalog.model.selection import Selection
from catalog.prompt_index import query
from catalog.reading import agent_entries
from catalog.text.suggestions import few
from catalog.text.visible import visible
from pipeline.cli.options import (
    DONE,
    FINDINGS,
    PATH,
    as_json_option,
    confirm,
    filter_options,
    settings_of,
    to_json,
    yes_option,
)
from pipeline.cli.options import selected as selected_options
from pipeline.cli.output import terminal
from pipeline.config.settings import Settings


@click.command()
@click.argument("directory", type=PATH, required=False)
@click.option(
    "--archive",
    type=PATH,
    metavar="FILE",
    help="Write an archive: FILE ends with .zip, .tar.gz or .tgz.",
)
@click.option(
    "--with-dependencies",
    is_flag=True,
    help="Also copy the skills that the selected ones declare as needed.",
)
@filter_options
@yes_option
@as_json_option
@click.pass_context
def export(
    context: click.Context,
    /,
    directory: Path | None,
    archive: Path | None,
    with_dependencies: bool,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Copy the published skills to DIRECTORY or an archive, with a lock file.

    Use it for agents that follow no links, for container images, and for machines without a
    network. Each skill is a folder with its name. Only differences are written, each folder in one
    step, and edits of exported files are undone. The lock file skilldrop.lock lists the version,
    digest and files of each skill. Other files in DIRECTORY stay; exit 1 if one of them has the
    name of a skill.

    \b
    Examples:
      skilldrop export image/skills --tag office
      skilldrop export --archive skills.tar.gz
      skilldrop export image/skills --only report-writer --with-dependencies
    """
    if directory is None and archive is None:
        raise click.UsageError("Give a DIRECTORY, or --archive FILE.")
    settings = settings_of(context)
    directory, archive = _expanded(directory), _expanded(archive)
    for path in filter(None, (directory, archive)):
        _refuse_inside(settings, path)
    chosen = selected_options(options)
    result = _exported(settings, directory, archive, chosen, with_needed=with_dependencies, yes=yes)
    report = asdict(result) | {
        "failed": [failure._asdict() for failure in result.failed],
        "directory": str(directory) if directory else None,
        "archive": str(archive) if archive else None,
    }
    click.echo(to_json(report) if as_json else _rendered(result, directory, archive))
    return FINDINGS if result.taken or result.failed else DONE


def _expanded(path: Path | None) -> Path | None:
    return path and Path(os.path.expanduser(path))


def _refuse_inside(settings: Settings, path: Path) -> None:
    """Raise NotExported for a path in a root, where it would be scanned, or among our data."""
    real = Path(os.path.realpath(path))
    for folder in (settings.data, *(Path(root.path).resolve() for root in settings.root_specs)):
        if real.is_relative_to(folder):
            raise NotExported(f"{path} lies inside {folder}; export to a place outside of it.")


def _exported(
    settings: Settings,
    directory: Path | None,
    archive: Path | None,
    options: dict[str, Any],
    *,
    with_needed: bool,
    yes: bool,
) -> Exported:
    db = connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path):
        if "index" in options:
            selection = query.index_spec(db, options["index"]).selection
        else:
            selection = Selection(**{key: tuple(words) for key, words in options.items()})
            agent_entries.check_typed(db, selection)
        found = list(selected(db, settings.packages_folder, selection, with_needed=with_needed))
    sources = [item for item in found if isinstance(item, Source)]
    result = Exported([source.folder for source in sources])
    try:
        with terminal.progress("skills") as progress:
            if directory:
                things = f"skills in {visible(str(directory))}"
                result = export_to(
                    directory,
                    sources,
                    progress,
                    lambda removed, total: confirm(removed, total, things, yes=yes),
                )
            if archive:
                write_archive(archive, sources, progress)
    except OSError as error:
        raise NotExported(f"{error.filename or directory or archive}: {error.strerror}.") from error
    result.failed += [item for item in found if isinstance(item, Failure)]
    return result


def _rendered(result: Exported, directory: Path | None, archive: Path | None) -> str:
    lines = []
    if directory:
        counts = [
            f"{len(names)} {word}"
            for word in ("added", "updated", "unchanged", "removed")
            if (names := getattr(result, word)) or word == "added"
        ]
        lines.append(f"{visible(str(directory))}: {', '.join(counts)}")
    else:
        lines.append(f"{visible(str(archive))}: {terminal.counted(len(result.added), 'skill')}")
    if result.taken:
        lines.append(f"not copied, because the name is taken there: {few(result.taken)}")
    if result.left:
        lines.append(f"removed, but files of others are left in: {few(result.left)}")
    lines += [visible(f"not copied: {name}: {reason}") for name, reason in result.failed]
    return "\n".join(lines)
