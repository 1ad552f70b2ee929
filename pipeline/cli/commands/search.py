"""The commands that ask the catalog and change nothing."""

from dataclasses import asdict

import click

from catalog.database.connection import explained
from catalog.reading import search
from catalog.reading import versions as reading_versions
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, FINDINGS, as_json_option, to_json
from pipeline.cli.output import status as output_status


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
    if left_out := search.bounded(" ".join(words))[1]:
        click.echo(left_out, err=True)
    click.echo(to_json([asdict(hit) for hit in hits]) if as_json else output_status.hits(hits))
    return DONE


@click.command()
@click.option(
    "--check", is_flag=True, help="Say health alone; exit 1 unless a service runs and needs nobody."
)
@as_json_option
@click.pass_context
def status(context: click.Context, check: bool, as_json: bool) -> int:
    """Say how the catalog is: its health, counts, and what waits or is rejected, and why.

    \b
    Examples:
      skilldrop status --json
      skilldrop status --check || echo "somebody has to look"
    """
    catalog = settings_of(context).catalog_path
    with explained(catalog):
        found = search.status(search.open_catalog(catalog), catalog)
    if as_json:
        click.echo(to_json(found))
    else:
        click.echo(output_status.health(found) if check else output_status.status(found))
    return FINDINGS if check and not output_status.health_of(found).is_followed else DONE


@click.command()
@click.argument("skill")
@click.option("--diff", is_flag=True, help="Show how SKILL.md changed, too.")
@as_json_option
@click.pass_context
def versions(context: click.Context, skill: str, diff: bool, as_json: bool) -> int:
    """List the versions of SKILL, newest first, and what changed in each.

    \b
    Examples:
      skilldrop versions csv-profile
      skilldrop versions csv-profile --diff
    """
    db = search.open_catalog(settings_of(context).catalog_path)
    found = reading_versions.history(db, skill).as_json()
    click.echo(to_json(found) if as_json else output_status.versions(found, diff=diff))
    return DONE
