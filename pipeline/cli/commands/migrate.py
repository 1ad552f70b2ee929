"""Command that converts older layouts."""

from pathlib import Path

import click

from catalog.text.visible import visible
from pipeline.authoring.convert import ConversionOptions, ConversionResult, migrate_paths
from pipeline.cli.options import DONE, FINDINGS, PATH, as_json_option, to_json
from pipeline.cli.output import terminal
from pipeline.dialects.registry import OWNERS, dialect_named

_INPUT = Path("skills")
_OUTPUT = Path("migrated")
_PROFILE, _OWNER = next(iter(OWNERS.items()), ("", ""))  # of the dialect with older layouts
_HELP = f"""\
Convert skill folders in older layouts, or a tree of them, to {_OWNER} packages.

Without a path, the folder skills is converted. Missing values become placeholders, and each one is
listed. Exit 1 if a folder cannot be converted or, with --validate, has an error.

\b
Examples:
  skilldrop migrate my-skill --dry-run
  skilldrop migrate old-skills --output new-skills --validate
  skilldrop migrate my-skill --in-place
"""


@click.command(help=_HELP)
@click.argument("paths", nargs=-1, type=PATH)
@click.option("--dry-run", is_flag=True, help="Print the steps; write nothing.")
@click.option("--validate", is_flag=True, help=f"Validate the result with the profile {_PROFILE}.")
@click.option("--in-place", is_flag=True, help="Convert the folders in place and keep backups.")
@click.option("--output", type=PATH, help="Directory for the new folders.  [default: migrated]")
@as_json_option
def migrate(
    paths: tuple[Path, ...],
    dry_run: bool,
    validate: bool,
    in_place: bool,
    output: Path | None,
    as_json: bool,
) -> int:
    """Convert the folders, and print each conversion."""
    if in_place and output:
        raise click.UsageError("Use either --in-place or --output, not both.")
    if not paths and not _INPUT.is_dir():
        raise click.UsageError("There is no folder skills here; name the folders to convert.")
    options = ConversionOptions(
        dialect_named(_PROFILE), None if in_place else output or _OUTPUT, dry_run, validate
    )
    conversions: list[ConversionResult] = []
    with terminal.progress("skills") as progress:
        for conversion in migrate_paths(paths or (_INPUT,), options):
            conversions.append(conversion)
            progress(len(conversions))
            if not as_json:
                progress.clear()
                terminal.echo(_rendered(conversion, options))
    if as_json:
        click.echo(to_json([conversion.as_json() for conversion in conversions]))
    return FINDINGS if any(map(_has_failed, conversions)) else DONE


def _has_failed(conversion: ConversionResult) -> bool:
    findings = conversion.judgement.findings if conversion.judgement else ()
    return conversion.plan.refused or any(finding.severity == "error" for finding in findings)


def _rendered(conversion: ConversionResult, options: ConversionOptions) -> str:
    plan, judgement = conversion.plan, conversion.judgement
    lines = [click.style(visible(conversion.path), bold=True)]
    if plan.refused:
        lines.append("  cannot be converted and is unchanged")
    elif not plan.changes_something:
        lines.append("  nothing to do")
    lines += [f"  - {visible(step)}" for step in plan.steps]
    for finding in (*plan.findings, *(judgement.findings if judgement else ())):
        place = f"{finding.path}:{finding.line}: " if finding.path and finding.line else ""
        lines.append(f"  {finding.severity} {finding.code} {visible(place + finding.message)}")
        lines.append(f"      {visible(finding.fix)}")
    if plan.changes_something and not options.dry_run:
        backup = conversion.backup
        kept = f"; the old folder is kept as {visible(backup)}" if backup else ""
        lines.append(f"  the package is {visible(conversion.output)}{kept}")
    return "\n".join(lines)
