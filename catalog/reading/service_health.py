"""Health of the service: its state, and a summary for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from catalog.database import expressions
from catalog.database.lock import is_locked, lock_of
from catalog.database.queries import Database
from catalog.model import naming
from catalog.text.humanize import ago, ahead, count, seconds_since

SILENT = 30.0
"""Seconds without a heartbeat after which a service counts as dead."""

Tone: TypeAlias = Literal["good", "odd", "bad", "quiet"]

_PARTS = {
    "answers": "Answering commands",
    "catalog": "Opening the catalog",
    "changes": "Taking in changed folders",
    "current": "Switching to new versions",
    "collect": "Removing packages that need not be kept",
    "heartbeat": "Recording health",
    "indexes": "Publishing the prompt indexes",
    "outcomes": "Taking in outcome files",
    "packages": "Verifying packages",
    "pull": "Pulling repositories",
    "quiet": "Recording health",
    "outcomes_rejected": "Outcome files",
    "requests": "Running requests of commands",
    "scan": "The full scan",
    "site": "The site",
    "unread": "Reading skills",
    "watcher": "The watcher",
}
"""Names of the parts of the service, for details."""


def load(db: Database) -> dict[str, Any]:
    """Return the health row, troubles, held removals, withheld skills and other open questions.

    `is_locked` tells whether a process has the catalog open for writing, or may: a copy of a
    catalog has no lock, and its service runs elsewhere.
    """
    lock = lock_of(Path(db.execute("PRAGMA database_list").fetchone()[2] or ":memory:"))
    return {
        "is_locked": is_locked(lock) or not lock.exists(),  # a start writes `health` later
        "health": next(db.query("SELECT * FROM health")),
        "roots": db.rows(
            "SELECT r.path, m.url, ifnull(m.trouble, r.trouble) AS trouble FROM roots AS r"
            " LEFT JOIN mirrors AS m ON m.root = r.path"
            " WHERE configured = 1 AND ifnull(m.trouble, r.trouble) IS NOT NULL"
            " ORDER BY position"
        ),
        "held": db.rows(_HELD),
        "withheld": db.rows(_WITHHELD),
        **counts(db),
        "unlinked_outcomes": next(db.query(_UNLINKED)),
        "rejected_outcomes": db.execute(_REJECTED).fetchone()[0],
        "troubles": db.rows("SELECT * FROM troubles ORDER BY since, part"),
    }


def counts(db: Database) -> dict[str, int]:
    """Return the numbers of what people should look at: to_review, dangers_waiting and so on."""
    return next(db.query(_COUNTS))


_COUNTS = f"""
    SELECT count(*) AS to_review,
        count((SELECT 1 FROM findings WHERE skill = s.id AND severity = 'danger'))
            AS dangers_waiting,
        (SELECT count(DISTINCT s.id) FROM {expressions.DANGER_SERVED}) AS dangers_served,
        (SELECT count(*) FROM findings WHERE code GLOB 'internal-error*') AS internal_errors,
        (SELECT count(*) FROM skills WHERE is_conflict = 1) AS name_conflicts,
        (SELECT count(*) FROM findings WHERE skill IS NULL AND severity != 'info') AS not_skills
    FROM {expressions.AWAITING_REVIEW}
"""
_UNLINKED = """
    SELECT (SELECT count(*) FROM outcomes WHERE is_newest = 1 AND skill IS NULL) AS of_no_skill,
        (SELECT count(*) FROM outcomes WHERE is_newest = 1 AND version IS NULL
            AND version_declared IS NOT NULL AND skill IS NOT NULL) AS of_no_version
"""
_REJECTED = """
    SELECT count(*) FROM outcome_rejections
    WHERE rejected_at > strftime('%Y-%m-%dT%H:%M:%S', 'now', '-1 day')
"""
_HELD = """
    SELECT root, pending_reason AS reason, count(*) AS skills
    FROM skills INDEXED BY skills_pending
    WHERE pending_since IS NOT NULL AND is_held GROUP BY root, pending_reason ORDER BY root, reason
