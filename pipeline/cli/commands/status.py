"""Commands that print the state of the catalog and its findings."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import click

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.model.skill import GitOrigin
from catalog.model.values import FAILING, SEVERITIES
from catalog.reading import lookup, service_health, told_skills
from catalog.reading import status as reading_status
from catalog.reading.findings import finding_lists
from catalog.reading.skills import skill_facts
from catalog.site import address
from catalog.text import humanize, suggestions
from catalog.text.visible import visible
from pipeline.cli.options import DONE, FINDINGS, Answer, site_address, to_copy, with_catalog
from pipeline.cli.output import skills, terminal
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.cli.output.skills import finding_line
from pipeline.cli.output.terminal import counted
from pipeline.config import loader
from pipeline.config.settings import Settings


@click.command()
@click.argument("skill", required=False)
@click.option(
    "--check",
    is_flag=True,
    help="Print only health; exit 1 if the service is not running or needs attention, or if a"
    " danger waits for a decision, or skills of one level have the same name.",
)
@click.option("--all", "whole", is_flag=True, help="List every folder, even over many screens.")
@with_catalog
def status(settings: Settings, db: Database, skill: str | None, check: bool, whole: bool) -> Answer:
    """Print health, counts, and the folders that wait or are rejected, with reasons.

    With SKILL, print the state of its folders, its place in the indexes and its findings.

    \b
    Examples:
      skilldrop status --json
      skilldrop status csv-profile
      skilldrop status --check || echo "skilldrop needs attention"
    """
    if skill:
        if check:
            raise click.UsageError("--check is about the service; give it without SKILL.")
        folders = skill_facts.folder_states(db, skill)
        return Answer(folders, skills.states(folders))
    catalog, site = settings.catalog_path, settings.site
    state = reading_status.load(db)
    host, _ = site_address(state["health"], settings)
    file = loader.file_in_force(click.get_current_context().obj.config)
    state["settings_file"] = str(file.absolute()) if file else None
    state["outdated"] = _outdated(settings, state, file)
    state["site_warning"] = host and address.warning(catalog, host, behind_proxy=site.behind_proxy)
    if not check:
        return Answer(state, [to_copy(report(state, whole=whole))])
    is_followed = service_health.summary(state, datetime.now(UTC)).is_followed
    return Answer(state, [to_copy(health(state))], DONE if is_followed else FINDINGS)


def _outdated(settings: Settings, state: Mapping[str, Any], file: Path | None) -> str | None:
    """Return a sentence if settings or roots are newer than the service, else than the catalog."""
    health = state["health"]
    if health["service_pid"] and state["is_locked"]:
        if not (file and _is_newer(file, health["service_started"])):
            return None
        return f"{file} was changed after the service started; restart the service to apply it."
    if not (since := max(health["last_full_scan"] or "", health["service_stopped"] or "")):
        return None
    roots = sorted(root.path for root in settings.root_specs)
    if roots != sorted(root["path"] for root in state["roots"]):
        news = f"The settings name other roots than the last scan had: {suggestions.few(roots)}"
    elif changed := [root for root in roots if _is_newer(root, since)]:
        news = f"Something in {suggestions.few(changed)} changed since the last scan"
    else:
        return None
    return f"{news}; `skilldrop scan` brings the catalog up to date."


def _is_newer(path: str | Path, since: str) -> bool:
    last = datetime.fromisoformat(since).timestamp()
    return os.path.exists(path) and os.path.getmtime(path) > last


def report(state: dict[str, Any], *, whole: bool = False) -> str:
    """Return the state of the catalog and its problems, on one screen if possible, unless `whole`.

    Each kind of problem is counted; the worse it is, the sooner its folders have lines. Some of
    those that need a decision have lines in any case, before all others.
    """
    kinds = {word: list(_rows(word, state)) for word in _LISTED}
    least = {word: len(rows) if whole else _URGENT.get(word, 0) for word, rows in kinds.items()}
    listed = {word: list(_folders(word, rows, least[word])) for word, rows in kinds.items()}
    head, totals = health(state).replace("`skilldrop status`", "a line below"), [*_totals(state)]
    columns, room = shutil.get_terminal_size(_SCREEN)
    room -= 1 + _height([head, *totals, *chain(*listed.values())], columns)
    for most in range(1, room + 1):
        for word, rows in kinds.items():
            longer = list(_folders(word, rows, max(most, least[word])))
            more = _height(longer, columns) - _height(listed[word], columns)
            if more <= room:
                listed[word], room = longer, room - more
    urgent = [line for word in _URGENT for line in listed.pop(word)]
    return "\n".join([head, *urgent, *totals, *chain(*listed.values())])


_SCREEN = (80, 24)
"""Columns and lines of output that goes to no terminal."""
_URGENT = {"dangers": 3, "conflicts": 3}
"""Problems that a person has to decide, and the fewest of each that have lines."""


def _height(texts: Iterable[str], columns: int) -> int:
    """Return the lines that texts take on a terminal."""
    lines = "\n".join(texts).splitlines()
    return sum(-(-terminal.width(click.unstyle(line)) // columns) or 1 for line in lines)


def _rows(word: str, state: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a kind of problem whose folders no worse kind lists."""
    above = state.get(_LISTED_ABOVE.get(word, ""), ())
    listed = {(row["root"], row["path"]) for row in above}
    for row in state[word]:
        if (row["root"], row["path"]) not in listed:
            yield row


