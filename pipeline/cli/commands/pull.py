"""Command that keeps a site's skills on another machine; its arguments are those of the program."""

import click

from catalog.pull import program

NAME = "skilldrop pull"


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def pull(arguments: tuple[str, ...]) -> int:
    """Keep the published skills of a site in a folder."""
    return program.main(list(arguments), NAME)
