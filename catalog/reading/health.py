"""State of the service in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from catalog.text.humanize import ago, ahead, count, seconds_since

SILENT = 30.0
"""Seconds without a sign of life after which a service is taken for dead."""

Tone: TypeAlias = Literal["good", "odd", "bad", "quiet"]


_PARTS = {
    "answers": "Answers to commands",
    "catalog": "Opening the catalog",
    "changes": "Taking in changed folders",
    "collect": "Removing packages that need not be kept",
    "heartbeat": "Writing health into the catalog",
    "indexes": "Publishing the prompt indexes",
    "outcomes": "Taking in outcome files",
    "packages": "Verifying packages",
    "quarantine": "Outcome files",
    "quiet": "Writing health into the catalog",
    "requests": "Requests of commands",
    "scan": "The full scan",
    "site": "The site",
    "timer": "The timer of the full scans",
    "watcher": "The watcher",
}
"""Names of the parts of the service that can be in trouble."""


@dataclass(frozen=True, slots=True)
class Health:
    """How the service is, in words."""

    tone: Tone
    sentence: str
    details: tuple[str, ...] = ()
    troubles: tuple[Mapping[str, Any], ...] = ()  # what needs attention, as JSON

    @property
    def is_well(self) -> bool:
        """Whether the catalog can be relied on to follow the folder, or is not meant to."""
        return self.tone != "bad"

    @property
    def is_followed(self) -> bool:
        """Whether a service follows the folder now, and nothing needs attention."""
        return self.tone in ("good", "odd")


def health(found: Mapping[str, Any], now: datetime) -> Health:
    """Return what the health row and all that is in trouble mean to a person.

    found is what `catalog.database.health.look` gives.
    """
    row = found["health"]
    troubles = [*map(_of_root, found["roots"])]
    is_running = row["service_pid"] is not None and not row["service_stopped"]
    if is_running:  # of one that has ended, nothing is tried again
        troubles += found["troubles"]
    troubles += map(_of_held, found["held"])
    troubles += map(_of_withheld, found["withheld"])
    details = [_detail(trouble, now) for trouble in troubles]
    if not is_running:
        when = f" since {ago(row['service_stopped'], now)}" if row["service_stopped"] else ""
        return Health(
            "bad" if troubles else "quiet",
            f"Not watching{when}; {_scanned(row, now)}.",
            tuple(details),
            tuple(troubles),
        )
    silence = seconds_since(row["service_seen"], now)
    if abs(silence) > SILENT:  # one that runs counts by the clock as it was set
        when = ago(row["service_seen"], now) if silence > 0 else "before the clock was set back"
        sentence = (
            f"The service was last heard of {when}; it may have been killed, or cannot "
            "write where its data is."
        )
        return Health("bad", sentence, tuple(details), (_trouble("service", sentence), *troubles))
    if row["watcher_mode"] == "polling":
        details.append(f"Changes are looked for at intervals: {row['watcher_reason']}.")
    watching = "Watching" if row["watcher_mode"] != "stopped" else "Starting to watch"
    tone: Tone = "bad" if troubles else "good" if row["watcher_mode"] == "native" else "odd"
    return Health(
        tone,
        f"{watching}, {_scanned(row, now)}, {_waiting(found, troubles)}.",
        tuple(details),
        tuple(troubles),
    )


def _waiting(found: Mapping[str, Any], troubles: Sequence[object]) -> str:
    """Say what is not done; that nothing is, only where nothing is held or in trouble."""
    pending = found["health"]["pending_count"]
    waiting = [f"{pending} pending"] if pending else []
    if held := sum(row["skills"] for row in found["held"]):
        waiting.append(f"{count(held, 'removal')} held")
    if troubles and not waiting:
        waiting.append("needs attention")
    return ", ".join(waiting) or "nothing pending"


def _of_root(root: Mapping[str, Any]) -> dict[str, Any]:
    path, trouble = root["path"], root["trouble"]
    return _trouble("root", trouble if path in trouble else f"{path}: {trouble}")


def _of_held(held: Mapping[str, Any]) -> dict[str, Any]:
    return _trouble(
        "root",
        f"{held['root']}: {count(held['skills'], 'skill is', 'skills are')} gone but kept "
        f"({held['why']}). Bring the folders back, or confirm their removal with "
        "`skilldrop reconcile --accept-removals`.",
    )


def _of_withheld(skill: Mapping[str, Any]) -> dict[str, Any]:
    name = skill["skill_id"]
    mend = (
        f"Let it follow its folder with `skilldrop unpin {name}`, or hold it at another "
        f"version with `skilldrop rollback {name} VERSION`; `skilldrop versions {name}` "
        "lists them."
        if skill["is_held"]
        else "Mend what its folder holds."
    )
    return _trouble(
        "skill", f"{name} is {skill['why']}, so that agents are given nothing of it. {mend}"
    )


def _trouble(part: str, what: str) -> dict[str, Any]:
    return {
        "part": part,
        "what": what,
        "since": None,
        "times": None,
        "last_at": None,
        "next_try_at": None,
    }


def _detail(trouble: Mapping[str, Any], now: datetime) -> str:
    """Say what failed, since when, how often, and when it is tried again."""
    part = _PARTS.get(trouble["part"])
    what = f"{part}: {trouble['what']}" if part else trouble["what"]
    if not trouble["since"] or trouble["part"] == "quarantine":
        return what
    often = f"Failed {count(trouble['times'], 'time')}"
    tried = f"; next try {ahead(trouble['next_try_at'], now)}" if trouble["next_try_at"] else ""
    return f"{what} {often}, first {ago(trouble['since'], now)}{tried}."


def _scanned(row: Mapping[str, Any], now: datetime) -> str:
    last = row["last_full_scan"]
    return f"last full scan {ago(last, now)}" if last else "no full scan yet"
