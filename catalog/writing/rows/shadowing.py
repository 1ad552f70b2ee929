"""Shadowing among skills of one skill_id: one is active, the others are shadowed.

Within a level and root the incumbent keeps the name: the skill that took it first. A winner whose
files are lost is withheld, and keeps the name; see `expressions`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from catalog.database.expressions import CANNOT_BE_GIVEN, withheld_reason
from catalog.database.queries import Database, Row, Writer, to_json
from catalog.model.naming import bare_name, is_slug
from catalog.model.paths import last_name
from catalog.model.values import LEVELS, IngestionOutcome, Trigger
from catalog.text.humanize import iso
from catalog.writing.events import Ingestion
from catalog.writing.rows import references

RIVAL = f"""
    s.id, s.skill_id, s.name, s.namespace, s.level, s.root, s.path, s.status, s.shadowed_by,
    s.status_reason, s.is_conflict, s.is_alias, s.spec_valid, s.name_since, s.preferred_at,
    s.pinned_version_id, s.current_version_id, s.last_changed, s.digest, r.position,
    {CANNOT_BE_GIVEN} AS is_withheld
"""
"""Columns for a decision, of `skills AS s` and `roots AS r`."""
_CONTENDERS = f"""
    SELECT {RIVAL}
    FROM json_each(?) AS contested
    JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = contested.value AND s.status IN ('active', 'shadowed')
    JOIN roots AS r ON r.path = s.root
"""
_DISPUTED = """
    SELECT skill_id FROM skills WHERE status IN ('active', 'shadowed')
    GROUP BY skill_id HAVING count(*) > 1
"""


def decide(
    db: Writer, skill_ids: Iterable[str], at: str, trigger: Trigger, scan: int | None = None
) -> None:
    """Decide which skill of each skill_id is active, as of a time in ISO 8601.

    Skills that one scan found take their names at the same time.
    """
    began = db.execute("SELECT started_at FROM scans WHERE id = ?", [scan]).fetchone()
    name_since = began[0] if began else at
    skill_ids = set(skill_ids)
    decided = []
    changes = []
    named = []
    for contenders in rivals_of(db, skill_ids).values():
        named += _take_name(contenders, name_since)
        for row, decision in standings_of(db, contenders):
            if decision[:2] != (row["status"], row["shadowed_by"]):
                decided.append((*decision, at, row["id"]))
                changes.append(_ingestion(row, decision, at, trigger))
            elif decision != tuple(row[column] for column in Standing._fields):
                # An edit of the winner is no event of others.
                decided.append((*decision, row["last_changed"], row["id"]))
    db.conn.executemany(
        "UPDATE skills SET status = ?, shadowed_by = ?, status_reason = ?, is_conflict = ?,"
        " last_changed = max(last_changed, ?) WHERE id = ?",
        decided,
    )
    db.conn.executemany("UPDATE skills SET name_since = ? WHERE id = ?", named)
    db.insert("ingestions", Ingestion._fields, changes)
    references.resolve(db, skill_ids)


def decide_all(db: Writer, at: str, trigger: Trigger) -> None:
    """Decide every disputed skill_id again, for example after a change in the order of roots."""
    decide(db, [row["skill_id"] for row in db.query(_DISPUTED)], at, trigger)


def rivals_of(db: Database, skill_ids: Iterable[str]) -> dict[str, list[Row]]:
    """Return the skills that compete for each skill_id, with the columns of `RIVAL`."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in db.query(_CONTENDERS, [to_json(sorted(skill_ids))]):
        found[row["skill_id"]].append(row)
    return found


def winner_of(rivals: Sequence[Row]) -> Row:
    """Return the rival that has the skill_id."""
    return min(rivals, key=precedence)


class Precedence(NamedTuple):
    """Sort key of skills that share a skill_id; the smallest wins."""

    level_rank: int
    is_not_preferred: bool  # by `skilldrop prefer`
    root_position: int
    is_alias: bool  # reached through a link; its target comes first
    is_other_spelling: bool  # `PDF-Tools` gives way to `pdf-tools`
    name_since: str  # the time when it took the name: the incumbent keeps it
    is_other_folder: bool  # its folder has another name
    is_invalid: bool  # by the specification
    depth: int
    path: str  # compared by code point


