"""Options of `validate` that select findings and paths."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from pipeline.authoring import selection
from pipeline.authoring.exclusions import Exclusions
from pipeline.authoring.selection import Selection
from pipeline.config.validate_settings import ValidateConfig
from pipeline.dialects.registry import PROFILES

Command = TypeVar("Command", bound=Callable[..., Any])


def with_selection(command: Command) -> Command:
    """Add the options; see `selected`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def selected(config: ValidateConfig, options: Mapping[str, Any]) -> tuple[Selection, Exclusions]:
    """Return the selected findings and the excluded paths of settings and options.

    Raises SettingsInvalid.
    """
    profiles = options["profiles"]
    by_profile = ("reading", "spec", *profiles) if profiles else ()
    select = selection.of_settings(
        config,
        selection.Options(
            (*options["select"], *by_profile), options["extend_select"], options["ignore"]
        ),
        comments=not options["no_comments"],
    )
    patterns = (
        (os.path.realpath(config.folder), config.settings.exclude),
        (os.path.realpath("."), options["exclude"]),
    )
    return select, Exclusions(
        tuple((folder, lines) for folder, lines in patterns if lines),
        not options["no_gitignore"],
        options["force_exclude"],
    )


def _selectors(*names: str, text: str) -> Callable[[Command], Command]:
    """Return an option with codes and profiles, which may be repeated or separated by commas."""

    def split(_: object, __: object, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.strip() for value in values for word in value.split(",") if word.strip())

    return click.option(*names, multiple=True, metavar="CODES", callback=split, help=text)


_OPTIONS = (
    _selectors(
        "--select",
        text="Codes and profiles to report instead of the usual; separated by commas, or repeated.",
    ),
    _selectors("--extend-select", text="Codes and profiles to report in addition."),
    _selectors("--ignore", text="Codes and profiles to leave out."),
    click.option(
        "--profile",
        "profiles",
        type=click.Choice(list(PROFILES)),
        multiple=True,
        help="Report this profile besides reading and spec; "
        "short for --select reading,spec,PROFILE.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Paths to leave out, as in a .gitignore.",
    ),
    click.option(
        "--force-exclude", is_flag=True, help="Leave out excluded paths even if they are named."
    ),
    click.option(
        "--no-gitignore", is_flag=True, help="Validate what .gitignore files leave out, too."
    ),
    click.option(
        "--no-comments",
        is_flag=True,
        help="Report findings that comments in a SKILL.md leave out, as for skills of others.",
    ),
)
