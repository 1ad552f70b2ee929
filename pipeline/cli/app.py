"""Command line: the options of all commands, and the one place that reports failures."""

import os
import sys
import tempfile
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from catalog.database.connection import REBUILT, is_damage
from catalog.model.errors import SkilldropError
from catalog.model.values import VERSION
from pipeline.cli.options import (
    DONE,
    INTERNAL_ERROR,
    INTERRUPTED,
    PATH,
    USAGE_ERROR,
    GlobalOptions,
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
        click.echo(f"skilldrop: {error}", err=True)
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


COMMANDS = {
    name: module
    for module, names in {
        "add": "add new remove",
        "completion": "completion",
        "index": "index",
        "link": "export link unlink",
        "mcp": "mcp",
        "migrate": "migrate",
        "outcome": "outcome",
        "pull": "pull",
        "read": "read",
        "rule": "rule",
        "scan": "reconcile scan",
        "search": "list search show",
        "status": "findings status",
        "token": "token",
        "up": "serve up",
        "validate": "validate",
        "versions": "approve pending prefer reject rollback unpin versions",
    }.items()
    for name in names.split()
}
"""Module of each command in `pipeline.cli.commands`."""


class _Group(click.Group):
    """Group that imports a command when it is asked for.

    Global options may come before or after the command.
    """

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command; None if there is none of this name."""
        if name not in COMMANDS:
            return None
        module = vars(import_module(f"pipeline.cli.commands.{COMMANDS[name]}"))
        commands = (each for each in module.values() if isinstance(each, click.Command))
        return next(command for command in commands if command.name == name)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the command line, with the global options moved to the front."""
        return super().parse_args(context, with_global_options_first(args))


@click.group(
    cls=_Group,
    commands={name: click.Command(name) for name in COMMANDS},  # their names, for suggestions
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--config",
    "config_file",
    type=PATH,
    help="Settings file.  [default: skilldrop.toml, if it exists]",
)
@click.option("--watched", type=PATH, help="The only root to watch.  [default: watched]")
@click.option(
    "--data", type=PATH, help="Directory for catalog, packages and indexes.  [default: var]"
)
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
