"""Commands that replicate the catalog elsewhere and restore it."""

import click

from catalog.database import replication
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE


@click.command()
@click.argument("url")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    help="Seconds until a change is copied to URL.",
)
@click.pass_context
def replicate(context: click.Context, url: str, interval: float) -> int:
    """Copy every change of the catalog to URL until stopped; runs alongside `up`.

    URL is any replica URL of Litestream: s3://bucket/path, file:///path and others. Keys are read
    from LITESTREAM_ACCESS_KEY_ID and LITESTREAM_SECRET_ACCESS_KEY.

    \b
    Examples:
      skilldrop replicate s3://backups/skilldrop
      skilldrop replicate "s3://backups/skilldrop?endpoint=http://127.0.0.1:9000" --interval 5
    """
    replication.replicate(settings_of(context).catalog_path, url, interval)


@click.command()
@click.argument("url")
@click.option("--replace", is_flag=True, help="Replace an existing catalog.")
@click.pass_context
def restore(context: click.Context, url: str, replace: bool) -> int:
    """Restore the catalog from URL, to serve it read-only or to continue with it.

    \b
    Examples:
      skilldrop --data /srv/replica restore s3://backups/skilldrop
      skilldrop --data /srv/replica serve
    """
    catalog = settings_of(context).catalog_path
    replication.restore(url, catalog, replace=replace)
    click.echo(
        f"Restored {catalog} from {url}. Serve it with: skilldrop --data {catalog.parent} serve"
    )
    return DONE
