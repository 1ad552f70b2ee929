"""Command for authors that validates skills without a catalog."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import click

from catalog.model.values import Acceptance
from pipeline.authoring import selection
from pipeline.authoring.exclusions import Exclusions
from pipeline.authoring.lint import judge_paths
from pipeline.authoring.selection import Selection
from pipeline.cli.options import DONE, FINDINGS, GlobalOptions, as_json_option
from pipeline.cli.output import lint, terminal
from pipeline.config import validate_loader
from pipeline.dialects.registry import PROFILES

Command = TypeVar("Command", bound=Callable[..., Any])


class _Options(NamedTuple):
    """Options of the command that select findings and paths."""

    profiles: tuple[str, ...]
    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    exclude: tuple[str, ...]
    force_exclude: bool
    gitignore: bool
    comments: bool


def _selectors(*names: str, text: str) -> Callable[[Command], Command]:
    """Return an option with codes and profiles, which may be repeated or separated by commas."""

    def split(_: object, __: object, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.strip() for value in values for word in value.split(",") if word.strip())

    return click.option(*names, multiple=True, metavar="CODES", callback=split, help=text)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--acceptance",
    type=click.Choice(get_args(Acceptance)),
    default="lenient",
    show_default=True,
    help="Which findings reject a skill, as in the setting of a root.",
)
@_selectors(
    "--select",
    text="Codes and profiles to report instead of the usual; separated by commas, or repeated.",
)
@_selectors("--extend-select", text="Codes and profiles to report in addition.")
@_selectors("--ignore", text="Codes and profiles to leave out.")
@click.option(
    "--profile",
    "profiles",
    type=click.Choice(list(PROFILES)),
    multiple=True,
    help="Report this profile besides reading and spec; short for --select reading,spec,PROFILE.",
)
@click.option(
    "--exclude", multiple=True, metavar="PATTERN", help="Paths to leave out, as in a .gitignore."
)
@click.option(
    "--force-exclude", is_flag=True, help="Leave out excluded paths even if they are named."
)
@click.option("--no-gitignore", is_flag=True, help="Validate what .gitignore files leave out, too.")
@click.option(
    "--no-comments",
    is_flag=True,
    help="Report findings that comments in a SKILL.md leave out, as for skills of others.",
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
@click.pass_context
def validate(
    context: click.Context,
    /,
    paths: tuple[Path, ...],
    acceptance: Acceptance,
    form: str,
    quiet: bool,
    fail_on: str,
    as_json: bool,
    no_gitignore: bool,
    no_comments: bool,
    **chosen: Any,
) -> int:
    """Validate skill folders, trees, archives or a SKILL.md; exit 1 on errors.

    \b
    Examples:
      skilldrop validate my-skill other-skill.zip
      skilldrop validate skills --select safety,name-not-folder --quiet
      skilldrop validate skills --format sarif > skills.sarif
    """
    form = "json" if as_json else form
    tally = lint.Tally()
    options = _Options(**chosen, gitignore=not no_gitignore, comments=not no_comments)
    select, exclusions = _choices(context, options)
    judged = judge_paths(paths, acceptance=acceptance, select=select, exclusions=exclusions)
    with terminal.progress("skills") as progress:
        counted = tally.counting(judged, progress)
        shown = map(lint.errors_only, counted) if quiet else counted
        for lines in lint.FORMATS[form](shown):
            progress.clear()
            terminal.echo(lines)
    for note in tally.notes:
        click.echo(f"skilldrop: {note}", err=True)
    if form in lint.FOR_READERS:
        terminal.echo(tally.summary())
    return FINDINGS if tally.reaches(fail_on) else DONE


def _choices(context: click.Context, options: _Options) -> tuple[Selection, Exclusions]:
    """Return the selected findings and the excluded paths of settings and options."""
    given: GlobalOptions = context.obj or GlobalOptions(None, None, None)
    config = validate_loader.load(given.config)
    by_profile = ("reading", "spec", *options.profiles) if options.profiles else ()
    select = selection.of_settings(
        config,
        selection.Options((*options.select, *by_profile), options.extend_select, options.ignore),
        comments=options.comments,
    )
    patterns = (
        (os.path.realpath(config.folder), config.settings.exclude),
        (os.path.realpath("."), options.exclude),
    )
    return select, Exclusions(
        tuple((folder, lines) for folder, lines in patterns if lines),
        options.gitignore,
        options.force_exclude,
    )
