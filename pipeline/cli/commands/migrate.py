"""The command for authors of older layouts."""

from pathlib import Path

import click

from catalog.text.display import visible
from pipeline.authoring.convert import Conversion, ConversionOptions, migrate_paths
from pipeline.cli.options import DONE, FINDINGS, PATH, as_json_option, to_json
from pipeline.cli.output import terminal
from pipeline.dialects.apexbridge.dialect import APEXBRIDGE
from pipeline.validation.profiles.spec.codes import FIELD_NOT_IN_SPECIFICATION

_OUTPUT = Path("migrated")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--dry-run", is_flag=True, help="Write nothing; print the steps and a diff.")
@click.option("--validate", is_flag=True, help="Judge the result with the profile apexbridge.")
@click.option("--in-place", is_flag=True, help="Change the folders themselves; keep a backup.")
@click.option("--output", type=PATH, help="Where new folders go.  [default: migrated]")
@as_json_option
def migrate(
    paths: tuple[Path, ...],
    dry_run: bool,
    validate: bool,
    in_place: bool,
    output: Path | None,
    as_json: bool,
) -> int:
    """Make ApexBridge packages of skill folders in older layouts, or of all in a tree.

    Exit 1 where a folder cannot be migrated or, with --validate, has an error. What was missing
    is filled in with placeholders, and each of them is said.

    \b
    Examples:
      skilldrop migrate my-skill --dry-run
      skilldrop migrate old-skills --output new-skills --validate
      skilldrop migrate my-skill --in-place
    """
    if in_place and output:
        raise click.UsageError("--in-place and --output exclude each other.")
    how = ConversionOptions(APEXBRIDGE, None if in_place else output or _OUTPUT, dry_run, validate)
    done: list[Conversion] = []
    with terminal.progress("skills") as progress:
        for each in migrate_paths(paths, how):
            done.append(each)
            progress(len(done))
            if not as_json:
                progress.clear()
                terminal.echo(_told(each, how))
    if as_json:
        click.echo(to_json([each.as_json() for each in done]))
    return FINDINGS if any(map(_is_wrong, done)) else DONE


def _is_wrong(each: Conversion) -> bool:
    judged = each.judgement.findings if each.judgement else ()
    return each.plan.refused or any(
        found.severity == "error" and found.code != FIELD_NOT_IN_SPECIFICATION.code
        for found in judged
    )


def _told(each: Conversion, how: ConversionOptions) -> str:
    lines = [click.style(visible(each.path), bold=True)]
    if each.plan.refused:
        lines.append("  cannot be migrated, and is as it was")
    elif not each.plan.changes_something:
        lines.append("  nothing to do")
    lines += [f"  - {visible(step)}" for step in each.plan.steps]
    findings = (*each.plan.findings, *(each.judgement.findings if each.judgement else ()))
    for found in findings:
        place = f"{found.path}:{found.line}: " if found.path and found.line else ""
        lines.append(f"  {found.severity} {found.code} {visible(place + found.message)}")
        lines.append(f"      {visible(found.fix)}")
    if how.dry_run and each.diff:
        lines += [f"  {visible(line)}" for line in each.diff.split("\n")]
    elif each.plan.changes_something:
        kept = f"; {visible(each.backup)} keeps what was there" if each.backup else ""
        lines.append(f"  the package is {visible(each.output)}{kept}")
    return "\n".join(lines)