"""
_WITHHELD = f"""
    SELECT s.skill_id, s.name, s.root, s.path, s.status_reason AS reason,
           s.pinned_version_id IS NOT NULL AS is_held,
           s.pinned_version_id IS NULL AND {expressions.STAYS_AT_VERSION} AS is_reviewed
    FROM (
        SELECT id FROM skills WHERE pinned_version_id IS NOT NULL
        UNION SELECT skill FROM versions WHERE review IN ('waits', 'rejected')) AS stays
    CROSS JOIN skills AS s ON s.id = stays.id WHERE {expressions.IS_WITHHELD} ORDER BY s.name
"""


@dataclass(frozen=True, slots=True)
class Health:
    """Health of the service in sentences."""

    tone: Tone
    sentence: str
    details: tuple[str, ...] = ()
    troubles: tuple[Mapping[str, Any], ...] = ()  # what needs attention, as JSON
    is_decided: bool = True  # whether no danger or name conflict waits for a person

    @property
    def is_well(self) -> bool:
        """Whether nothing needs attention, or no service runs."""
        return self.tone != "bad" and self.is_decided

    @property
    def shown_tone(self) -> Tone:
        """Tone for people, which is good only if nothing waits for one of them."""
        return "odd" if self.tone == "good" and not self.is_decided else self.tone

    @property
    def is_followed(self) -> bool:
        """Whether a service follows the folders now, and nothing needs attention."""
        return self.tone in ("good", "odd") and self.is_decided


def summary(state: Mapping[str, Any], now: datetime) -> Health:
    """Return the summary of a state that `load` returned."""
    row = state["health"]
    waits = state["dangers_waiting"] or state["dangers_served"] or state["name_conflicts"]
    troubles = [_of_root(root) for root in state["roots"] if root["trouble"]]
    is_running = row["service_pid"] is not None and not row["service_stopped"]
    if is_running:  # a service that has ended tries nothing again
        troubles += state["troubles"]
    troubles += map(_of_held, state["held"])
    troubles += map(_of_withheld, state["withheld"])
    if rejected := state["rejected_outcomes"]:
        # Every visitor reads this: it quotes no name that a program gave its file.
        message = (
            f"{rejected:,} rejected in the last day; the table outcome_rejections has the reasons."
        )
        troubles.append(_trouble("outcomes_rejected", message))
    details = [*of_reviews(state)]
    details += [_detail(trouble, now) for trouble in troubles]
    details += _open_questions(state)
    silence = seconds_since(row["service_seen"], now) if is_running else 0.0
    tone: Tone
    if not is_running:
        when = f" (stopped {ago(row['service_stopped'], now)})" if row["service_stopped"] else ""
        tone = "bad" if troubles else "quiet"
        sentence = f"Not watching{when}; {_scanned(row, now)}."
    elif not state["is_locked"] or abs(silence) > SILENT:
        # A running service has the lock, and writes the time that the clock shows.
        when = ago(row["service_seen"], now) if silence > 0 else "before the clock was set back"
        stuck = "may have been killed, or cannot write to its data directory"
        why = stuck if state["is_locked"] else "has ended without being stopped"
        tone, sentence = "bad", f"The service was last heard of {when}; it {why}."
        troubles.insert(0, _trouble("service", sentence))
    else:
        mode = row["watcher_mode"]
        if mode == "polling":
            details.append(f"Changes are looked for at intervals: {row['watcher_reason']}.")
        tone = "bad" if troubles else "good" if mode == "native" else "odd"
        words = "Watching" if mode != "stopped" else "Starting to watch"
        following = f", next {ahead(row['next_full_scan'], now)}" if row["next_full_scan"] else ""
        sentence = f"{words}, {_scanned(row, now)}{following}, {_waiting(state, troubles)}."
    return Health(tone, sentence, tuple(details), tuple(troubles), not waits)


def headline(state: Mapping[str, Any], health: Health, now: datetime) -> str:
    """Return the health in a few words, for the header of every page."""
    if health.tone == "bad":
        return "Needs attention"
    pending = state["health"]["pending_count"]
    words = f"Taking in {count(pending, 'change')}" if pending else "Up to date"
    if health.tone == "quiet":
        words = "Not watching"
    elif not health.is_decided:
        words = "Somebody has to decide"
    return f"{words}, {_scanned(state['health'], now).replace('last full scan', 'scanned')}"


def _waiting(state: Mapping[str, Any], troubles: Sequence[object]) -> str:
    """Return the work that waits; "up to date" only if nothing is held or in trouble."""
    pending = state["health"]["pending_count"]
    waiting = [f"taking in {count(pending, 'change')}"] if pending else []
    if held := sum(row["skills"] for row in state["held"]):
        waiting.append(f"{count(held, 'removal')} held")
    if troubles and not waiting:
        waiting.append("needs attention")
    return ", ".join(waiting) or "up to date"


def _of_root(root: Mapping[str, Any]) -> dict[str, Any]:
    path, trouble = root["path"], root["trouble"]
    is_named = path in trouble or (root.get("url") or path) in trouble
    return _trouble("root", trouble if is_named else f"{path}: {trouble}")


def _of_held(held: Mapping[str, Any]) -> dict[str, Any]:
    return _trouble(
        "root",
        f"{held['root']}: {count(held['skills'], 'skill is', 'skills are')} gone but kept "
        f"({held['reason']}). Bring the folders back, or confirm their removal with "
        "`skilldrop reconcile --accept-removals`.",
    )


def _of_withheld(skill: Mapping[str, Any]) -> dict[str, Any]:
    name = naming.argument(skill)
    advice = (
        f"Let it follow its folder with `skilldrop unpin {name}`, or pin it to another "
        f"version with `skilldrop pin {name} VERSION`; `skilldrop versions {name}` "
        "lists them."
        if skill["is_held"]
        else f"Approve its newest version with `skilldrop review approve {name}`."
        if skill["is_reviewed"]
        else "Fix the errors in its folder."
    )
    return _trouble("skill", f"{name} is {skill['reason']}, so agents do not get it. {advice}")


def _open_questions(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence on each kind of question that people have to answer."""
    if conflicts := state["name_conflicts"]:
        yield (
            f"{count(conflicts, 'name conflict')}: skills of one level with one name and different "
            "content; `skilldrop status` lists them. Rename one, or choose with `skilldrop prefer "
            "PATH`."
        )
    if failed := state["internal_errors"]:
        yield (
            f"skilldrop itself failed on {count(failed, 'folder')}; `skilldrop status` lists them. "
            "Please report them with the traceback in the log."
        )
    unlinked = state["unlinked_outcomes"]
    if outcomes := unlinked["of_no_skill"]:
        yield (
            f"{count(outcomes, 'outcome names', 'outcomes name')} no skill of the catalog; "
            "the table outcomes has them. Write each to a folder named after its skill_id, or "
            "name that in the file as skillId."
        )
    if outcomes := unlinked["of_no_version"]:
        yield (
            f"{count(outcomes, 'outcome names', 'outcomes name')} a version that its skill does "
            "not have in the catalog; the table outcomes has them. `skilldrop versions SKILL` "
            "lists the versions."
        )


