"""Plain lines for people, with colours only on a terminal."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from catalog.model.values import Severity
from catalog.reading import health_summary
from catalog.reading.search import Hit
from catalog.text.display import visible
from pipeline.cli.output.terminal import counted

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def hits(found: Sequence[Hit]) -> str:
    """Return two lines a hit."""
    if not found:
        return "No active skill matches all of these words."
    return "\n".join(
        f"{click.style(visible(hit.name), bold=True)}\n    {visible(hit.snippet)}" for hit in found
    )


def versions(found: dict[str, Any], *, diff: bool) -> str:
    """Say what each version of a skill changed; with diff, how SKILL.md did, too."""
    lines = [click.style(visible(found["skill"]), bold=True) + f" ({found['status']})"]
    for each in found["versions"]:
        notes = [
            *(["published"] if each["current"] and found["status"] == "active" else []),
            *(["held"] if each["version"] == found["held_at"] else []),
            *([] if each["has_files"] else ["files not kept"]),
        ]
        lines.append(f"{each['version']}{_noted(notes)}")
        for word in ("added", "removed", "changed"):
            lines += [visible(f"    {word} {path}") for path in each[word]]
        if diff and each["diff"]:
            lines += [_diff_line(line) for line in each["diff"].splitlines()]
    return "\n".join(lines)


def _noted(notes: Sequence[str]) -> str:
    return f"  ({', '.join(notes)})" if notes else ""


def _diff_line(line: str) -> str:
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return click.style(visible(f"    {line}"), fg=colour)


def published(found: dict[str, Any]) -> str:
    """Say in one line which version of a skill agents are given from now on."""
    now = next((each["version"] for each in found["versions"] if each["current"]), "none")
    if found["held_at"]:
        return (
            f"{visible(found['skill'])} is held at version {now}; `skilldrop unpin` lets it "
            "follow its folder again."
        )
    return f"{visible(found['skill'])} follows its folder; version {now} is published."


def health(found: dict[str, Any]) -> str:
    """Say how the service is, and what somebody has to see to."""
    how = health_of(found)
    start = (
        ""
        if how.tone == "good" or found["health"]["service_pid"]
        else (" `skilldrop up` starts it.")
    )
    return "\n".join(
        [
            f"{how.sentence}{start}",
            *(click.style(f"    {visible(detail)}", fg="red") for detail in how.details),
        ]
    )


def health_of(found: dict[str, Any]) -> health_summary.Health:
    """Return how the service is, from what `search.status` found."""
    in_trouble = [root for root in found["roots"] if root["trouble"]]
    return health_summary.health(found | {"roots": in_trouble}, datetime.now(UTC))


def status(found: dict[str, Any]) -> str:
    """Say on one screen how the catalog is and what is wrong."""
    lines = [health(found)]
    lines += [
        f"root {root['path']} ({root['level']}, {root['acceptance']})" for root in found["roots"]
    ]
    lines.append(
        ", ".join(
            f"{count} {word}"
            for word, count in found["counts"].items()
            if count or word == "active"
        )
    )
    for index in found["indexes"]:
        over = f", {index['left_out']} left out for lack of room" if index["left_out"] else ""
        lines.append(f"index {index['name']}: {counted(index['inside'], 'skill')}{over}")
    lines.append(
        ", ".join(counted(found["findings"].get(word, 0), word) for word in _SEVERITIES)
        + " in all findings"
    )
    if mended := found["health"]["packages_mended"]:
        lines.append(f"{counted(mended, 'damaged package')} mended so far")
    lines += map(_recovery, found["recoveries"][-1:])
    is_much = sum(len(found[word]) for word in (*_AMISS, "errors")) > _SHOWN
    most = _SHOWN_OF_MUCH if is_much else _SHOWN
    for word in _AMISS:
        lines += _amiss(word, found[word], most)
    lines += _errors(found["errors"], most)
    return "\n".join(lines)


def _recovery(row: dict[str, Any]) -> str:
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
        f"{row['damaged_file']}: {counts} ({row['why']})"
    )


_AMISS = ("pending", "rejected", "newest_rejected", "version_held", "name_confusable", "shadowed")
_SHOWN = 20
"""Lines about problems that fit on one screen in all …"""
_SHOWN_OF_MUCH = 4
"""… and of each kind, where there is more."""


def _amiss(word: str, rows: Sequence[dict[str, Any]], most: int) -> Iterator[str]:
    said = {
        "newest_rejected": "newest content rejected, last good version stays",
        "version_held": "held at an earlier version",
        "name_confusable": "name looks like another",
    }.get(word, word)
    for row in rows[:most]:
        held = "removal held: " if row.get("is_held") else ""
        why = held + (row.get("why") or row.get("pending_reason") or "")
        since = row.get("since") or row.get("pending_since")
        yield visible(f"{said}: {row['path']}  {why}{f' since {since}' if since else ''}".rstrip())
    if len(rows) > most:
        yield f"… and {len(rows) - most} more {said}; --json lists them all"


def _errors(rows: Sequence[dict[str, Any]], most: int) -> Iterator[str]:
    """Say where each error is, and what to do next."""
    for row in rows[:most]:
        where = "/".join(filter(None, (row["folder"], row["path"])))
        line = f":{row['line']}" if row["line"] else ""
        yield visible(f"{where}{line}: {row['code']} {row['message']}")
        yield visible(f"    {row['fix']}")
    if len(rows) > most:
        yield f"… and {counted(len(rows) - most, 'more error')}; --json lists them all"
