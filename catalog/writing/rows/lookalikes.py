"""Findings about active skills with names that look alike."""

from collections import defaultdict
from collections.abc import Iterable

from catalog.database import sql as database_sql
from catalog.database.queries import Database
from catalog.database.sql import insert
from catalog.model.finding import NAME_CONFUSABLE
from catalog.text import visible
from catalog.text.confusables import lookalike_letter, mixed_word, skeleton
from catalog.writing.rows import mapping

_ALIKE = """
    SELECT s.skeleton, s.id, s.skill_id, s.name, s.root, s.path, s.status
    FROM json_each(?) AS touched
    CROSS JOIN skills AS s INDEXED BY skills_by_skeleton
        ON s.skeleton = touched.value AND s.status IN ('active', 'shadowed', 'rejected', 'removed')
    ORDER BY s.skill_id, s.id
"""
_KNOWN = f"""
    SELECT f.id, f.skill, f.message FROM json_each(?) AS touched
    CROSS JOIN findings AS f INDEXED BY findings_by_skill
        ON f.skill = touched.value AND f.code = '{NAME_CONFUSABLE.code}'
"""


def mark(db: Database, skill_ids: Iterable[str]) -> None:
    """Update the finding of all skills whose names look like one of these.

    The cost depends on the number of lookalikes, not of skills. Runs after the decision on the
    active skill, in the same transaction of the caller.
    """
    touched = sorted(set(map(skeleton, skill_ids)))
    groups: dict[str, list[database_sql.Row]] = defaultdict(list)
    for row in db.query(_ALIKE, [database_sql.to_json(touched)]):
        groups[row["skeleton"]].append(row)
    messages = {
        row["id"]: message for group in groups.values() for row, message in _messages(group)
    }
    known = {
        skill: (finding, message)
        for finding, skill, message in db.execute(_KNOWN, [database_sql.to_json(list(messages))])
    }
    db.conn.executemany(
        "DELETE FROM findings WHERE id = ?",
        [(finding,) for skill, (finding, message) in known.items() if messages[skill] != message],
    )
    db.conn.executemany(
        insert("findings", mapping.FINDING_COLUMNS),
        [
            mapping.finding(
                row["id"], row["root"], row["path"], NAME_CONFUSABLE.at(messages[row["id"]])
            )
            for group in groups.values()
            for row in group
            if messages[row["id"]] and known.get(row["id"], (0, ""))[1] != messages[row["id"]]
        ],
    )


def _messages(group: Iterable[database_sql.Row]) -> Iterable[tuple[database_sql.Row, str]]:
    """Return each skill with the message of its finding; empty if it needs none."""
    group = list(group)
    active = [row for row in group if row["status"] == "active"]
    for row in group:
        message = ""
        if row["status"] == "active":
            other = next((rival for rival in active if rival["skill_id"] != row["skill_id"]), None)
            word = mixed_word(row["skill_id"])
            if other:
                message = (
                    f"The name {row['name']} looks like that of another skill, "
                    f"{other['name']} in {other['root']}/{other['path']}."
                    f"{_letter(row) or _letter(other)}"
                )
            elif word:
                message = f"The word {word} in the name mixes letters of scripts that look alike."
        yield row, message


def _letter(row: database_sql.Row) -> str:
    """Return a sentence on the letter of another script in a name; empty if it has none."""
    letter = lookalike_letter(row["skill_id"])
    return f" In {row['path']}, {letter} is the {visible.character_name(letter)}." if letter else ""
