"""Commands that make, check and show the settings."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from catalog.model.errors import NotPossible
from catalog.text.visible import visible
from pipeline.cli.options import DONE, FINDINGS, Answer, GlobalOptions, with_json
from pipeline.cli.output.terminal import counted
from pipeline.config import loader
from pipeline.service.open_catalog import trouble_of_root


@click.group()
def config() -> None:
    """Make, check and show the settings.

    They come from the file of --config, else from skilldrop.toml in the working directory, else
    from ~/.config/skilldrop/skilldrop.toml. Variables SKILLDROP_… and options override the file.

    \b
    Examples:
      skilldrop config init
      skilldrop config show
    """


@config.command()
@click.pass_obj
def init(given: GlobalOptions) -> None:
    """Write a commented settings file.

    It is ~/.config/skilldrop/skilldrop.toml, or the file of --config. The command asks for the
    folder of your skills, unless --watched names it, and creates that folder.
    """
    file = given.config or loader.user_file()
    if os.path.lexists(file):
        raise NotPossible(f"{file} exists already. Edit it; `skilldrop config check` checks it.")
    if not given.watched and not sys.stdin.isatty():
        raise NotPossible("Name the folder of your skills: `skilldrop config init --watched DIR`.")
    watched = given.watched or Path(click.prompt("Folder of your skills", "~/skills"))
    data = given.data or Path("~/.local/share/skilldrop")
    template = Path(__file__).with_name("config.toml").read_text("utf-8")
    advice = "Name another folder with --watched."
    try:
        watched.expanduser().mkdir(parents=True, exist_ok=True)
        advice = "Name another settings file: `skilldrop --config FILE config init`."
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as out:
            out.write(template.format(watched=_in(file, watched), data=_in(file, data)))
    except OSError as error:
        raise NotPossible(f"{error.filename} cannot be made: {error.strerror}. {advice}") from error
    loader.load(file)
    up = f"skilldrop --config {shlex.quote(str(file))} up" if given.config else "skilldrop up"
    click.echo(visible(f"Wrote {file}. `{up}` now watches {watched}."))


def _in(file: Path, path: Path) -> str:
    """Return a path as a text in a settings file, from where relative ones start."""
    is_same = str(path).startswith("~") or file.parent == Path()
    return json.dumps(str(path if is_same else path.absolute()), ensure_ascii=False)


@config.command()
@click.pass_obj
def check(given: GlobalOptions) -> int:
    """Check all settings, the roots and the secrets of hooks.

    Exit 2 with a sentence about the first mistake in the settings, which every command that reads
    them does, too. Exit 1 if a root cannot be read, or the secret of a hook is not here.
    """
    settings = loader.load(*given)
    file = loader.file_in_force(given.config)
    source = visible(str(file)) if file else "The defaults"
    roots = [root.path for root in settings.root_specs if not root.origin]
    troubles = [
        *filter(None, map(trouble_of_root, roots)),
        *filter(None, (hook.trouble() for hook in settings.hooks)),
    ]
    for trouble in troubles:
        click.echo(f"{source}: {visible(trouble)}")
    if not troubles:
        click.echo(f"{source}: no mistake; {counted(len(settings.root_specs), 'root')}.")
    return FINDINGS if troubles else DONE


@config.command()
@with_json
def show() -> Answer:
    """Print each setting with its value and its source."""
    given: GlobalOptions = click.get_current_context().obj
    found = list(loader.sources(*given))
    return Answer(
        [{"name": name, "value": value, "source": source} for name, value, source in found],
        (visible(f"{name} {_shown(value)}  # {source}") for name, value, source in found),
    )


def _shown(value: Any) -> str:
    return "is not set" if value is None else f"= {json.dumps(value, ensure_ascii=False)}"
