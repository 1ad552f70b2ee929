"""The commands that decide what agents are given: what is added, and which version stands."""

from pathlib import Path
from typing import Any, cast

import click

from catalog import history, search
from pipeline import report
from pipeline.adding import add as add_to
from pipeline.adding import root_named
from pipeline.commands.invocation import DONE, FINDINGS, as_json_option, settings_of, to_json
from pipeline.wishes import carry_out


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
    found = history.history(db, skill).as_json()
    click.echo(to_json(found) if as_json else report.versions(found, diff=diff))
    return DONE


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


def _changed(context: click.Context, what: str, arguments: dict[str, Any], *,
             as_json: bool) -> int:
    found = cast(dict[str, Any], carry_out(settings_of(context), what, arguments))
    click.echo(to_json(found) if as_json else report.published(found))
    return DONE


@click.command()
@click.argument("sources", nargs=-1, required=True,
                type=click.Path(exists=True, path_type=Path))
@click.option("--root", "root_name", metavar="PATH|LEVEL",
              help="Which root.  [default: the first of level project]")
@click.option("--replace", is_flag=True, help="Put it in the place of what has its name there.")
@as_json_option
@click.pass_context
def add(context: click.Context, sources: tuple[Path, ...], root_name: str | None, replace: bool,
        as_json: bool) -> int:
    """Copy skill folders or archives into a root whole; exit 1 where one would be rejected.

    Each is judged first as the root would judge it. A service that runs takes it in at once, else
    the next `scan` does.

    \b
    Examples:
      skilldrop add ~/drafts/word-count
      skilldrop add skills.zip --root enterprise --replace
    """
    root = root_named(settings_of(context).root_specs, root_name)
    done = []
    for addition in add_to(sources, root, replace=replace):
        done.append(addition)
        if not as_json:
            click.echo(report.addition(addition))
    if as_json:
        click.echo(to_json([addition.as_json() for addition in done]))
    return DONE if all(addition.is_added for addition in done) else FINDINGS