def _totals(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings file, roots, counts, indexes, findings, repairs and the last recovery."""
    if file := state.get("settings_file"):
        yield visible(f"settings {file}")
    for root in state["roots"]:
        passing = "; dangers do not wait for review" if root["lets_dangers_pass"] else ""
        yield f"root {root['path']} ({root['level']}, {root['acceptance']}){passing}"
        if root["url"]:
            yield visible(_mirror(root))
    yield ", ".join(
        f"{count} {word}" for word, count in state["counts"].items() if count or word == "active"
    )
    for index in state["indexes"]:
        reasons = [f"{n:,} {why.replace('_', ' ')}" for why, n in index["not_inside"].items()]
        asked = f"`skilldrop index {index['name']} --explain` says which"
        others = f"; {', '.join(reasons)}: {asked}" if reasons else ""
        yield f"index {index['name']}: {counted(index['inside'], 'skill')}{others}"
    for directory in state["links"]:
        yield from _links(directory)
    severities = [counted(state["findings"].get(word, 0), word) for word in SEVERITIES]
    pinned = f", but not of {counted(n, 'pinned version')}" if (n := state["apart"]) else ""
    yield f"findings: {', '.join(severities)}{pinned}"
    if repaired := state["health"]["packages_repaired"]:
        yield f"{counted(repaired, 'damaged package')} repaired so far"
    yield from map(_recovery, state["recoveries"][-1:])
    for warning in filter(None, (state.get("outdated"), state.get("site_warning"))):
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
    if directory["told"]:
        lines = told_skills.lines(directory["told"], directory["linked"])
        yield from (visible(f"    {line}") for line in lines)
    if directory["taken"]:
        names = suggestions.few(directory["taken"])
        yield f"    not there, because the name is taken there: {names}"
    if directory["foreign"]:
        yield f"    not made by skilldrop, left alone: {suggestions.few(directory['foreign'])}"
    if directory["trouble"]:
        yield f"    {visible(directory['trouble'])}"


def _recovery(row: Mapping[str, Any]) -> str:
    packages = ""
    if row["is_under_way"]:
        packages = "; its other packages are kept until all roots can be read"
    elif row["packages_removed"]:
        removed = counted(row["packages_removed"], "package")
        packages = f"; removed {removed} that only the former catalog knew"
    kept = f" and is kept as {row['damaged_file']}" if row["damaged_file"] else ""
    return visible(
        f"rebuilt at {row['recovered_at']}: the former catalog {row['reason']}{kept}{packages}"
    )


_LISTED: Mapping[str, str] = {
    "dangers": "danger",
    "awaits_review": "waits for review",
    "rejected": "rejected",
    "newest_rejected": "newest content rejected, last good version stays",
    "rejected_in_review": "newest content rejected in review, last approved version stays",
    "pending": "pending",
    "conflicts": "name conflict",
    "secrets": "secret in a file",
    "not_loaded": "not loaded by every agent",
    "broken_references": "reference broken",
    "errors": "error",
    "version_pinned": "pinned",
    "shadowed": "shadowed",
    "not_skills": "not a skill",
}
"""Labels of the keys of `status.load` whose folders are listed, the worst first."""
_LISTED_ABOVE = {"awaits_review": "dangers", "shadowed": "conflicts"}
"""Lists without the folders that another list has."""


def _folders(word: str, rows: Sequence[Mapping[str, Any]], most: int) -> Iterator[str]:
    """Yield a line for each folder, up to `most`, with the reason and since when."""
    label = _LISTED[word]
    for row in rows[:most]:
        place, reason = row["path"], row.get("reason") or row.get("pending_reason")
        if word == "errors":
            place = "/".join(filter(None, (row["folder"], place)))
            place += f":{row['line']}" if row["line"] else ""
        advice = " ".join(row[key] for key in ("code", "message", "fix") if key in row)
        why = ("removal held: " if row.get("is_held") else "") + (reason or advice)
        since = row.get("since") or row.get("pending_since")
        when = f", {humanize.ago(since, datetime.now(UTC))}" if since else ""
        yield visible(f"{label}: {place}{why and '  '}{why}{when}")
    if others := rows[most:]:
        command = "review" if all(row.get("waits") for row in others) else "status --all"
        number = f"… and {len(others):,} more {label}" if most else f"{label}: {len(others):,}"
        yield f"{number}; `skilldrop {command}` lists them"


def health(state: dict[str, Any]) -> str:
    """Return the health of the service, and a line for each problem."""
    result = service_health.summary(state, datetime.now(UTC))
    is_running = state["health"]["service_pid"] and state["is_locked"]
    return "\n".join(
        [
            result.sentence + ("" if is_running else " `skilldrop up` starts it."),
            *(click.style(f"    {visible(detail)}", fg="red") for detail in result.details),
        ]
    )


@click.command()
@click.argument("skill", metavar="[SKILL|CODE]", required=False)
@with_catalog
def findings(_: object, db: Database, skill: str | None) -> Answer:
    """List the findings of the catalog, or only those of SKILL or with CODE.

    Exit 1 if one of them is a danger or an error. `skilldrop rule CODE` explains a finding.

    \b
    Examples:
      skilldrop findings
      skilldrop findings csv-profile
      skilldrop findings name-not-folder --json
    """
    if not skill or skill in REGISTRY:
        rows = finding_lists.listed_findings(db, code=skill or "")
    else:
        try:
            rows = finding_lists.listed_findings(db, skill=lookup.find_skill(db, skill)["id"])
        except NotInCatalog as error:
            if not (rows := finding_lists.listed_findings(db, place=skill)):
                raise NotInCatalog(f"{error} Nor is there a finding of this code.") from None
    code = FINDINGS if any(row["severity"] in FAILING for row in rows) else DONE
    return Answer(rows, map(finding_line, rows), code, f"{counted(len(rows), 'finding')}.")
