"""Shared parts of commands: exit codes, options, settings, questions."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pipeline.cli.output import terminal

if TYPE_CHECKING:  # the help of the program needs no settings
    from pipeline.config.settings import Settings

DONE, FINDINGS, USAGE_ERROR, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""

PATH = click.Path(path_type=Path, readable=False)  # the command reports unreadable paths


class Answer(NamedTuple):
    """Result of a command, for programs and for people."""

    value: Any  # for --json
    lines: Iterable[str]  # for people, made when they are printed
    code: int = DONE
    note: str = ""  # a last line for people, on standard error


def with_json(command: Callable[..., Answer]) -> Callable[..., int]:
    """Give a command the option `--json`, and print its answer."""

    @wraps(command)
    def run(*arguments: Any, as_json: bool, **options: Any) -> int:
        answer = command(*arguments, **options)
        for line in [to_json(answer.value)] if as_json else answer.lines:
            terminal.echo(line)
        if answer.note and not as_json:
            click.echo(answer.note, err=True)
        return answer.code

    return as_json_option(run)


as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def to_json(value: Any) -> str:
    """Return indented JSON in which non-ASCII text stays readable."""
    return json.dumps(value, ensure_ascii=False, indent=2)


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


def to_copy(text: str) -> str:
    """Return a text whose commands have the global options of this one, so that they fit it."""
    words = with_global_options_first(sys.argv[1:])
    names = [word for word in words if word.partition("=")[0] in _GLOBAL_OPTIONS]
    given = words[: sum(1 if "=" in name else 2 for name in names)]
    return _COMMAND.sub(lambda found: " ".join([found[0], *map(shlex.quote, given)]), text)


_COMMAND = re.compile(r"(?<=`)skilldrop(?= [a-z])|(?m:(?<=^    )skilldrop(?= [a-z]))")


def with_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the settings as its first argument; `skill` may be a folder in a root."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        settings = settings_of(click.get_current_context())
        if options.get("skill"):
            from pipeline.cli.folder_argument import skill_named

            options["skill"] = skill_named(settings, options["skill"])
        return command(settings, *arguments, **options)

    return run


def with_catalog(command: Callable[..., Answer]) -> Callable[..., int]:
    """Give a command the settings and the open catalog, and the option `--json`."""

    @wraps(command)
    def run(settings: "Settings", *arguments: Any, **options: Any) -> Answer:
        from catalog.database.connection import explained, open_catalog
        from catalog.model.errors import NotInCatalog
        from pipeline.config import loader

        with explained(settings.catalog_path):
            try:
                db = open_catalog(settings.catalog_path)
            except NotInCatalog as error:
                file = loader.file_in_force(click.get_current_context().obj.config)
                raise NotInCatalog(f"{error} Settings: {file or 'no file was found'}.") from None
            return command(settings, db, *arguments, **options)

    return with_json(with_settings(run))


def settings_of(context: click.Context, **site: Any) -> "Settings":
    """Load the settings; site options of the command line override those of the file."""
    from pipeline.config import loader

    settings = loader.load(*context.obj)
    overrides = {key: value for key, value in site.items() if value is not None}
    return settings.model_copy(update={"site": settings.site.model_copy(update=overrides)})


def site_address(health: Mapping[str, Any], settings: "Settings") -> tuple[str | None, int]:
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
