"""Reference of the commands, made from their help texts."""

import copy
from collections.abc import Collection, Mapping

import click

from catalog.pull import program as pull_program
from catalog.reading.search.filters import BY_NAME
from pipeline.cli.app import GROUPS, cli, command_named
from pipeline.cli.commands import pull

_OPENING = """\
# Commands

<!-- Generated from the help texts by `make docs`; edit pipeline/cli/commands/ instead. -->

Exit codes: 0 done, 1 findings or differences, 2 usage error or a problem you can fix, 3 internal
error (please report it), 130 interrupted. `up` exits with 0 when it is stopped. Every command has
the option `-h` or `--help`.
"""

_WIDE = {**cli.context_settings, "terminal_width": 96, "max_content_width": 96}
_INNER = {**_WIDE, "help_option_names": []}  # the opening names the option

_SHARED: Mapping[str | None, tuple[str, Collection[str], str]] = {
    "search": ("list", BY_NAME, "the filters"),
    "index": ("export", ("levels", "tags", "names"), "`--level`, `--tag` and `--only`"),
    "link": (
        "export",
        ("index", "levels", "tags", "names"),
        "`--index`, `--level`, `--tag` and `--only`",
    ),
}
"""Commands with options of another one, the names of these, and their form in text."""


def page() -> str:
    """Return the page: the help of the program, then the help of each command."""
    with click.Context(cli, info_name="skilldrop", **_WIDE) as top:
        program = cli.get_help(top).partition(f"\n\n{next(iter(GROUPS))}:")[0]
        parts = [_section(command_named(name), top) for name in sorted(cli.commands)]
    return "\n".join([_OPENING, f"## `skilldrop`\n\n```text\n{program}\n```\n", *parts])


def _section(command: click.Command, top: click.Context) -> str:
    more = ""
    if command.name in _SHARED:
        other, names, said = _SHARED[command.name]
        command = copy.copy(command)
        command.params = [each for each in command.params if each.name not in names]
        more = f"\nAnd {said} of [`skilldrop {other}`](#skilldrop-{other}).\n"
    with click.Context(command, parent=top, info_name=command.name, **_INNER) as context:
        help_ = command.get_help(context)
    if command.name == "pull":  # a program of its own, with a parser of its own
        help_ = pull_program.parser(pull.NAME).format_help().rstrip()
    return f"## `skilldrop {command.name}`\n\n```text\n{help_}\n```\n{more}"