def of_reviews(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about versions that wait for review, and dangers that did not wait."""
    if waiting := state["to_review"]:
        dangerous = f", {n:,} of them dangerous" if (n := state["dangers_waiting"]) else ""
        wait = count(waiting, "version waits", "versions wait")
        yield f"{wait} for review{dangerous}; `skilldrop review` lists the changes."
    if served := state["dangers_served"]:
        get = count(served, "dangerous skill", "dangerous skills")
        yield f"Agents get {get} that nobody has approved; `skilldrop status` says which."


def _trouble(part: str, message: str) -> dict[str, Any]:
    of_others = ("since", "times", "last_at", "next_try_at")  # those that are tried again
    return {"part": part, "message": message} | dict.fromkeys(of_others)


def _detail(trouble: Mapping[str, Any], now: datetime) -> str:
    """Return a failure with its count, its first time and its next try."""
    part = _PARTS.get(trouble["part"])
    message = f"{part}: {trouble['message']}" if part else trouble["message"]
    if not trouble["since"]:
        return message
    often = f"Failed {count(trouble['times'], 'time')}"
    tried = f"; next try {ahead(trouble['next_try_at'], now)}" if trouble["next_try_at"] else ""
    return f"{message} {often}, first {ago(trouble['since'], now)}{tried}."


def _scanned(row: Mapping[str, Any], now: datetime) -> str:
    last = row["last_full_scan"]
    return f"last full scan {ago(last, now)}" if last else "no full scan yet"
