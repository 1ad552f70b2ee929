"""Commands that find skills, list them and show one."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from catalog.database.queries import Database
from catalog.filesystem import token_file
from catalog.model import naming
from catalog.model.fields import DECLARED
from catalog.reading.search import filters, skill_lists, word_search
from catalog.reading.search.filters import Filters
from catalog.reading.search.word_search import Results
from catalog.reading.skills import review, skill_facts
from catalog.site import address
from catalog.text.suggestions import few
from catalog.text.visible import visible
from pipeline.cli.filter_options import with_filters
from pipeline.cli.options import Answer, site_address, with_catalog
from pipeline.cli.output import skills, terminal
from pipeline.cli.output.skills import file_list
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.roots.file_kinds import SKILL_MD


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
@click.option("--for-model", is_flag=True, help="Only skills that a model may start.")
@with_filters
@with_catalog
def search_(
    _: object,
    db: Database,
    /,
    words: tuple[str, ...],
    limit: int,
    offset: int,
    for_model: bool,
    **filters: Any,
) -> Answer:
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
    wanted = wanted.for_models if for_model else wanted
    results = word_search.search(db, " ".join(words), limit, offset=offset, filters=wanted)
    if results.note:
        click.echo(visible(results.note), err=True)
    if not for_model and (names := review.unpublished(db, " ".join(words))):
        verb = "waits" if len(names) == 1 else "wait"
        click.echo(f"{few(names)} {verb} for review; see `skilldrop review`.", err=True)
    return Answer([asdict(hit) for hit in results.hits], _hits(results))


def _hits(results: Results) -> Iterator[str]:
    """Yield two lines for each hit, and one about other skills of its name."""
    if not results.hits:
        yield "No skill found." if results.why_empty else "No active skill has any of these words."
    for hit in results.hits:
        status = "" if hit.status == "active" else f" ({hit.status})"
        yield click.style(visible(hit.name), bold=True) + status
        yield f"    {visible(hit.snippet)}"
        if status:
            yield f"    {visible(hit.location)}"
        if others := hit.others.count:
            more = " …" if others > len(hit.others.first) else ""
            places = few(hit.others.first) + more
            yield f"    +{counted(others, 'other')} of this name: {places}"


@click.command(name="list")
@with_filters
@with_catalog
def list_(_: object, db: Database, /, **filters: Any) -> Answer:
    """List the skills of the catalog by name, by default the active ones.

    \b
    Examples:
      skilldrop list
      skilldrop list --status all --root team-a
      skilldrop list --namespace team-a
      skilldrop list --tag csv --json
    """
    wanted = _parsed(filters)
    rows = skill_lists.listed_skills(db, wanted)
    why = "" if rows else visible(word_search.why_empty(db, "", wanted))
    return Answer(rows, _skill_lines(rows), note=why or f"{counted(len(rows), 'skill')}.")


def _skill_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Return a line for each skill: name, status unless active, and description."""
    labels = (
        visible(row["name"]) + ("" if row["status"] == "active" else f" ({row['status']})")
        for row in rows
    )
    cells = [(label, visible(row["description"])) for label, row in zip(labels, rows, strict=True)]
    return terminal.table(cells, shutil.get_terminal_size((100, 24)).columns)


def _parsed(options: Mapping[str, Any]) -> Filters:
    """Return the filters for the values of the options. Raises FilterInvalid."""
    return filters.parse({name: value or "" for name, value in options.items()}, datetime.now(UTC))


@click.command()
@click.argument("skill")
@with_catalog
def show(settings: Settings, db: Database, skill: str) -> Answer:
    """Show the facts on the page of SKILL, and the commands that install it.

    \b
    Examples:
      skilldrop show csv-profile
      skilldrop show csv-profile --json
    """
    host, port = site_address(next(db.query("SELECT * FROM health")), settings)
    site = settings.site.url or address.url(host or settings.site.host, port)
    needs_token = bool(token_file.load(settings.tokens_path))
    facts = skill_facts.all_of(db, skill, site, needs_token=needs_token)
    return Answer(facts, _lines(facts))


_VALUES = [
    (column.short or column.label.lower(), name)
    for name, column in DECLARED.items()
    if column.label
]
_LISTS = (
    ("tags", "tags"),
    ("versions", "versions"),
    ("uses", "uses"),
    ("needs", "needs"),
    ("used by", "used_by"),
)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    reason = f": {facts['status_reason']}" if facts["status_reason"] else ""
    yield click.style(visible(facts["name"]), bold=True)
    yield visible(facts["description"] or "")
    yield visible(f"status    {facts['status']}{reason}")
    yield f"version   {facts['version'] or 'none'}"
    yield visible(f"folder    {facts['root']}/{facts['path']}")
    if facts["status"] == "removed":
        yield f"`skilldrop restore {naming.argument(facts)}` makes a folder of its newest version."
    else:
        yield visible(f"location  {facts['location']}")
    yield from (visible(f"{label:9} {facts[key]}") for label, key in _VALUES if facts[key])
    yield from (visible(f"{label:9} {few(facts[key])}") for label, key in _LISTS if facts[key])
    if facts["files"]:
        sizes = [(file["path"], file["size"]) for file in facts["files"]]
        yield file_list(facts["skill_md_name"] or SKILL_MD, sizes)
    yield from skills.details(facts)
    for line in facts["install"]:
        note = f" ({line['note']})" if line["note"] else ""
        yield f"\n{line['client']}{note}:\n  {line['text']}"
    yield from (f"\n{visible(note)}" for note in facts["install_notes"])
