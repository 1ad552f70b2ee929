"""Commands that list the versions that wait for review, and decide on them."""

import os
import pwd
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from catalog.database.queries import Database
from catalog.reading.skills import review as reading_review
from catalog.text.visible import visible
from pipeline.cli.options import (
    DONE,
    FINDINGS,
    Answer,
    as_json_option,
    with_catalog,
    with_json,
    with_settings,
)
from pipeline.cli.output.lint import COLOURS
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.service.requests import handle


@click.group(invoke_without_command=True)
@as_json_option
@click.pass_context
def review(context: click.Context, as_json: bool) -> int | None:
    """List the versions that wait for review, and decide on them; exit 1 if one waits.

    Each has its dangers and its changes since the version that agents get: files, scripts, tools of
    `allowed-tools` and hosts of URLs. The page Review of the site shows all changes.

    \b
    Examples:
      skilldrop review
      skilldrop review --json
    """
    return None if context.invoked_subcommand else _list(as_json=as_json)


@with_catalog
def _list(_: object, db: Database) -> Answer:
    waiting = reading_review.waiting(db)
    lines = [line for version in waiting for line in _version_lines(version)]
    lines.append(f"{counted(len(waiting), 'version')} to review.")
    facts = [version.facts for version in waiting]
    return Answer(facts, lines, FINDINGS if waiting else DONE)


def _version_lines(waiting: reading_review.Waiting) -> Iterator[str]:
    row, facts = waiting.row, waiting.facts
    instead = f"agents get {row['published']}" if row["published"] else "agents get none"
    name = click.style(visible(row["name"]), bold=True)
    yield f"{name} {row['version']} in {visible(row['root'])}/{visible(row['path'])}; {instead}"
    for finding in facts["findings"]:
        where = f"{finding['path']}:{finding['line']}" if finding["line"] else finding["path"]
        line = f"    {finding['severity']} {finding['code']} {where or ''}: {finding['message']}"
        yield click.style(visible(line), fg=COLOURS[finding["severity"]])
    for word, things in (
        ("added", facts["added"]),
        ("removed", facts["removed"]),
        ("changed", facts["changed"]),
        ("scripts added or changed", facts["scripts"]),
        ("new tools", facts["new_tools"]),
        ("new hosts", facts["new_hosts"]),
    ):
        if things:
            yield f"    {word}: {visible(', '.join(things))}"
    yield f"    skilldrop review approve {row['skill_id']} --version {row['version']}"


_version = click.option("--version", help="Version to decide on.  [default: the newest]")
_by = click.option("--by", help="Name of the reviewer, by default your user name.")


@review.command()
@click.argument("skill")
@_version
@_by
@click.option("--why", help="Reason for the decision.")
@with_json
@with_settings
def approve(settings: Settings, /, **asked: str | None) -> Answer:
    """Let agents get a version of SKILL that waits for review.

    SKILL is a name or a folder. With --version, any newer version stays in the queue. The approval
    is for the content: the same content in another folder needs no second approval.

    \b
    Examples:
      skilldrop review approve csv-profile
      skilldrop review approve team-a/csv-profile --version 20261120-140500 --why "Read it all."
    """
    return _decide(settings, "approved", asked)


@review.command()
@click.argument("skill")
@_version
@_by
@click.option("--why", required=True, help="Reason for the decision, which the author reads.")
@with_json
@with_settings
def reject(settings: Settings, /, **asked: str | None) -> Answer:
    """Keep agents from getting a version of SKILL.

    They get the last approved version, if there is one. An approved version can be rejected later,
    and a rejected one approved.

    \b
    Example:
      skilldrop review reject csv-profile --why "It sends the data to a server."
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
