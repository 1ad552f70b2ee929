"""Skills on a terminal: their states, files, findings."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import click

from catalog.listings.agents import AGENTS
from catalog.model.values import FAILING
from catalog.prompt_index.formats import form
from catalog.reading import told_skills
from catalog.reading.skills.versions import UNFIT
from catalog.text import humanize
from catalog.text.visible import visible
from pipeline.cli.output import terminal


def states(folders: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the state of each folder of a skill_id, as `skill_facts.folder_states` gives it."""
    for folder in folders:
        name = click.style(visible(folder["name"]), bold=True)
        conflict = ", name conflict" if folder["is_conflict"] else ""
        yield f"{name} ({folder['status']}{conflict})"
        yield visible(f"    {folder['root']}/{folder['path']}")
        if folder["status_reason"]:
            yield visible(f"    {folder['status_reason']}")
        if folder["version"]:
            yield f"    version {folder['version']}"
        if folder["pinned_version"]:
            yield f"    pinned to version {folder['pinned_version']} until `skilldrop unpin`"
        if held := UNFIT.get(folder["review"]):
            yield f"    its newest version {held}"
        if folder["newest_rejected_at"]:
            yield f"    newest content rejected at {folder['newest_rejected_at']}"
        if folder["pending_since"]:
            reason = visible(folder["pending_reason"] or "still changing")
            yield f"    pending since {folder['pending_since']}: {reason}"
        yield from (f"    {line}" for line in details(folder))


def details(skill: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each index, agent, left-out file and finding of `skill_facts.details`."""
    for index in skill["indexes"]:
        yield visible(f"index {index['name']}: {_place(index)}")
    for agent in skill["agents"]:
        what = told_skills.LABELS.get(agent["how"], "described whole")
        if agent["how"] == "cut":
            what += f" after {agent['chars']:,} characters"
        yield visible(f"{AGENTS[agent['agent']].title} ({agent['path']}): {what}")
    for file in skill["left_out_files"]:
        yield visible(f"not published: {file['path']} ({file['reason']}: {file['detail']})")
    if skill["findings"] and not skill["is_newest"]:
        yield f"findings of the folder's present content, not of version {skill['version']}:"
    for finding in skill["findings"]:
        yield finding_line(finding)


def _place(index: Mapping[str, Any]) -> str:
    """Return the place of a skill in an index, or why it is not there."""
    if index["rank"] is None:
        return LEFT_OUT[index["left_out"]]
    state = str(index["state"]).replace("_", " ")
    return f"rank {index['rank']}, {state}{': ' + index['reason'] if index['reason'] else ''}"


LEFT_OUT = {
    "over_budget": "left out for lack of room",
    "hidden": "left out, as disable-model-invocation in its SKILL.md asks",
    "filtered": "left out by the filter of the index",
    None: "not built yet",
}
"""Why an index does not have a skill, by its reason."""


def file_list(skill_md: str, sizes: Collection[tuple[str, int]]) -> str:
    """Return documents by name, folders with their numbers of files, and the number and size.

    sizes has the path and the bytes of each file.
    """
    groups = tuple(form.grouped(path for path, _ in sizes))
    files = form.file_line(skill_md, groups, "en")
    size = humanize.size(sum(size for _, size in sizes))
    return f"{visible(files)} ({terminal.counted(len(sizes), 'file')}, {size})"


def finding_line(row: Mapping[str, Any]) -> str:
    """Return `path:line:column: severity code message` for a row of `findings`, perhaps the fix."""
    return finding_at("/".join(filter(None, (row["root"], row["folder"], row["path"]))), row)


def finding_at(place: str, finding: Mapping[str, Any]) -> str:
    """Return the same for a finding in a file at a place."""
    line = f":{finding['line']}:{finding.get('column') or 1}" if finding["line"] else ""
    fix = f" {finding['fix']}" if finding["severity"] in FAILING and finding["fix"] else ""
    message = visible(f"{finding['message']}{fix}")
    return f"{visible(place)}{line}: {finding['severity']} {finding['code']} {message}"
