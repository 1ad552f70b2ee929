"""Question before a command removes most of a directory of skills."""

import sys

import click

yes_option = click.option(
    "--yes", is_flag=True, help="Remove even more than half of what is there, without a question."
)


def confirm(removed: int, total: int, what: str, *, yes: bool) -> None:
    """Ask on a terminal before more than half of `total` things are removed.

    what says what they are and where. Raises click.ClickException if the answer is no, or if
    nobody can be asked; `yes` is the answer to the question.
    """
    if yes or removed * 2 <= total:
        return
    sentence = f"This removes {removed:,} of {total:,} {what}."
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.ClickException(f"{sentence} Repeat the command with --yes if you mean it.")
    if not click.confirm(f"{sentence} Go on?", err=True):
        raise click.ClickException("Nothing was changed.")
