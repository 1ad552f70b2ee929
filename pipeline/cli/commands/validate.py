"""Command for authors that validates skills without a catalog."""

from pathlib import Path
from typing import get_args

import click

from catalog.model.values import Acceptance
from pipeline.authoring.lint import judge_paths
from pipeline.cli.options import DONE, FINDINGS, as_json_option
from pipeline.cli.output import lint, terminal
from pipeline.dialects.registry import DIALECTS, PROFILES
from pipeline.validation.registry import FOR_ALL


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--acceptance",
    type=click.Choice(get_args(Acceptance)),
    default="lenient",
    show_default=True,
    help="Which findings reject a skill, as in the setting of a root.",
)
@click.option(
    "--profile",
    "profiles",
    type=click.Choice(list(PROFILES)),
    multiple=True,
    help="Rules to check in addition to spec; may be repeated.  "
    f"[default: all but {', '.join(dialect.profile.name for dialect in DIALECTS)}]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(lint.FORMATS)),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only errors.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="Lowest severity that makes the exit code 1.",
)
@as_json_option
def validate(
    paths: tuple[Path, ...],
    acceptance: Acceptance,
    profiles: tuple[str, ...],
    form: str,
    quiet: bool,
    fail_on: str,
    as_json: bool,
) -> int:
    """Validate skill folders, trees, archives or a SKILL.md; exit 1 on errors.

    \b
    Examples:
      skilldrop validate my-skill other-skill.zip
      skilldrop validate skills --profile safety --quiet
      skilldrop validate skills --format sarif > skills.sarif
    """
    form = "json" if as_json else form
    tally = lint.Tally()
    profiles = profiles or tuple(profile.name for profile in FOR_ALL)
    judged = judge_paths(paths, acceptance=acceptance, profiles=profiles)
    with terminal.progress("skills") as progress:
        counted = tally.counting(judged, progress)
        shown = map(lint.errors_only, counted) if quiet else counted
        for lines in lint.FORMATS[form](shown):
            progress.clear()
            terminal.echo(lines)
    if form in lint.FOR_READERS:
        terminal.echo(tally.summary())
    return FINDINGS if tally.reaches(fail_on) else DONE
