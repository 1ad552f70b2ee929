"""Commands that find skills, or list them."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from catalog.database import connection
from catalog.reading import browse, filters, search
from catalog.reading.filters import FILTERS, Filter, Filters
from catalog.reading.search import Results
from catalog.reading.search_hits import Hit
from catalog.text import suggestions
from catalog.text.visible import visible
from pipeline.cli.options import DONE, as_json_option, settings_of, to_json
from pipeline.cli.output import terminal
from pipeline.cli.output.terminal import counted


def _with_filters(command: Callable[..., int]) -> Callable[..., int]:
    """Add an option for each filter; see `_parsed`."""
    for each in reversed(FILTERS):
        command = _option(each)(command)
    return command


def _option(filter_: Filter) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return click.option(
        f"--{filter_.name.replace('_', '-')}",
        type=click.Choice(filter_.possible) if filter_.kind in ("choice", "yes or no") else str,
        multiple=not filter_.is_single,
        default=list(filter_.usual) or None,
        show_default=bool(filter_.usual),
        metavar="TIME" if filter_.kind == "time" else None,
        help=filter_.sentence + (_SEVERAL if filter_.usual else ""),
    )


_SEVERAL = " Like most filters, it may be given several times."


@click.command(name="search")
@click.argument("words", nargs=-1)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Print at most this many skills.",
)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many skills.")
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
    wanted = _parsed(filters)
    if not words and wanted.is_default:
        raise click.UsageError("Give words to search for, or a filter such as --tag.")
    db = connection.open_catalog(settings_of(context).catalog_path)
    results = search.search(db, " ".join(words), limit, offset=offset, filters=wanted)
    if results.note:
        click.echo(visible(results.note), err=True)
    hits = results.hits
    click.echo(to_json([asdict(hit) for hit in hits]) if as_json else _hits(results))
    return DONE


def _hits(results: Results) -> str:
    """Return two lines for each hit, and one about other skills of its name."""
    if not results.hits:
        return "No skill found." if results.why_empty else _NO_HIT
    return "\n".join(line for hit in results.hits for line in _hit(hit))


def _hit(hit: Hit) -> Iterator[str]:
    status = "" if hit.status == "active" else f" ({hit.status})"
    yield click.style(visible(hit.name), bold=True) + status
    yield f"    {visible(hit.snippet)}"
    if status:
        yield f"    {visible(hit.location)}"
    if hit.others.count:
        places = suggestions.few(hit.others.first) + (
            " …" if hit.others.count > len(hit.others.first) else ""
        )
        yield f"    +{counted(hit.others.count, 'other')} of this name: {places}"


_NO_HIT = "No active skill has any of these words."


@click.command(name="list")
@_with_filters
@as_json_option
@click.pass_context
def list_(context: click.Context, /, as_json: bool, **filters: Any) -> int:
    """List the skills of the catalog by name, by default the active ones.

    \b
    Examples:
      skilldrop list
      skilldrop list --status all --root team-a
      skilldrop list --namespace team-a
      skilldrop list --tag csv --json
    """
    db = connection.open_catalog(settings_of(context).catalog_path)
    rows = browse.listed_skills(db, _parsed(filters))
    if as_json:
        click.echo(to_json(rows))
        return DONE
    for line in _skill_lines(rows):
        terminal.echo(line)
    click.echo(f"{counted(len(rows), 'skill')}.", err=True)
    return DONE


def _skill_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each skill: name, status unless active, and description."""
    room = shutil.get_terminal_size((100, 24)).columns
    labels = [
        visible(row["name"]) + ("" if row["status"] == "active" else f" ({row['status']})")
        for row in rows
    ]
    widest = min(max(map(terminal.width, labels), default=0), room // 3)
    for row, label in zip(rows, labels, strict=True):
        padded = label + " " * (widest - terminal.width(label))
        yield terminal.cut(f"{padded}  {visible(row['description'])}", room).rstrip()


def _parsed(options: Mapping[str, Any]) -> Filters:
    """Return the filters for the values of the options. Raises FilterInvalid."""
    return filters.parse({name: value or "" for name, value in options.items()}, datetime.now(UTC))
