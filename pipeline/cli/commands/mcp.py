"""Command that serves agents over MCP."""

import click

from catalog.model.values import VERSION
from catalog.site import address
from catalog.usage.database import ReadCounter
from pipeline.cli.extras import needing
from pipeline.cli.options import settings_of

LOOPBACK = "127.0.0.1"


@click.command()
@click.option(
    "--http",
    metavar="[HOST:]PORT",
    help="Serve over streamable HTTP at this address instead of stdin and stdout.",
)
@click.pass_context
def mcp(context: click.Context, http: str | None) -> None:
    """Serve search and skill files to agents over the Model Context Protocol.

    \b
    Examples:
      skilldrop --data /var/lib/skilldrop mcp
      skilldrop mcp --http 8002
    """
    listen = _address(http) if http else None
    if listen:
        address.check(*listen, "The MCP server", "--http PORT")
    with needing("mcp"):
        from catalog.mcp import server as mcp_server
    settings = settings_of(context)
    counter = ReadCounter(settings.usage_path) if settings.usage_path else None
    if counter:
        context.call_on_close(counter.close)
    server = mcp_server.SkillServer(
        settings.catalog_path,
        settings.packages_folder,
        VERSION,
        is_remote=listen is not None
        and (settings.site.behind_proxy or not address.is_loopback(listen[0])),
        counter=counter,
    )
    if listen is None:
        mcp_server.serve_stdio(server)
        return
    host, port = listen
    click.echo(
        f"Serving {settings.catalog_path} to agents at "
        f"{address.url(host, port)}{mcp_server.PATH.removeprefix('/')}",
        err=True,
    )
    warning = address.warning(settings.catalog_path, host, behind_proxy=settings.site.behind_proxy)
    if warning:
        click.echo(f"skilldrop: {warning}", err=True)
    mcp_server.serve_http(server, host, port, settings.site.names, settings.tokens_path)


def _address(value: str) -> tuple[str, int]:
    host, _, port = value.rpartition(":")
    if not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
        raise click.UsageError(
            f"{value} has no port from 1 to 65535; write --http 8002 or --http 127.0.0.1:8002."
        )
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)
