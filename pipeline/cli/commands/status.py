"""Command that prints the state of the catalog."""

import click

from catalog.database.connection import explained, open_catalog
from catalog.reading import status as reading_status
from catalog.site.server import exposure
from pipeline.cli.context import settings_of, site_address
from pipeline.cli.options import DONE, FINDINGS, as_json_option, to_json
from pipeline.cli.output import status as output_status


@click.command()
@click.argument("skill", required=False)
@click.option(
    "--check",
    is_flag=True,
    help="Print only health; exit 1 if the service is not running or needs attention, or if"
    " skills of one level want the same name.",
)
@as_json_option
@click.pass_context
def status(context: click.Context, skill: str | None, check: bool, as_json: bool) -> int:
    """Print health, counts, and which folders wait or are rejected, and why.

    With SKILL, print the state of its folders, its place in the indexes and its findings.

    \b
    Examples:
      skilldrop status --json
      skilldrop status csv-profile
      skilldrop status --check || echo "skilldrop needs attention"
    """
    settings = settings_of(context)
    if skill:
        if check:
            raise click.UsageError("--check is about the service; give it without SKILL.")
        from catalog.reading import listing  # slow to import, like its output
        from pipeline.cli.output import skill_state

        with explained(settings.catalog_path):
            folders = listing.states(open_catalog(settings.catalog_path), skill)
        click.echo(to_json(folders) if as_json else skill_state.text(folders))
        return DONE
    catalog, site = settings.catalog_path, settings.site
    with explained(catalog):
        state = reading_status.load(open_catalog(catalog), catalog)
    host, _ = site_address(state["health"], settings)
    state["site_warning"] = host and exposure.warning(catalog, host, behind_proxy=site.behind_proxy)
    if as_json:
        click.echo(to_json(state))
    else:
        click.echo(output_status.health(state) if check else output_status.status(state))
    is_well = output_status.health_of(state).is_followed and not state["conflicts"]
    return FINDINGS if check and not is_well else DONE
