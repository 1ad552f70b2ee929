"""The difference between two versions of a skill, in words that are stored with the newer one."""

import json
from collections.abc import Iterator, Mapping

from catalog.database.queries import Database, Row
from catalog.model.fields import COLUMNS
from catalog.model.skill import SkillRecord
from catalog.reading.skills import versions
from catalog.text.differences import ComparisonsLeft, difference
from catalog.text.humanize import count
from catalog.text.suggestions import few
from catalog.writing.rows import derived

NAMED = 3
"""Files, tools and hosts of a kind that are named; the others are counted."""
STEPS = 100_000
"""Comparisons of two lines for one version, about an eightieth of a second."""
REWRITTEN = 0.5
"""Part of the words of two descriptions that is the same, below which the newer one is new."""


def in_words(db: Database, before: Row, record: SkillRecord, described: str) -> str:
    """Return what a version changes, scripts first: "changed run.py, license changed, +8 −1".

    before is the stored version before it, and described its own column of that name.
    """
    old = versions.files(db, before["id"])
    new = {entry.path: derived.file(0, entry) for entry in record.files}
    new[record.skill_md_name] |= {"text": record.skill_md_content}
    found = versions.differing(old, new)
    parts = [*_of_files(found, old, new), *_of_fields(before["described"], described)]
    added = removed = compared = 0
    work = ComparisonsLeft(STEPS)
    for path in found["changed"]:
        stored = versions.file(db, before["id"], path)
        if stored and stored["text"] is not None and new[path]["text"] is not None:
            counts = difference(stored["text"], new[path]["text"], work).counts()
            added, removed, compared = added + counts[0], removed + counts[1], compared + 1
    lines = " ".join(
        f"{sign}{number:,}" for sign, number in (("+", added), ("\u2212", removed)) if number
    )
    if lines:
        noun = "line" if added + removed == 1 else "lines"
        parts.append(f"{lines} {noun} in {count(compared, 'file')}")
    return ", ".join(parts)


def _of_files(
    found: Mapping[str, tuple[str, ...]], old: Mapping[str, Row], new: Mapping[str, Row]
) -> Iterator[str]:
    left = {old[path]["sha256"]: path for path in found["removed"]}
    moved = {
        path: left[new[path]["sha256"]] for path in found["added"] if new[path]["sha256"] in left
    }
    named = {
        "added": [path for path in found["added"] if path not in moved],
        "moved": [f"{was} to {path}" for path, was in moved.items()],
        "removed": [path for path in found["removed"] if path not in moved.values()],
        "changed": [path for path in found["changed"] if new[path]["kind"] != "skill_md"],
    }
    for verb, paths in named.items():
        if paths:
            yield f"{verb} {few(versions.in_order(paths, old, new), NAMED)}"


def _of_fields(old_json: str, new_json: str) -> Iterator[str]:
    """Yield the changes of the frontmatter, and the tools and hosts that are new."""
    old, new = json.loads(old_json), json.loads(new_json)
    if not old:  # it is unknown, as the catalog was lost
        return
    for name, noun in (("tools", "tool"), ("hosts", "host")):
        known = {word.lower() for word in json.loads(old.get(name) or "[]")}
        more = [word for word in json.loads(new[name]) if word.lower() not in known]
        if more:
            yield f"new {noun}{'s' if len(more) > 1 else ''} {few(more, NAMED)}"
    one, other = (set((each.get("description") or "").split()) for each in (old, new))
    if old.get("description") != new["description"]:
        same = len(one & other) / len(one | other)
        yield f"description {'rewritten' if same < REWRITTEN else 'edited'}"
    for name, column in COLUMNS.items():
        if (column.label or name in ("name", "tags")) and old.get(name) != new[name]:
            how = "removed" if new[name] is None else "changed" if old.get(name) else "added"
            yield f"{(column.label or name).lower()} {how}"
