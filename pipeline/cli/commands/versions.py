"""Commands that list the versions of a skill, or choose the published one."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import click

from catalog.database import connection
from catalog.reading import versions as reading_versions
from catalog.text.visible import visible
from pipeline.cli.options import DONE, as_json_option, settings_of, to_json
from pipeline.service.requests import handle


@click.command()
@click.argument("skill")
@click.option("--diff", is_flag=True, help="Also show the changes of SKILL.md.")
@as_json_option
@click.pass_context
def versions(context: click.Context, skill: str, diff: bool, as_json: bool) -> int:
    """List the versions of SKILL and their changes, newest first.

    \b
    Examples:
      skilldrop versions csv-profile
      skilldrop versions csv-profile --diff
    """
    db = connection.open_catalog(settings_of(context).catalog_path)
    history = reading_versions.history(db, skill)
    click.echo(to_json(history) if as_json else _rendered(history, diff=diff))
    return DONE


@click.command()
@click.argument("skill")
@click.argument("version")
@as_json_option
@click.pass_context
def rollback(context: click.Context, skill: str, version: str, as_json: bool) -> int:
    """Publish VERSION of SKILL, which stays pinned to it until `unpin`.

    Later edits of the folder are stored as versions but not published.

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
    click.echo(to_json(history) if as_json else _published(history))
    return DONE


def _rendered(history: Mapping[str, Any], *, diff: bool) -> str:
    """Return the changes of each version; with `diff`, also those of SKILL.md line by line."""
    lines = [click.style(visible(history["skill"]), bold=True) + f" ({history['status']})"]
    for version in history["versions"]:
        is_published = version["current"] and history["status"] == "active"
        notes = [
            *(["published"] if is_published else []),
            *(["held"] if version["version"] == history["held_at"] else []),
            *([f"commit {version['git_commit'][:12]}"] if version["git_commit"] else []),
            *([_REVIEWS[version["review"]]] if version["review"] else []),
            *([] if version["has_files"] else ["files not kept"]),
        ]
        lines.append(f"{version['version']}{_in_brackets(notes)}")
        for word in ("added", "removed", "changed"):
            lines += [visible(f"    {word} {path}") for path in version[word]]
        if diff and version["diff"]:
            lines += [_diff_line(line) for line in version["diff"].splitlines()]
    return "\n".join(lines)


_REVIEWS = {"waits": "waits for review", "approved": "approved", "rejected": "rejected in review"}


def _in_brackets(notes: Sequence[str]) -> str:
    return f"  ({', '.join(notes)})" if notes else ""


def _diff_line(line: str) -> str:
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return click.style(visible(f"    {line}"), fg=colour)


def _published(history: Mapping[str, Any]) -> str:
    """Return one line about the version of a skill that is published from now on."""
    skill = visible(history["skill"])
    current = next((row["version"] for row in history["versions"] if row["current"]), "none")
    if history["held_at"]:
        return (
            f"{skill} is held at version {current}; `skilldrop unpin` lets it "
            "follow its folder again."
        )
    return f"{skill} follows its folder; version {current} is published."
