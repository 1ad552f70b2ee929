"""Commands for reviewers: versions that wait, and decisions on them."""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import click

from catalog.database import connection
from catalog.database.connection import explained
from catalog.reading import review as reading_review
from catalog.text.visible import visible
from pipeline.cli.options import DONE, FINDINGS, as_json_option, settings_of, to_json
from pipeline.cli.output.terminal import counted
from pipeline.service.requests import handle

_by = click.option("--by", help="Name of the reviewer, by default your user name.")


@click.command()
@as_json_option
@click.pass_context
def pending(context: click.Context, as_json: bool) -> int:
    """List the versions that wait for review, and their changes; exit 1 if one waits.

    Scripts, tools of `allowed-tools` and hosts of URLs are compared with the version that agents
    get. The page Review of the site shows all changes.

    \b
    Examples:
      skilldrop pending
      skilldrop pending --json
    """
    path = settings_of(context).catalog_path
    with explained(path):
        waiting = reading_review.waiting(connection.open_catalog(path))
    if as_json:
        click.echo(to_json([version.as_json() for version in waiting]))
    else:
        for version in waiting:
            click.echo("\n".join(_lines(version)))
        click.echo(f"{counted(len(waiting), 'version')} to review.")
    return FINDINGS if waiting else DONE


def _lines(waiting: reading_review.Waiting) -> Iterator[str]:
    row = waiting.row
    instead = f"agents get {row['published']}" if row["published"] else "agents get none"
    name = click.style(visible(row["name"]), bold=True)
    yield f"{name} {row['version']} in {visible(row['root'])}/{visible(row['path'])}; {instead}"
    for word, things in (
        ("added", waiting.added),
        ("removed", waiting.removed),
        ("changed", waiting.changed),
        ("scripts added or changed", waiting.scripts),
        ("new tools", waiting.tools),
        ("new hosts", waiting.hosts),
    ):
        if things:
            yield f"    {word}: {visible(', '.join(things))}"
    for finding in waiting.findings:
        where = f"{finding['path']}:{finding['line']}" if finding["line"] else finding["path"]
        yield click.style(
            visible(f"    {finding['severity']} {finding['code']} {where or ''}".rstrip()),
            fg="yellow",
        )


@click.command()
@click.argument("skill")
@click.argument("version", required=False)
@_by
@click.option("--why", help="Reason for the decision.")
@as_json_option
@click.pass_context
def approve(context: click.Context, /, as_json: bool, **asked: str | None) -> int:
    """Let agents get a version of SKILL that waits for review, by default the newest.

    SKILL is a name or a folder. With VERSION, any newer version stays in the queue. The approval is
    for the content: the same content in another folder needs no second approval.

    \b
    Examples:
      skilldrop approve csv-profile
      skilldrop approve team-a/csv-profile 20261120-140500 --why "Read all scripts."
    """
    return _decide(context, "approved", asked, as_json=as_json)


@click.command()
@click.argument("skill")
@click.argument("version", required=False)
@_by
@click.option("--why", required=True, help="Reason for the decision, which the author reads.")
@as_json_option
@click.pass_context
def reject(context: click.Context, /, as_json: bool, **asked: str | None) -> int:
    """Keep agents from getting a version of SKILL, by default the newest.

    They get the last approved version, if there is one. An approved version can be rejected later,
    and a rejected one approved.

    \b
    Example:
      skilldrop reject csv-profile --why "It sends the data to a server."
    """
    return _decide(context, "rejected", asked, as_json=as_json)


def _decide(
    context: click.Context,
    decision: Literal["approved", "rejected"],
    asked: dict[str, str | None],
    *,
    as_json: bool,
) -> int:
    arguments: dict[str, Any] = asked | {
        "decision": decision,
        "absolute": str(Path(asked["skill"] or "").absolute()),
        "by": asked["by"] or _user(),
    }
    result = cast(dict[str, Any], handle(settings_of(context), "review", arguments))
    if as_json:
        click.echo(to_json(result))
        return DONE
    click.echo(visible(f"{decision} version {result['version']} as {result['decided_by']}"))
    for skill in result["skills"]:
        place = f"{skill['name']} in {skill['root']}/{skill['path']}"
        if skill["status"] != "active":
            state = f"is {skill['status']}, so agents do not get it"
        elif skill["is_published"]:
            state = "agents get this version"
        else:
            state = f"agents get version {skill['current_version']}"
        click.echo(visible(f"    {place}: {state}"))
    return DONE


def _user() -> str:
    """Return the name of the user running the command."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a user id without a name, as in a container
        return str(os.getuid())
