"""SKILL.md as it was read: with the repairs of its findings, and nothing else changed."""

import re
from collections.abc import Iterable

from catalog.database.expressions import IS_NEWEST
from catalog.database.queries import Database, Row
from catalog.reading.files import skill_files
from catalog.reading.files.published import Package

_BYTE_ORDER_MARK = "\ufeff"


def repairable(db: Database) -> frozenset[str]:
    """Return the skill_ids of the published skills with repairs."""
    return frozenset(skill_id for (skill_id,) in db.execute(f"SELECT DISTINCT s.skill_id {_FROM}"))


def repaired_skill_md(db: Database, package: Package) -> bytes | None:
    """Return the SKILL.md of a published version with its repairs; None if it needs none.

    The findings of the skill must be those of this version. Raises as `skill_files.opened` does.
    """
    rows = db.rows(
        f'SELECT f.line, f."before", f."after" {_FROM} AND s.skill_id = ? AND s.digest = ?',
        [package.skill_id, package.digest],
    )
    entry = package.skill_md
    if not rows or entry is None:
        return None
    with skill_files.opened(package, entry) as file:
        return repaired(file.read(), rows)


_FROM = f"""
    FROM findings AS f JOIN skills AS s ON s.id = f.skill
    WHERE s.status = 'active' AND {IS_NEWEST}
        AND (f.code = 'byte-order-mark' OR f."before" IS NOT NULL AND f."after" IS NOT NULL)
"""


def repaired(data: bytes, repairs: Iterable[Row]) -> bytes | None:
    """Return a text whose lines `before` are those `after`; None if it has other lines there."""
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BYTE_ORDER_MARK)
    lines = _LINE.findall(text)
    changes = {row["line"]: row for row in repairs if row["before"] is not None}
    for first, row in sorted(changes.items(), reverse=True):
        before, after = row["before"].split("\n"), row["after"].split("\n")
        place = slice(first - 1, first - 1 + len(before))
        present = lines[place]
        if [line.rstrip() for line, _ in present] != [line.rstrip() for line in before]:
            return None
        lines[place] = [(line, present[0][1]) for line in after[:-1]] + [
            (after[-1], present[-1][1])
        ]
    return "".join(map("".join, lines)).encode("utf-8", "surrogateescape")


_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
