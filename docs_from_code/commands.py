"""Reference of the commands, made from their help texts."""

import click

from pipeline.cli.app import cli

_OPENING = """\
# Commands

<!-- Generated from the help texts by `make docs`; edit pipeline/cli/commands/ instead. -->

Exit codes: 0 done, 1 findings or differences, 2 usage error or a problem you can fix, 3 internal
error (please report it), 130 interrupted. `up` exits with 0 when it is stopped.
"""

_WIDE = {**cli.context_settings, "terminal_width": 96, "max_content_width": 96}


def page() -> str:
    """Return the page: the help of the program, then the help of each command."""
    parts = [_OPENING, _section(cli, None)]
    with click.Context(cli, info_name="skilldrop", **_WIDE) as top:
        commands = (cli.get_command(top, name) for name in cli.list_commands(top))
        parts += [_section(command, top) for command in commands if command]
    return "\n".join(parts)


def _section(command: click.Command, top: click.Context | None) -> str:
    name = "skilldrop" if top is None else f"skilldrop {command.name}"
    with click.Context(command, parent=top, info_name=name.rpartition(" ")[2], **_WIDE) as context:
        return f"## `{name}`\n\n```text\n{command.get_help(context)}\n```\n"
