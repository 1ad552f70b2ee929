"""Command that prints published files, for people, programs and agents."""

import base64
import os
import sqlite3
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from catalog.database.connection import explained, open_catalog
from catalog.model.errors import CatalogUnusable
from catalog.reading.files import skill_files
from catalog.reading.files.published import SKILL_MD, package_of
from catalog.reading.files.skill_files import SkillFile
from catalog.text.visible import visible_lines
from catalog.usage import database as usage_database
from catalog.usage.database import SkillRead
from pipeline.cli.options import as_json_option, to_json, with_settings
from pipeline.cli.output import terminal
from pipeline.config.settings import Settings


@click.command()
@click.argument("skill")
@click.argument("file", default=SKILL_MD)
@click.option(
    "--version",
    "of_version",
    metavar="VERSION",
    help="Read from this version, also of a removed skill, while its files are kept.",
)
@click.option("--wrapped", is_flag=True, help="Print SKILL.md in the form that agents get.")
@as_json_option
@with_settings
def read(
    settings: Settings,
    skill: str,
    file: str,
    of_version: str | None,
    wrapped: bool,
    as_json: bool,
) -> None:
    """Print a published FILE of SKILL, by default its SKILL.md.

    \b
    Examples:
      skilldrop read csv-profile
      skilldrop read csv-profile scripts/profile_csv.py > profile_csv.py
      skilldrop read csv-profile references/reading-the-profile.md --json
    """
    if wrapped and (as_json or file != SKILL_MD):
        raise click.UsageError("--wrapped works only for SKILL.md, and not with --json.")
    with explained(settings.catalog_path):
        db = open_catalog(settings.catalog_path)
        package = package_of(db, settings.packages_folder, skill, of_version)
    whole = skill_files.read(package, file)
    if as_json:
        click.echo(to_json(asdict(whole)))
    elif wrapped:
        _print(skill_files.wrap(package, whole).encode())
    elif whole.encoding == "base64" and sys.stdout.isatty():
        raise click.UsageError(
            f"{whole.path} is {whole.media_type}, not text: write it to a file with > NAME, or "
            "print it with --json."
        )
    elif whole.encoding == "base64":
        _print(base64.b64decode(whole.text))
    else:
        _print(whole.text.encode(whole.encoding))
    if settings.usage_path:
        _count(settings.usage_path, whole)


def _count(path: Path, file: SkillFile) -> None:
    """Count a read after its output; without the right to write the database, count nothing."""
    day = usage_database.today()
    read = SkillRead(file.skill_id, file.version, "command", day.isoformat())
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    try:
        usage_database.add(path, {read: 1}, day)
    except (sqlite3.Error, CatalogUnusable) as error:
        if os.access(path.parent, os.W_OK):
            click.echo(f"skilldrop: This read is not counted: {path}: {error}", err=True)


def _print(data: bytes) -> None:
    """Print data unchanged; on a terminal, without control characters."""
    if sys.stdout.isatty():
        terminal.echo(visible_lines(data.decode()))
    else:
        sys.stdout.buffer.write(data)
