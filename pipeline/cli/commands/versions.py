"""Commands that list the versions of a skill and decide which one agents get."""

import os
import pwd
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from catalog.database.queries import Database
from catalog.model import naming
from catalog.reading.skills import review as reading_review
from catalog.reading.skills import versions as reading_versions
from catalog.text.visible import visible
from pipeline.cli.options import (
    DONE,
    FINDINGS,
    Answer,
    as_json_option,
    to_copy,
    with_catalog,
    with_json,
    with_settings,
)
from pipeline.cli.output.lint import COLOURS
from pipeline.cli.output.terminal import counted
from pipeline.config.settings import Settings
from pipeline.service.requests import handle


@click.command()
@click.argument("skill")
@click.option("--diff", is_flag=True, help="Also show the changed lines of all text files.")
@with_catalog
def versions(settings: Settings, db: Database, skill: str, diff: bool) -> Answer:
    """List the versions of SKILL and their changes, newest first.

    \b
    Examples:
      skilldrop versions csv-profile
      skilldrop versions csv-profile --diff
    """
    history = reading_versions.history(db, skill, settings.packages_folder if diff else None)
    return Answer(history, _listed(history))


def _listed(history: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changes of each version, also those line by line if the history has them."""
    yield click.style(visible(history["skill"]), bold=True) + f" ({history['status']})"
    for version in history["versions"]:
        is_published = version["current"] and history["status"] == "active"
        notes = [
            *(["published"] if is_published else []),
            *(["pinned"] if version["version"] == history["pinned_to"] else []),
            *([f"commit {version['git_commit'][:12]}"] if version["git_commit"] else []),
            *([_review(version)] if version["review"] else []),
            *([] if version["has_files"] else ["files not kept"]),
        ]
        yield visible(version["version"] + (f"  ({', '.join(notes)})" if notes else ""))
        for word in ("added", "removed", "changed"):
            yield from (visible(f"    {word} {path}") for path in version[word])
        for line in version.get("diff", "").splitlines():
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            yield click.style(visible(f"    {line}"), fg=colour)


def _review(version: Mapping[str, Any]) -> str:
    """Return the review of a version, with the reason that the reviewer gave."""
    return _REVIEWS[version["review"]] + (f": {version['why']}" if version["why"] else "")


_REVIEWS = {
    "waits": "waits for review",
    "replaced": "replaced before its review",
    "approved": "approved",
    "rejected": "rejected in review",
}


@click.command()
@click.argument("skill")
@click.argument("version")
@with_json
@with_settings
def pin(settings: Settings, skill: str, version: str) -> Answer:
    """Publish VERSION of SKILL, which stays pinned to it until `unpin`.

    Later edits of the folder are stored as versions but not published.

    \b
    Example:
      skilldrop pin csv-profile 20261120-140500
    """
    return _chosen(handle(settings, "pin", {"skill": skill, "version": version}))


@click.command()
@click.argument("skill")
@with_json
@with_settings
def unpin(settings: Settings, skill: str) -> Answer:
    """Publish the newest version of SKILL and follow its folder again.

    \b
    Example:
      skilldrop unpin csv-profile
    """
    return _chosen(handle(settings, "unpin", {"skill": skill}))


def _chosen(history: Mapping[str, Any]) -> Answer:
    """Return the versions of a skill, with a line about the one that is published from now on."""
    skill = visible(history["skill"])
    current = next((row["version"] for row in history["versions"] if row["current"]), "none")
    line = (
        f"{skill} is pinned to version {current}; `skilldrop unpin` makes it follow its folder."
        if history["pinned_to"]
        else f"{skill} follows its folder; version {current} is published."
    )
    return Answer(history, [to_copy(line)])


@click.command()
@click.argument("skill", metavar="PATH")
@with_json
@with_settings
def prefer(settings: Settings, skill: str) -> Answer:
    """Make the skill in PATH win over other skills with the same name and level.

    By default, the skill that had the name first keeps it, and later ones are shadowed. If PATH
    wins already, this settles the conflict: `status` no longer reports it. PATH is a folder, and
    may be relative to its root.

    \b
    Examples:
      skilldrop prefer watched/csv-profile
      skilldrop prefer team-a/csv-profile --json
    """
    result = handle(settings, "prefer", {"folder": skill})
    return Answer(result, [visible(_preferred(result["skills"]))])


def _preferred(skills: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about the skill that has the name now, and the others."""
    parts = [
        f"Agents get {each['name']} from {each['root']}/{each['path']}"
        if each["status"] == "active"
        else f"{each['root']}/{each['path']} is {each['status']}"
        for each in sorted(skills, key=lambda each: each["status"] != "active")
    ]
    return f"{'; '.join(parts)}."


@click.group(invoke_without_command=True)
@as_json_option
@click.pass_context
def review(context: click.Context, as_json: bool) -> int | None:
    """List the versions that wait for review, and decide on them; exit 1 if one waits.

    Each has its dangers and its changes since the version that agents get: files, scripts, tools of
    `allowed-tools` and hosts of URLs. The page Review of the site shows all changes.

    \b
    Examples:
      skilldrop review --json
      skilldrop review approve csv-profile --why "Read all scripts."
      skilldrop review reject csv-profile --why "It sends the data to a server."
    """
    return None if context.invoked_subcommand else context.invoke(list_, as_json=as_json)


@review.command("list")
@with_catalog
def list_(_: object, db: Database) -> Answer:
    """List the versions that wait for review, as `review` does."""
    waiting = reading_review.waiting(db)
    lines = [line for version in waiting for line in _version_lines(version)]
    lines.append(f"{counted(len(waiting), 'version')} to review.")
    facts = [version.facts for version in waiting]
    return Answer(facts, map(to_copy, lines), FINDINGS if waiting else DONE)


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
    yield f"    skilldrop review approve {naming.argument(row)} --version {row['version']}"


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

    SKILL is a name or a folder. With --version, any newer version stays in the queue; one that
    replaced another there needs it. The approval is for the content: the same content in another
    folder needs no second approval.

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
    by = asked["by"] or _user()
    result = handle(settings, "review", asked | {"decision": decision, "by": by})
    return Answer(result, _decided(decision, result))


def _decided(decision: str, result: Mapping[str, Any]) -> Iterator[str]:
    yield visible(f"{decision.capitalize()} version {result['version']} as {result['decided_by']}.")
    for skill in result["skills"]:
        if skill["status"] != "active":
            state = f"is {skill['status']}, so agents do not get it"
        elif skill["is_published"]:
            state = "agents get this version"
        else:
            state = f"agents get version {skill['current_version']}"
        yield visible(f"    {skill['name']} in {skill['root']}/{skill['path']}: {state}")
        if decision == "approved" and skill["dangers"]:
            yield visible(f"    approved with its dangers: {skill['dangers']}")


def _user() -> str:
    """Return the name of the user running the command."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a user id without a name, as in a container
        return str(os.getuid())
