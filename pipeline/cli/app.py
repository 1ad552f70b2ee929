"""Command line: the options of all commands, and the one place that reports failures."""

import os
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from catalog.model.errors import SkilldropError
from catalog.model.values import VERSION
from pipeline.cli.options import (
    DONE,
    INTERNAL_ERROR,
    INTERRUPTED,
    PATH,
    USAGE_ERROR,
    GlobalOptions,
    to_copy,
    with_global_options_first,
)


def main() -> None:
    """Run the command line and exit; print every failure."""
    try:
        code = cli.main(prog_name="skilldrop", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort as abort:
        # click treats an EOFError as Ctrl-D, but no command reads typed input.
        cause = abort.__cause__
        code = _internal_error(cause) if isinstance(cause, EOFError) else INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = USAGE_ERROR
    except SkilldropError as error:
        click.echo(to_copy(f"skilldrop: {error}"), err=True)
        code = USAGE_ERROR
    except BrokenPipeError:  # the reader has stopped, such as `head`
        sys.stderr.close()
        code = DONE
    except MemoryError:
        click.echo(
            "skilldrop: Not enough memory. Provide more memory or set lower limits.", err=True
        )
        code = USAGE_ERROR
    except Exception as error:  # noqa: BLE001  # the one place that reports internal errors
        code = _damaged_catalog(error) or _internal_error(error)
    _leave_closed_streams()
    sys.exit(code if isinstance(code, int) else DONE)


def _damaged_catalog(error: Exception) -> int | None:
    """Report a damaged catalog that a command found while reading it; None for other errors."""
    from catalog.database.connection import REBUILT, is_damage

    if not is_damage(error):
        return None
    click.echo(f"skilldrop: The catalog is damaged: {error}. {REBUILT}", err=True)
    return USAGE_ERROR


def _leave_closed_streams() -> None:
    """Discard output that has no reader; otherwise Python would exit with code 120."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None or stream.closed:  # nothing is left to write
            continue
        try:
            stream.flush()
        except OSError:  # its reader is gone, or its disk is full
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _internal_error(error: BaseException) -> int:
    """Print one sentence about an internal error; save the traceback to a file if possible."""
    attachment = "the command that you ran"
    with (
        suppress(OSError),
        tempfile.NamedTemporaryFile("w", prefix="skilldrop-", suffix=".log", delete=False) as log,
    ):
        traceback.print_exception(error, file=log)
        attachment = log.name
    with suppress(OSError, ValueError):
        click.echo(
            f"skilldrop: internal error: {type(error).__name__}: {error}. "
            f"Please report it with {attachment}.",
            err=True,
        )
    return INTERNAL_ERROR


GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Everyday": {
        "up": ("up", "Watch the roots and serve the catalog until stopped"),
        "status": ("status", "Show health, counts and problems with their reasons"),
        "search": ("search", "Find the skills for a task"),
        "show": ("search", "Show a skill: facts, files, findings, agents"),
        "list": ("search", "List the skills of the catalog by name"),
        "index": ("index", "Print a prompt index, or explain it"),
    },
    "Write skills": {
        "new": ("add", "Write the skeleton of a skill"),
        "validate": ("validate", "Check skills without a catalog, and fix them"),
        "rule": ("rule", "Explain a finding, with examples"),
        "add": ("add", "Copy skills into a root if they are accepted"),
        "remove": ("add", "Move a skill to the trash"),
        "restore": ("add", "Bring a removed skill back as a new folder"),
    },
    "Give them to agents": {
        "link": ("link", "Keep links or copies in the directory of an agent"),
        "unlink": ("link", "Remove these links and copies"),
        "pull": ("pull", "Keep the skills of a site on this machine"),
        "export": ("link", "Copy the published skills to a directory"),
        "mcp": ("mcp", "Serve agents over the Model Context Protocol"),
        "read": ("read", "Print a file of a published skill"),
    },
    "Review and history": {
        "review": ("versions", "Approve or reject versions that wait, such as dangers"),
        "versions": ("versions", "List the versions of a skill and their changes"),
        "pin": ("versions", "Publish one version of a skill, and keep to it"),
        "unpin": ("versions", "Publish the newest version of a skill again"),
        "prefer": ("versions", "Choose which of several skills with one name wins"),
    },
    "Operate": {
        "scan": ("scan", "Update the catalog once, and exit"),
        "reconcile": ("scan", "Compare everything, and repair differences"),
        "serve": ("up", "Serve the site without watching the roots"),
        "config": ("config", "Make, check and show the settings"),
        "token": ("token", "Make, list and remove tokens of the site's readers"),
        "findings": ("status", "List the findings of the catalog"),
        "completion": ("completion", "Print the script that completes commands in a shell"),
    },
    "Special formats": {
        "migrate": ("migrate", "Convert skills in older layouts"),
        "outcome": ("outcome", "Check files with reports of runs"),
    },
}
"""Commands by group, each with its module in `pipeline.cli.commands` and a summary."""


def command_named(name: str) -> click.Command:
    """Return a command of GROUPS, whose module is imported now."""
    (module,) = (commands[name][0] for commands in GROUPS.values() if name in commands)
    found = vars(import_module(f"pipeline.cli.commands.{module}")).values()
    return next(each for each in found if isinstance(each, click.Command) and each.name == name)


class _Group(click.Group):
    """Group that knows names and summaries, and imports a command when it is called.

    Global options may come before or after the command.
    """

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the called command, imported, and its arguments."""
        name, command, rest = super().resolve_command(context, args)
        return name, command and command_named(str(command.name)), rest

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group with the summaries of its commands."""
        width = max(map(len, self.commands))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl(
                    [(name.ljust(width), summary) for name, (_, summary) in commands.items()]
                )

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the command line, with the global options moved to the front."""
        return super().parse_args(context, with_global_options_first(args))


@click.group(
    subcommand_metavar="COMMAND",
    cls=_Group,
    commands={
        name: click.Command(name, short_help=summary)
        for commands in GROUPS.values()
        for name, (_, summary) in commands.items()
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--config",
    "config_file",
    type=PATH,
    help="Settings file.  [default: skilldrop.toml, else ~/.config/skilldrop/skilldrop.toml]",
)
@click.option("--watched", type=PATH, help="The only root to watch.  [default: watched]")
@click.option("--data", type=PATH, help="Folder of catalog, packages and indexes.  [default: var]")
@click.version_option(VERSION, prog_name="skilldrop")
@click.pass_context
def cli(
    context: click.Context, config_file: Path | None, watched: Path | None, data: Path | None
) -> None:
    """Keep a shared folder of Agent Skills as a searchable catalog and a prompt index.

    The options may come before or after the command.

    \b
    Drop skill folders into watched/ and run:
      skilldrop up
    """
    context.obj = GlobalOptions(config_file, watched, data)
