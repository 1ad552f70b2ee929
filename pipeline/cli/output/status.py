"""Output of search, versions, rollback and status, with colours on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from catalog.model.git_origin import GitOrigin
from catalog.model.values import SEVERITIES
from catalog.reading import health_summary
from catalog.text import suggestions
from catalog.text.display import visible
from pipeline.cli.output.terminal import counted

if TYPE_CHECKING:
    from catalog.reading.search import Results
    from catalog.reading.search_hits import Hit


def hits(results: "Results") -> str:
    """Return two lines for each hit, and one about other skills of its name."""
    if not results.hits:
        return "No skill found." if results.why_empty else _NO_HIT
    return "\n".join(line for hit in results.hits for line in _hit(hit))


def _hit(hit: "Hit") -> Iterator[str]:
    status = "" if hit.status == "active" else f" ({hit.status})"
    yield click.style(visible(hit.name), bold=True) + status
    yield f"    {visible(hit.snippet)}"
    if status:
        yield f"    {visible(hit.location)}"
    if hit.others.count:
        places = suggestions.few(hit.others.first) + (
            " …" if hit.others.count > len(hit.others.first) else ""
        )
        yield f"    +{counted(hit.others.count, 'other')} of this name: {places}"


_NO_HIT = "No active skill has any of these words."


def versions(history: Mapping[str, Any], *, diff: bool) -> str:
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


def published(history: Mapping[str, Any]) -> str:
    """Return one line about the version of a skill that is published from now on."""
    skill = visible(history["skill"])
    current = next((row["version"] for row in history["versions"] if row["current"]), "none")
    if history["held_at"]:
        return (
            f"{skill} is held at version {current}; `skilldrop unpin` lets it "
            "follow its folder again."
        )
    return f"{skill} follows its folder; version {current} is published."


def health(state: dict[str, Any]) -> str:
    """Return the health of the service, and a line for each problem."""
    result = health_of(state)
    is_running = result.tone == "good" or state["health"]["service_pid"]
    return "\n".join(
        [
            result.sentence + ("" if is_running else " `skilldrop up` starts it."),
            *(click.style(f"    {visible(detail)}", fg="red") for detail in result.details),
        ]
    )


def health_of(state: dict[str, Any]) -> health_summary.Health:
    """Return the health of the service, from the result of `status.load`."""
    failing = [root for root in state["roots"] if root["trouble"]]
    return health_summary.health(state | {"roots": failing}, datetime.now(UTC))


def status(state: dict[str, Any]) -> str:
    """Return the state of the catalog and its problems, in about one screenful."""
    lines = [health(state), *_totals(state)]
    is_much = sum(len(state[word]) for word in (*_LISTED, "errors")) > _SHOWN
    most = _SHOWN_OF_MUCH if is_much else _SHOWN
    in_conflict = {(row["root"], row["path"]) for row in state["conflicts"]}
    for word in _LISTED:
        rows = state[word]
        if word == "shadowed":  # conflicts are listed above
            rows = [row for row in rows if (row["root"], row["path"]) not in in_conflict]
        lines += _folders(word, rows, most)
    lines += _errors(state["errors"], most)
    return "\n".join(lines)


def _totals(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield the roots, counts by status, indexes, findings, repairs and the last recovery."""
    for root in state["roots"]:
        yield f"root {root['path']} ({root['level']}, {root['acceptance']})"
        if root["url"]:
            yield visible(_mirror(root))
    yield ", ".join(
        f"{count} {word}" for word, count in state["counts"].items() if count or word == "active"
    )
    for index in state["indexes"]:
        left_out = f", {index['left_out']} left out for lack of room" if index["left_out"] else ""
        yield f"index {index['name']}: {counted(index['inside'], 'skill')}{left_out}"
    for directory in state["links"]:
        yield from _links(directory)
    severities = [counted(state["findings"].get(word, 0), word) for word in SEVERITIES]
    yield f"findings: {', '.join(severities)}"
    if repaired := state["health"]["packages_repaired"]:
        yield f"{counted(repaired, 'damaged package')} repaired so far"
    yield from map(_recovery, state["recoveries"][-1:])
    if warning := state.get("site_warning"):
        yield click.style(visible(warning), fg="yellow")


def _mirror(root: Mapping[str, Any]) -> str:
    """Return the origin of a root that is a repository, with its commit."""
    commit = f"commit {root['git_commit'][:12]}" if root["git_commit"] else "not pulled yet"
    since = f", pulled at {root['pulled_at']}" if root["pulled_at"] else ""
    return f"    of {GitOrigin(root['url'], root['ref'], root['path_in_git'])}: {commit}{since}"


def _links(directory: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line about a directory of skills, and others if something is wrong there."""
    kind = "copies" if directory["is_copy"] else "links"
    yield visible(f"{kind} {directory['path']}: {counted(directory['linked'], 'skill')}")
    if directory["taken"]:
        names = suggestions.few(directory["taken"])
        yield f"    not there, because the name is taken there: {names}"
    if directory["foreign"]:
        yield f"    not made by skilldrop, left alone: {suggestions.few(directory['foreign'])}"
    if directory["trouble"]:
        yield f"    {visible(directory['trouble'])}"


def _recovery(row: Mapping[str, Any]) -> str:
    counts = ", ".join(
        counted(row[key], word)
        for key, word in (
            ("skills", "skill"),
            ("versions", "version"),
            ("index_builds", "index publication"),
            ("outcomes", "outcome"),
        )
    )
    return visible(
        f"recovered at {row['recovered_at']} from a damaged catalog, which is kept as "
        f"{row['damaged_file']}: {counts} ({row['reason']})"
    )


_LISTED: Mapping[str, str] = {
    "pending": "pending",
    "rejected": "rejected",
    "newest_rejected": "newest content rejected, last good version stays",
    "version_held": "held at an earlier version",
    "rejected_in_review": "newest content rejected in review, last approved version stays",
    "awaits_review": "waits for review",
    "name_confusable": "name looks like another",
    "secrets": "secret in a file",
    "conflicts": "name conflict",
    "broken_references": "reference broken",
    "shadowed": "shadowed",
    "not_skills": "not a skill",
}
"""Keys of `status.load` whose folders are listed, with their labels."""
_SHOWN = 20
"""Most lines about problems in all, if they fit on one screen …"""
_SHOWN_OF_MUCH = 4
"""… and of each kind, if they do not."""


def _folders(word: str, rows: Sequence[Mapping[str, Any]], most: int) -> Iterator[str]:
    """Yield a line for each folder, up to `most`, with the reason and since when."""
    label = _LISTED[word]
    for row in rows[:most]:
        held = "removal held: " if row.get("is_held") else ""
        advice = " ".join(row[key] for key in ("message", "fix") if key in row)
        why = held + (row.get("reason") or row.get("pending_reason") or advice)
        since = row.get("since") or row.get("pending_since")
        yield visible(f"{label}: {row['path']}  {why}{f' since {since}' if since else ''}".rstrip())
    if len(rows) > most:
        yield f"… and {len(rows) - most} more {label}; --json lists all of them"


def _errors(rows: Sequence[Mapping[str, Any]], most: int) -> Iterator[str]:
    """Yield two lines for each error, up to `most`: its place and message, and the fix."""
    for row in rows[:most]:
        where = "/".join(filter(None, (row["folder"], row["path"])))
        line = f":{row['line']}" if row["line"] else ""
        yield visible(f"{where}{line}: {row['code']} {row['message']}")
        yield visible(f"    {row['fix']}")
    if len(rows) > most:
        yield f"… and {counted(len(rows) - most, 'more error')}; --json lists all of them"
