"""The commands that decide which version of a skill agents are given."""

from typing import Any, cast

import click

from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, as_json_option, to_json
from pipeline.cli.output import status
from pipeline.sync.request_handlers import handle


@click.command()
@click.argument("skill")
@click.argument("version")
@as_json_option
@click.pass_context
def rollback(context: click.Context, skill: str, version: str, as_json: bool) -> int:
    """Publish SKILL as it was in VERSION, and hold it there until `unpin`.

    Later edits of its folder are recorded as versions, but agents are not given them. While
    `skilldrop up` runs it is the service that does this.

    \b
    Example:
      skilldrop rollback csv-profile 20261120-140500
    """
    return _changed(context, "rollback", {"skill": skill, "version": version}, as_json=as_json)


@click.command()
@click.argument("skill")
@as_json_option
@click.pass_context
def unpin(context: click.Context, skill: str, as_json: bool) -> int:
    """Let SKILL follow its folder again, from its newest version on.

    \b
    Example:
      skilldrop unpin csv-profile
    """
    return _changed(context, "unpin", {"skill": skill}, as_json=as_json)


def _changed(context: click.Context, what: str, arguments: dict[str, Any], *, as_json: bool) -> int:
    found = cast(dict[str, Any], handle(settings_of(context), what, arguments))
    click.echo(to_json(found) if as_json else status.published(found))
    return DONE
