"""Command for authors that validates skills without a catalog."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from catalog.model.finding import ROUTING_CODES
from catalog.model.values import SEVERITIES, Acceptance, Severity
from pipeline.authoring.fixer import Fixer
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.authoring.targets import Patterns
from pipeline.cli.options import DONE, FINDINGS, USAGE_ERROR, GlobalOptions, as_json_option
from pipeline.cli.output import lint
from pipeline.cli.output.lint import LintOutput
from pipeline.config import loader, selection
from pipeline.config.selection import CodeSelection, ValidateConfig, ValidateSettings
from pipeline.dialects.registry import OF_PROFILES


def _selectors(*names: str, text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return an option with codes and profiles, which may be repeated or separated by commas."""

    def split(_: object, __: object, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.strip() for value in values for word in value.split(",") if word.strip())

    return click.option(*names, multiple=True, metavar="CODES", callback=split, help=text)


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--acceptance",
    type=click.Choice(get_args(Acceptance)),
    default="lenient",
    show_default=True,
    help="Which findings reject a skill, as in the setting of a root.",
)
@_selectors(
    "--select",
    text="Codes and profiles to report instead of the default; with commas, or repeated.",
)
@_selectors("--ignore", text="Codes and profiles to leave out.")
@click.option(
    "--profile",
    "profiles",
    type=click.Choice(list(OF_PROFILES)),
    multiple=True,
    help="Report this profile besides reading and spec; short for --select reading,spec,PROFILE.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Paths to leave out, as in a .gitignore.",
)
@click.option(
    "--no-comments",
    is_flag=True,
    help="Report findings that comments in a SKILL.md leave out; use it for skills of others.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(lint.FORMATS)),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option("--fix", is_flag=True, help="Make repairs that cannot be wrong; report the rest.")
@click.option("--quiet", "-q", is_flag=True, help="Print only dangers and errors.")
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES[:3]),
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
    fix: bool,
    fail_on: Severity,
    form: str,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> int:
    """Validate skill folders, trees, archives or a SKILL.md; exit 1 on dangers and errors.

    \b
    Examples:
      skilldrop validate my-skill other-skill.zip
      skilldrop validate my-skill --fix
      skilldrop validate skills --select safety,name-not-folder --quiet
      skilldrop validate skills --format github
    """
    given: GlobalOptions | None = context.obj
    config = loader.load_validation(given and given.config)
    select, exclude = _selected(config, chosen)
    fixer = Fixer(acceptance, select)
    judged = judge_paths(paths, acceptance=acceptance, select=select, exclude=exclude)
    output = LintOutput("json" if as_json else form, quiet)
    judged = fixer.fix(judged) if fix else fixer.marked(judged)
    if not select.codes.isdisjoint(ROUTING_CODES):
        judged = _with_routing_tests(judged, paths, select, given, output.notes)
    output.show(judged, fixer)
    if fixer.problems:
        return USAGE_ERROR
    return FINDINGS if output.reaches(fail_on) else DONE


def _with_routing_tests(judged: Iterator[Judgement], *context: Any) -> Iterator[Judgement]:
    """Yield judgements; from the first skill with files of evals on, once all are judged."""
    for judgement in judged:
        if any(file.path.startswith("evals/") for file in judgement.files):
            from pipeline.cli.routing_tests import tested  # other skills need no catalog

            yield from tested([judgement, *judged], *context)
        else:
            yield judgement


def _selected(config: ValidateConfig, options: Mapping[str, Any]) -> tuple[CodeSelection, Patterns]:
    """Return the selected findings and the excluded paths of settings and options.

    Raises NotPossible.
    """
    by_profile = ("reading", "spec", *options["profiles"]) if options["profiles"] else ()
    given = ValidateSettings.model_construct(  # `of_settings` names the option of a mistake
        select=(*options["select"], *by_profile),
        ignore=options["ignore"],
    )
    select = selection.of_settings(config, given, comments=not options["no_comments"])
    patterns = (
        (os.path.realpath(config.folder), config.settings.exclude),
        (os.path.realpath("."), options["exclude"]),
    )
    return select, tuple((folder, lines) for folder, lines in patterns if lines)
