"""What commands print for people: plain lines, with colours only on a terminal."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from catalog import told
from catalog.outcome import JudgedOutcome, RunOutcome
from catalog.record import Severity
from catalog.search import Hit
from pipeline.adding import Addition
from pipeline.config import Settings
from pipeline.excerpt import visible
from pipeline.names import text_path
from pipeline.one_pass import Result

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def welcome(settings: Settings, site: str | None) -> str:
    """Say where to drop folders, and where site and index files are."""
    lines = [f"Drop skill folders into  {root.path}" for root in settings.root_specs]
    if site:
        lines.append(f"Browse the catalog at    {site}")
    lines += [f"Agents fetch the index   {settings.index_folder / spec.file_name}"
              for spec in settings.index_specs]
    return "\n".join([*lines, "Stop with Ctrl-C."])


def scan(result: Result) -> str:
    """Say what a pass came to, and what is still amiss."""
    counts = result.as_json()
    changed = [f"{counts[word]} {word}" for word in
               ("added", "updated", "renamed", "rejected", "removed", "pending") if counts[word]]
    summary = ", ".join(changed) or "nothing changed"
    lines = [f"{result.report.seen} skill folders seen in {result.seconds:.1f} s: {summary}."]
    lines += [f"still changing: {unit.root}/{unit.path}" for unit in result.pending]
    if result.held:
        lines.append(f"{_count(result.held, 'removal')} held; `skilldrop status` says of what.")
    lines.append(f"The catalog has {result.active} active, {result.shadowed} shadowed and "
                 f"{result.rejected_in_all} rejected skills.")
    if result.rejected_in_all or result.shadowed:
        lines.append("`skilldrop status` says why.")
    return "\n".join(lines)


def hits(found: Sequence[Hit]) -> str:
    """Return two lines a hit."""
    if not found:
        return "No active skill matches all of these words."
    return "\n".join(f"{click.style(visible(hit.name), bold=True)}\n    {visible(hit.snippet)}"
                     for hit in found)


def text(untrusted: str) -> str:
    """Return a text in which a terminal obeys nothing but line ends and tabs."""
    return "\n".join("\t".join(map(visible, line.removesuffix("\r").split("\t")))
                     for line in untrusted.removesuffix("\n").split("\n"))


def versions(found: dict[str, Any], *, diff: bool) -> str:
    """Say what each version of a skill changed; with diff, how SKILL.md did, too."""
    lines = [click.style(visible(found["skill"]), bold=True) + f" ({found['status']})"]
    for each in found["versions"]:
        notes = [*(["published"] if each["current"] and found["status"] == "active" else []),
                 *(["held"] if each["version"] == found["held_at"] else []),
                 *([] if each["has_files"] else ["files not kept"])]
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
        return (f"{visible(found['skill'])} is held at version {now}; `skilldrop unpin` lets it "
                "follow its folder again.")
    return f"{visible(found['skill'])} follows its folder; version {now} is published."


def health(found: dict[str, Any]) -> str:
    """Say how the service is, and what somebody has to see to."""
    how = health_of(found)
    start = "" if how.tone == "good" or found["health"]["service_pid"] else (
        " `skilldrop up` starts it.")
    return "\n".join([f"{how.sentence}{start}",
                      *(click.style(f"    {visible(detail)}", fg="red") for detail in how.details)])


def health_of(found: dict[str, Any]) -> told.Health:
    """Return how the service is, from what `search.status` found."""
    troubles = [root for root in found["roots"] if root["trouble"]]
    return told.health(found["health"], troubles, datetime.now(UTC))


def status(found: dict[str, Any]) -> str:
    """Say on one screen how the catalog is and what is wrong."""
    lines = [health(found)]
    lines += [f"root {root['path']} ({root['level']}, {root['acceptance']})"
              for root in found["roots"]]
    lines.append(", ".join(f"{count} {word}" for word, count in found["counts"].items()
                           if count or word == "active"))
    for index in found["indexes"]:
        over = f", {index['left_out']} left out for want of room" if index["left_out"] else ""
        lines.append(f"index {index['name']}: {_count(index['inside'], 'skill')}{over}")
    lines.append(", ".join(_count(found["findings"].get(word, 0), word) for word in _SEVERITIES)
                 + " in all findings")
    for word in ("pending", "rejected", "newest_rejected", "version_held", "shadowed"):
        lines += _amiss(word, found[word])
    lines += _errors(found["errors"])
    return "\n".join(lines)


def addition(done: Addition) -> str:
    """Say whether a source was added, and what there is to say of its skills."""
    lines = [f"{visible(one.file(found))}{f':{found.line}' if found.line else ''}: "
             f"{found.severity} {found.code} {visible(found.message)}"
             for one in done.judgements for found in one.findings]
    place = visible(text_path(str(done.place)))
    lines.append(f"Added {place}." if done.is_added else
                 f"Not added to {place}: mend what is an error above, then add it again.")
    return "\n".join(lines)


def outcome(path: str, said: JudgedOutcome) -> str:
    """Say of an outcome file what it holds, or what is wrong with it."""
    lines = [f"{visible(path)}{f':{found.line}' if found.line else ''}: {found.severity}"
             f" {found.code} {visible(found.message)}\n    {found.fix}" for found in said.findings]
    if isinstance(said, RunOutcome):
        lines.append(f"{visible(path)}: {visible(said.status or 'no status')}, "
                     f"{_count(len(said.steps), 'step')}, "
                     f"{_count(len(said.memory_writes), 'memory write')}")
    return "\n".join(lines)


_SHOWN = 20


def _amiss(word: str, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    said = {"newest_rejected": "newest content rejected, last good version stays",
            "version_held": "held at an earlier version"}.get(word, word)
    for row in rows[:_SHOWN]:
        why = row.get("why") or row.get("pending_reason") or ""
        since = row.get("since") or row.get("pending_since")
        yield visible(f"{said}: {row['path']}  {why}{f' since {since}' if since else ''}".rstrip())
    if len(rows) > _SHOWN:
        yield f"… and {len(rows) - _SHOWN} more {said}; --json lists them all"


def _errors(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Say where each error is, and what to do next."""
    for row in rows[:_SHOWN]:
        where = "/".join(filter(None, (row["folder"], row["path"])))
        line = f":{row['line']}" if row["line"] else ""
        yield visible(f"{where}{line}: {row['code']} {row['message']}")
        yield visible(f"    {row['fix']}")
    if len(rows) > _SHOWN:
        yield f"… and {len(rows) - _SHOWN} more errors; --json lists them all"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 or word == "info" else f"{number} {word}s"


class Progress:
    """A running count on a terminal, shown once the work has taken a second."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._shown = time.monotonic()
        self._visible = False

    def __call__(self, count: int) -> None:
        """Show the count, unless one was shown a moment ago."""
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._began > 1 and now - self._shown > 0.1:
            self._shown, self._visible = now, True
            click.echo(f"\r{count:,} {self._what} …", err=True, nl=False)

    def clear(self) -> None:
        """Make room for a line of output."""
        if self._visible:
            self._visible = False
            click.echo("\r\033[K", err=True, nl=False)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Yield what shows a running count, and clear it away in the end."""
    shown = Progress(what)
    try:
        yield shown
    finally:
        shown.clear()
