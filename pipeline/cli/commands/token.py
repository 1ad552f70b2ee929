"""Commands for the tokens of the site's readers."""

from datetime import UTC, datetime

import click

from catalog.filesystem import token_file
from pipeline.cli.options import DONE, as_json_option, settings_of, to_json


@click.group()
def token() -> None:
    """Make, list and remove the tokens of the site's readers.

    While there is no token, everybody who reaches the site may read it. Otherwise only readers
    with a token may.

    \b
    Example:
      skilldrop token new build-server
    """


@token.command()
@click.argument("name")
@as_json_option
@click.pass_context
def new(context: click.Context, name: str, as_json: bool) -> int:
    """Make a token NAME and print it once; only its hash is stored."""
    path = settings_of(context).tokens_path
    is_first = not token_file.load(path)
    secret = token_file.add(path, name, datetime.now(UTC))
    click.echo(to_json({"name": name, "token": secret}) if as_json else secret)
    if is_first:
        click.echo("From now on, every reader of the site needs a token.", err=True)
    return DONE


@token.command("list")
@as_json_option
@click.pass_context
def list_(context: click.Context, as_json: bool) -> int:
    """List the names of the tokens and when they were made."""
    tokens = token_file.load(settings_of(context).tokens_path)
    if as_json:
        click.echo(to_json([{"name": each.name, "created": each.created} for each in tokens]))
    elif not tokens:
        click.echo("There are no tokens; everybody who reaches the site may read it.")
    for each in () if as_json else tokens:
        click.echo(f"{each.created}  {each.name}")
    return DONE


@token.command()
@click.argument("name")
@click.option("--open", "opens", is_flag=True, help="Also remove the last token, for open access.")
@click.pass_context
def remove(context: click.Context, name: str, opens: bool) -> int:
    """Remove the token NAME; its reader is refused from the next request on."""
    if token_file.remove(settings_of(context).tokens_path, name, opens=opens):
        click.echo("No token is left: everybody who reaches the site may read it.", err=True)
    return DONE
