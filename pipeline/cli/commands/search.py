"""Command that searches the catalog."""

from dataclasses import asdict

import click

from catalog.database import connection as database_connection
from catalog.reading import search
from catalog.text.display import visible
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, as_json_option, to_json
from pipeline.cli.output import status as output_status


@click.command(name="search")
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Print at most this many skills.",
)
@as_json_option
@click.pass_context
def search_(context: click.Context, words: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Find the skills for a task, best match first.

    WORDS may be a sentence, in English or Chinese. Any word may match, and rare words count most.
    Misspelled words are corrected.

    \b
    Examples:
      skilldrop search csv columns
      skilldrop search "How do I sum up the columns of a CSV file?"
    """
    db = database_connection.open_catalog(settings_of(context).catalog_path)
    results = search.search(db, " ".join(words), limit)
    if results.note:
        click.echo(visible(results.note), err=True)
    hits = results.hits
    click.echo(to_json([asdict(hit) for hit in hits]) if as_json else output_status.hits(hits))
    return DONE
