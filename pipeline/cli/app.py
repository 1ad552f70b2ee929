"""The command line: reads what is common to all commands, and says in one place what failed."""

import os
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

import click

from catalog.model.errors import SkilldropError
from pipeline.cli.lazy import lazy_commands
from pipeline.cli.options import DONE, INTERNAL_ERROR, INTERRUPTED, PATH, USAGE_ERROR, GlobalOptions


def main() -> None:
    """Run the command line and exit; all failures are printed here."""
    try:
        code = cli.main(prog_name="skilldrop", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort as abort:
        # click takes an EOFError for Ctrl-D, but no command reads what is typed.
        ended = abort.__cause__
        code = _internal_error(ended) if isinstance(ended, EOFError) else INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = USAGE_ERROR
    except SkilldropError as error:
        click.echo(f"skilldrop: {error}", err=True)
        code = USAGE_ERROR
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        sys.stderr.close()
        code = DONE
    except MemoryError:
        click.echo(
            "skilldrop: There is not enough memory. Give it more, or set smaller limits.", err=True
        )
        code = USAGE_ERROR
    except Exception as error:  # noqa: BLE001  # the one place that speaks of internal errors
        code = _damaged_catalog(error) or _internal_error(error)
    _leave_closed_streams()
    sys.exit(code if isinstance(code, int) else DONE)


def _damaged_catalog(error: Exception) -> int | None:
    """Say that the catalog is damaged, where a reading command came upon it in the middle."""
    from catalog.database.connection import (  # few commands need SQLite to begin with
        REBUILT,
        is_damage,
    )

    if not is_damage(error):
        return None
    click.echo(f"skilldrop: The catalog is damaged: {error}. {REBUILT}", err=True)
    return USAGE_ERROR


def _leave_closed_streams() -> None:
    """Drop what nobody reads any more, which else would change the exit code to 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (AttributeError, ValueError):  # none, or closed by us
            pass


def _internal_error(error: BaseException) -> int:
    """Say in one sentence what happened, with the traceback in a file where one can be written."""
    report = "what you did"
    with (
        suppress(OSError),
        tempfile.NamedTemporaryFile("w", prefix="skilldrop-", suffix=".log", delete=False) as log,
    ):
        traceback.print_exception(error, file=log)
        report = log.name
    with suppress(OSError, ValueError):
        click.echo(
            f"skilldrop: internal error: {type(error).__name__}: {error}. "
            f"Please report it with {report}.",
            err=True,
        )
    return INTERNAL_ERROR


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--config",
    "config_file",
    type=PATH,
    help="Settings file.  [default: skilldrop.toml where it exists]",
)
@click.option("--watched", type=PATH, help="The one root to watch.  [default: watched]")
@click.option("--data", type=PATH, help="Where catalog and index go.  [default: var]")
@click.version_option(package_name="skilldrop", prog_name="skilldrop")
@click.pass_context
def cli(
    context: click.Context, config_file: Path | None, watched: Path | None, data: Path | None
) -> None:
    """Keep a shared folder of Agent Skills as a searchable catalog and a prompt index.

    \b
    Drop skill folders into watched/ and run:
      skilldrop up
    """
    context.obj = GlobalOptions(config_file, watched, data)


for command in lazy_commands():
    cli.add_command(command)