def precedence(row: Row) -> Precedence:
    """Return the precedence of a skill.

    The row has the columns of `skills` and the position of the root.
    """
    path = row["path"]
    name = bare_name(row["name"], row["namespace"])
    return Precedence(
        level_rank=LEVELS.index(row["level"]),
        is_not_preferred=row["preferred_at"] is None,
        root_position=row["position"],
        is_alias=bool(row["is_alias"]),
        is_other_spelling=not is_slug(name),
        name_since=row["name_since"] or "",
        is_other_folder=last_name(path) != name,
        is_invalid=not row["spec_valid"],
        depth=path.count("/"),
        path=path,
    )


def advantage(winner: Precedence, other: Precedence) -> str:
    """Return why a skill comes before another one of its level in a few words, else ""."""
    return next(
        _ADVANTAGES.get(field, "")
        for field, one, two in zip(Precedence._fields, winner, other, strict=True)
        if one != two
    )


_ADVANTAGES = {
    "is_not_preferred": "preferred by `skilldrop prefer`",
    "root_position": "in an earlier root",
    "is_alias": "not behind a link",
    "is_other_spelling": "with exactly this name",
    "name_since": "accepted first",
    "is_other_folder": "in a folder of this name",
    "is_invalid": "valid by the specification",
    "depth": "less deep in the root",
    "path": "first by path",
}


def _take_name(rivals: Sequence[Row], at: str) -> list[tuple[str, int]]:
    """Set and return the time when each new rival took the name; the clock may have gone back."""
    latest = max(row["name_since"] or "" for row in rivals)
    preferred = max(row["preferred_at"] or "" for row in rivals)
    if at < latest or at <= preferred:
        at = iso(datetime.fromisoformat(max(latest, preferred)) + timedelta(milliseconds=1))
    new = [row for row in rivals if row["name_since"] is None]
    for row in new:
        row["name_since"] = at
    return [(at, row["id"]) for row in new]


def _ingestion(row: Row, decision: "Standing", at: str, trigger: Trigger) -> Ingestion:
    lost: IngestionOutcome = "shadowed" if decision.shadowed_by else "withheld"
    outcome = "active" if decision.status == "active" else lost
    place, version = (row["id"], row["root"], row["path"]), row["current_version_id"]
    reason, moment = decision.status_reason, max(at, row["last_changed"])
    return Ingestion(*place, None, trigger, outcome, reason, version, moment)


class Standing(NamedTuple):
    """Columns of a skill that are decided among its rivals."""

    status: str
    shadowed_by: int | None = None
    status_reason: str | None = None
    is_conflict: int = 0  # 1 if it lost the name to other content of its own level, undecided


def standings_of(db: Database, rivals: Sequence[Row]) -> list[tuple[Row, Standing]]:
    """Return the decision on each rival."""
    winner = winner_of(rivals)
    return [
        (
            row,
            Standing(
                "shadowed",
                winner["id"],
                _reason(winner, row),
                int(_is_conflict(winner, row)),
            )
            if row["id"] != winner["id"]
            else _of_winner(db, winner),
        )
        for row in rivals
    ]


def _of_winner(db: Database, winner: Row) -> Standing:
    if not winner["is_withheld"]:
        return Standing("active")
    (version,) = db.execute(
        "SELECT version FROM versions WHERE id = ?", [winner["current_version_id"]]
    ).fetchone()
    is_pinned = winner["pinned_version_id"] is not None
    return Standing("shadowed", None, withheld_reason(version, is_pinned=is_pinned))


def _reason(winner: Row, row: Row) -> str:
    where = f"{winner['root']}/{winner['path']}"
    content = "the same" if row["digest"] == winner["digest"] else "other"
    parts = (where, advantage(precedence(winner), precedence(row)), f"with {content} content")
    return f"shadowed by the {winner['level']} skill in {', '.join(filter(None, parts))}"


def _is_conflict(winner: Row, row: Row) -> bool:
    """Return whether a person has to decide: nobody preferred the winner since the rival came."""
    preferred_at, level = winner["preferred_at"], winner["level"]
    is_decided = preferred_at is not None and row["name_since"] <= preferred_at
    is_rival = row["level"] == level and row["digest"] != winner["digest"]
    return is_rival and not row["is_alias"] and not is_decided
