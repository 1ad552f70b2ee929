"""Command that searches the catalog."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from catalog.database import connection as database_connection
from catalog.model.values import LEVELS
from catalog.reading import filters as search_filters
from catalog.reading import search
from catalog.text.display import visible
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, as_json_option, to_json
from pipeline.cli.output import status as output_status

_FILTERS = (
    click.option(
        "--status",
        type=click.Choice(search_filters.STATUSES),
        default="active",
        show_default=True,
        help="Only skills with this status.",
    ),
    click.option("--level", type=click.Choice(LEVELS), help="Only of this level."),
    click.option("--root", help="Only of this root: its path or the last part of it."),
    click.option("--plugin", help="Only of this plugin."),
    click.option("--tag", help="Only with this tag."),
    click.option("--author", help="Only of this author."),
    click.option("--license", help="Only with this licence, such as MIT."),
    click.option("--tool", help="Only if allowed-tools has this tool, such as Bash."),
    click.option("--has-scripts", type=click.Choice(["yes", "no"]), help="With scripts or not."),
    click.option(
        "--valid",
        type=click.Choice(["yes", "no"]),
        help="Valid by the specification or not.",
    ),
    click.option(
        "--changed-since",
        metavar="TIME",
        help="Only if changed since a date or time in ISO 8601, or in the last 12h, 7d or 2w.",
    ),
)


def _with_filters(command: Callable[..., int]) -> Callable[..., int]:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


@click.command(name="search")
@click.argument("words", nargs=-1)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Print at most this many skills.",
)
@click.option("--offset", type=click.IntRange(0), default=0, help="Leave out the first ones.")
@_with_filters
@as_json_option
@click.pass_context
def search_(
    context: click.Context,
    /,
    words: tuple[str, ...],
    limit: int,
    offset: int,
    as_json: bool,
    **filters: Any,
) -> int:
    """Find the skills for a task, best match first.

    WORDS may be a sentence, in English or Chinese. Any word may match, and rare words count most.
    Misspelled words are corrected. Without WORDS, the filters list skills by name.

    \b
    Examples:
      skilldrop search csv columns
      skilldrop search "How do I sum up the columns of a CSV file?"
      skilldrop search "word counts" --tool Bash --changed-since 7d
      skilldrop search --status shadowed --author "Ada Lovelace"
    """
    wanted = search_filters.parse(
        {name: value or "" for name, value in filters.items()}, datetime.now(UTC)
    )
    if not words and wanted.is_default:
        raise click.UsageError("Give words to search for, or a filter such as --tag.")
    db = database_connection.open_catalog(settings_of(context).catalog_path)
    results = search.search(db, " ".join(words), limit, offset=offset, filters=wanted)
    if results.note:
        click.echo(visible(results.note), err=True)
    hits = results.hits
    click.echo(to_json([asdict(hit) for hit in hits]) if as_json else output_status.hits(results))
    return DONE
