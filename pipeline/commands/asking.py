"""The commands that ask the catalog and change nothing."""

from dataclasses import asdict, replace

import click

from catalog import index_query, prompt_index, search
from catalog.formats import FORMATS
from pipeline import report
from pipeline.commands.invocation import DONE, as_json_option, settings_of, to_json


@click.command()
@click.argument("name", default="default")
@click.option("--format", "form", type=click.Choice(sorted(FORMATS)), help="As if configured so.")
@click.option("--budget-chars", type=click.IntRange(min=0), help="As if configured so.")
@as_json_option
@click.pass_context
def index(context: click.Context, name: str, form: str | None, budget_chars: int | None,
          as_json: bool) -> int:
    """Print the prompt index NAME; with options, what it would be.

    \b
    Examples:
      skilldrop index
      skilldrop index --budget-chars 4000 --json
    """
    settings = settings_of(context)
    db = search.open_catalog(settings.catalog_path)
    spec = index_query.index_spec(db, name)
    spec = replace(spec, format=form or spec.format,
                   budget_chars=spec.budget_chars if budget_chars is None else budget_chars)
    built = index_query.build_index(db, spec)
    if as_json:
        click.echo(to_json({"text": built.text, "report": prompt_index.report(spec, built)}))
    else:
        click.echo(built.text, nl=False)
    return DONE


@click.command(name="search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@as_json_option
@click.pass_context
def search_(context: click.Context, words: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Find active skills by all WORDS, best first; English or Chinese.

    \b
    Example:
      skilldrop search csv columns
    """
    db = search.open_catalog(settings_of(context).catalog_path)
    hits = search.find(db, " ".join(words), limit)
    click.echo(to_json([asdict(hit) for hit in hits]) if as_json else report.hits(hits))
    return DONE


@click.command()
@as_json_option
@click.pass_context
def status(context: click.Context, as_json: bool) -> int:
    """Say how the catalog is: its health, counts, and what waits or is rejected, and why.

    \b
    Example:
      skilldrop status --json
    """
    found = search.status(search.open_catalog(settings_of(context).catalog_path))
    click.echo(to_json(found) if as_json else report.status(found))
    return DONE
