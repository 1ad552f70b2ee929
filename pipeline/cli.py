"""The command line: reads what is common to all commands, and says in one place what failed."""

import sys
import tempfile
import traceback
from pathlib import Path

import click

from catalog.errors import SkilldropError
from pipeline.commands.deferred import deferred
from pipeline.commands.invocation import A_PATH, DONE, INTERRUPTED, OUR_BUG, WRONG_USAGE, Where


def main() -> None:
    """Run the command line and exit; all failures are printed here."""
    try:
        code = cli.main(prog_name="skilldrop", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        code = INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = WRONG_USAGE
    except SkilldropError as error:
        click.echo(f"skilldrop: {error}", err=True)
        code = WRONG_USAGE
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        sys.stderr.close()
        code = DONE
    except Exception as error:  # noqa: BLE001  # the one place that speaks of our own bugs
        code = _our_bug(error)
    sys.exit(code if isinstance(code, int) else DONE)


def _our_bug(error: Exception) -> int:
    with tempfile.NamedTemporaryFile("w", prefix="skilldrop-", suffix=".log",
                                     delete=False) as log:
        traceback.print_exception(error, file=log)
    click.echo(f"skilldrop: this is a bug of ours: {type(error).__name__}: {error}. "
               f"Please report it with {log.name}.", err=True)
    return OUR_BUG


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--config", "config_file", type=A_PATH,
              help="Settings file.  [default: skilldrop.toml where it exists]")
@click.option("--watched", type=A_PATH, help="The one root to watch.  [default: watched]")
@click.option("--data", type=A_PATH, help="Where catalog and index go.  [default: var]")
@click.version_option(package_name="skilldrop", prog_name="skilldrop")
@click.pass_context
def cli(context: click.Context, config_file: Path | None, watched: Path | None,
        data: Path | None) -> None:
    """Keep a shared folder of Agent Skills as a searchable catalog and a prompt index.

    \b
    Drop skill folders into watched/ and run:
      skilldrop up
    """
    context.obj = Where(config_file, watched, data)


for command in deferred():
    cli.add_command(command)
