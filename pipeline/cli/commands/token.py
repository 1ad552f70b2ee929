"""Commands for the tokens of the site's readers."""

from datetime import UTC, datetime

import click

from catalog.filesystem import token_file
from catalog.text.visible import visible
from pipeline.cli.options import Answer, with_json, with_settings
from pipeline.config.settings import Settings


@click.group()
def token() -> None:
    """Make, list and remove the tokens of the site's readers.

    Without any token, everybody who reaches the site may read it. Otherwise only readers with a
    token may.

    \b
    Example:
      skilldrop token new build-server
    """


@token.command()
@click.argument("name")
@with_json
@with_settings
def new(settings: Settings, name: str) -> Answer:
    """Make a token NAME and print it once; only its hash is stored."""
    is_first = not token_file.load(settings.tokens_path)
    secret = token_file.add(settings.tokens_path, name, datetime.now(UTC))
    if is_first:
        click.echo("From now on, every reader of the site needs a token.", err=True)
    return Answer({"name": name, "token": secret}, [secret])


@token.command("list")
@with_json
@with_settings
def list_(settings: Settings) -> Answer:
    """List the names of the tokens and when they were made."""
    tokens = token_file.load(settings.tokens_path)
    lines = [f"{each.created}  {each.name}" for each in tokens]
    return Answer(
        [{"name": each.name, "created": each.created} for each in tokens],
        lines or ["There are no tokens; everybody who reaches the site may read it."],
    )


@token.command()
@click.argument("name")
@click.option("--open", "opens", is_flag=True, help="Also remove the last token, for open access.")
@with_settings
def remove(settings: Settings, name: str, opens: bool) -> None:
    """Remove the token NAME; the site refuses its reader at once."""
    is_open = token_file.remove(settings.tokens_path, name, opens=opens)
    click.echo(visible(f"Removed the token {name}; the site refuses its reader."))
    if is_open:
        click.echo("No token is left: everybody who reaches the site may read it.", err=True)
