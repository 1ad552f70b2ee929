"""Shared parts of commands: exit codes, options, settings, questions."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from catalog.model.values import LEVELS
from pipeline.config import loader
from pipeline.config.settings import Settings

DONE, FINDINGS, USAGE_ERROR, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""

PATH = click.Path(path_type=Path, readable=False)  # the command reports unreadable paths

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def filter_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that select skills, by an index or by words; see `selected`."""
    by_index = click.option(
        "--index", metavar="NAME", help="Select with the filter of this prompt index."
    )
    return by_index(word_options(command))


def word_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that select skills by words."""
    for option in reversed(_WORD_OPTIONS):
        command = option(command)
    return command


_WORD_OPTIONS = (
    click.option(
        "--level",
        "levels",
        type=click.Choice(LEVELS),
        multiple=True,
        help="Select only skills of this level; may be repeated.",
    ),
    click.option(
        "--tag", "tags", multiple=True, help="Select only skills with this tag; may be repeated."
    ),
    click.option(
        "--only",
        "names",
        metavar="SKILL",
        multiple=True,
        help="Select only the skill of this name; may be repeated.",
    ),
)


def selected(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values of `filter_options`, with the keys of a `[[links]]` table.

    Raises click.UsageError if they contradict.
    """
    lists = {
        key: [_text(word) for word in options[key]]
        for key in ("levels", "tags", "names")
        if options[key]
    }
    if options["index"] is None:
        return lists
    if lists:
        raise click.UsageError("--index has a filter; give --level, --tag and --only without it.")
    return {"index": _text(options["index"])}


def _text(word: str) -> str:
    """Return a word from the shell, which may not be UTF-8, as text."""
    return word.encode(errors="replace").decode()


class GlobalOptions(NamedTuple):
    """Options of all commands, which say where settings and data are; `context.obj`."""

    config: Path | None
    watched: Path | None
    data: Path | None


def with_global_options_first(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with the global options before all others."""
    first: list[str] = []
    rest: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return [*first, *rest, word, *waiting]
        name, has_value, _ = word.partition("=")
        chosen = first if name in _GLOBAL_OPTIONS else rest
        chosen.append(word)
        if name in _GLOBAL_OPTIONS and not has_value and waiting:
            chosen.append(waiting.pop(0))
    return [*first, *rest]


_GLOBAL_OPTIONS = ("--config", "--watched", "--data")


def to_json(value: Any) -> str:
    """Return indented JSON in which non-ASCII text stays readable."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def settings_of(context: click.Context, **site: Any) -> Settings:
    """Load the settings; site options of the command line override those of the file."""
    options: GlobalOptions = context.obj
    settings = loader.load(*options)
    overrides = {key: value for key, value in site.items() if value is not None}
    return settings.model_copy(update={"site": settings.site.model_copy(update=overrides)})


def site_address(health: Mapping[str, Any], settings: Settings) -> tuple[str | None, int]:
    """Return host and port of the site of the running service, or else of the settings.

    The host is None if there is no site. health is the health row of the catalog.
    """
    site = settings.site
    if health["service_pid"]:
        return health["site_host"], health["site_port"] or site.port
    return site.host if site.enabled else None, site.port


yes_option = click.option(
    "--yes", is_flag=True, help="Remove more than half of the directory without asking."
)


def confirm(removed: int, total: int, things: str, *, yes: bool) -> None:
    """Ask on a terminal before more than half of `total` things are removed.

    `things` names them with their place. Raises click.ClickException if the answer is no, or if
    nobody can be asked; `yes` answers the question.
    """
    if yes or removed * 2 <= total:
        return
    sentence = f"This removes {removed:,} of {total:,} {things}."
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.ClickException(f"{sentence} Repeat the command with --yes if you mean it.")
    if not click.confirm(f"{sentence} Go on?", err=True):
        raise click.ClickException("Nothing was changed.")
