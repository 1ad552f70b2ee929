"""Commands for reviewers: versions that wait, and decisions on them."""

import os
import pwd
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from catalog.database.queries import Database
from catalog.reading import review
from catalog.text.visible import visible
from pipeline.cli.options import DONE, FINDINGS, Answer, with_catalog, with_json, with_settings
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.service.requests import handle


@click.command()
@with_json
@with_catalog
def pending(_: object, db: Database) -> Answer:
    """List the versions that wait for review, and their changes; exit 1 if one waits.

    Scripts, tools of `allowed-tools` and hosts of URLs are compared with the version that agents
    get. The page Review of the site shows all changes.

    \b
    Examples:
      skilldrop pending
      skilldrop pending --json
    """
    waiting = review.waiting(db)
    code = FINDINGS if waiting else DONE
    return Answer([version.as_json() for version in waiting], _listed(waiting), code)


def _listed(waiting: list[review.Waiting]) -> Iterator[str]:
    for version in waiting:
        yield from _lines(version)
    yield f"{counted(len(waiting), 'version')} to review."


def _lines(waiting: review.Waiting) -> Iterator[str]:
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
        line = visible(f"    {finding['severity']} {finding['code']} {where or ''}".rstrip())
        yield click.style(line, fg="yellow")


_by = click.option("--by", help="Name of the reviewer, by default your user name.")


@click.command()
@click.argument("skill")
@click.argument("version", required=False)
@_by
@click.option("--why", help="Reason for the decision.")
@with_json
@with_settings
def approve(settings: Settings, /, **asked: str | None) -> Answer:
    """Let agents get a version of SKILL that waits for review, by default the newest.

    SKILL is a name or a folder. With VERSION, any newer version stays in the queue. The approval is
    for the content: the same content in another folder needs no second approval.

    \b
    Examples:
      skilldrop approve csv-profile
      skilldrop approve team-a/csv-profile 20261120-140500 --why "Read all scripts."
    """
    return _decide(settings, "approved", asked)


@click.command()
@click.argument("skill")
@click.argument("version", required=False)
@_by
@click.option("--why", required=True, help="Reason for the decision, which the author reads.")
@with_json
@with_settings
def reject(settings: Settings, /, **asked: str | None) -> Answer:
    """Keep agents from getting a version of SKILL, by default the newest.

    They get the last approved version, if there is one. An approved version can be rejected later,
    and a rejected one approved.

    \b
    Example:
      skilldrop reject csv-profile --why "It sends the data to a server."
    """
    return _decide(settings, "rejected", asked)


def _decide(settings: Settings, decision: str, asked: dict[str, str | None]) -> Answer:
    arguments = asked | {
        "decision": decision,
        "absolute": str(Path(asked["skill"] or "").absolute()),
        "by": asked["by"] or _user(),
    }
    result = handle(settings, "review", arguments)
    return Answer(result, _decided(decision, result))


def _decided(decision: str, result: Mapping[str, Any]) -> Iterator[str]:
    yield visible(f"{decision} version {result['version']} as {result['decided_by']}")
    for skill in result["skills"]:
        if skill["status"] != "active":
            state = f"is {skill['status']}, so agents do not get it"
        elif skill["is_published"]:
            state = "agents get this version"
        else:
            state = f"agents get version {skill['current_version']}"
        yield visible(f"    {skill['name']} in {skill['root']}/{skill['path']}: {state}")


def _user() -> str:
    """Return the name of the user running the command."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a user id without a name, as in a container
        return str(os.getuid())
