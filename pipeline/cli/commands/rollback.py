"""Commands that choose the published version of a skill."""

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
    """Publish VERSION of SKILL and hold the skill there until `unpin`.

    Later edits of the folder are recorded as versions but not published. While `skilldrop up`
    runs, the service carries this out.

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
    """Publish the newest version of SKILL and follow its folder again.

    \b
    Example:
      skilldrop unpin csv-profile
    """
    return _changed(context, "unpin", {"skill": skill}, as_json=as_json)


def _changed(
    context: click.Context, request: str, arguments: dict[str, Any], *, as_json: bool
) -> int:
    history = cast(dict[str, Any], handle(settings_of(context), request, arguments))
    click.echo(to_json(history) if as_json else status.published(history))
    return DONE
