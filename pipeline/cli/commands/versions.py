"""Commands that list the versions of a skill and decide which one agents get."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from catalog.database.queries import Database
from catalog.model.paths import is_utf8, text_path
from catalog.reading.skills import versions as reading_versions
from catalog.text.visible import visible
from pipeline.cli.folder_argument import absolute_path
from pipeline.cli.options import Answer, with_catalog, with_json, with_settings
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
            *([_REVIEWS[version["review"]]] if version["review"] else []),
            *([] if version["has_files"] else ["files not kept"]),
        ]
        yield version["version"] + (f"  ({', '.join(notes)})" if notes else "")
        for word in ("added", "removed", "changed"):
            yield from (visible(f"    {word} {path}") for path in version[word])
        for line in version.get("diff", "").splitlines():
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            yield click.style(visible(f"    {line}"), fg=colour)


_REVIEWS = {"waits": "waits for review", "approved": "approved", "rejected": "rejected in review"}


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
    return Answer(history, [line])


@click.command()
@click.argument("path")
@with_json
@with_settings
def prefer(settings: Settings, path: str) -> Answer:
    """Make the skill in PATH win over other skills with the same name and level.

    By default, the skill that had the name first keeps it, and later ones are shadowed. If PATH
    wins already, this settles the conflict: `status` no longer reports it. PATH is a folder, and
    may be relative to its root.

    \b
    Examples:
      skilldrop prefer watched/csv-profile
      skilldrop prefer team-a/csv-profile --json
    """
    folder, absolute = path if is_utf8(path) else text_path(path), absolute_path(settings, path)
    result = handle(settings, "prefer", {"folder": folder, "absolute": absolute})
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
