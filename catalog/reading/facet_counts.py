"""Numbers of skills by each value of each filter, given the other filters and the words.

The skills of a value are the bits of a number, so that a set is counted in microseconds.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import itemgetter, or_
from typing import Any, NamedTuple, TypeAlias

from catalog.database.queries import Database
from catalog.model.paths import last_name, root_name
from catalog.reading.dangers import WORST
from catalog.reading.filters import SAFETY, STATUSES, Filters

NAMES = (
    *("status", "level", "root", "publisher", "license", "category", "has_scripts", "valid"),
    *("tag", "tool", "host", "safety"),
)
"""Filters whose values are counted: of the rows of skills, and of other tables."""
MOST = {"publisher": 10, "category": 10, "tag": 12, "license": 6, "tool": 10, "host": 8}
"""Values of a filter that are offered, beside those that are chosen; of others, all."""
_IN_ORDER = {"status": STATUSES, "safety": SAFETY, "has_scripts": ("yes", "no")}
_IN_ORDER["valid"] = _IN_ORDER["has_scripts"]
"""Filters whose values have an order of their own."""

Sets: TypeAlias = Mapping[str, Mapping[str, int]]
"""Skills by the values of each filter: bit n is the skill with the id n."""


class Choice(NamedTuple):
    """Value of a filter, with the number of skills that it would leave."""

    value: str
    n: int


class Facet(NamedTuple):
    """Values of a filter, most frequent first."""

    choices: tuple[Choice, ...]
    others: int = 0  # values that are not offered


def load(db: Database) -> Sets:
    """Return the skills of each value; they hold until the catalog changes."""
    ids: dict[str, dict[str, list[int]]] = {name: defaultdict(list) for name in NAMES}
    for skill, *values in db.execute(_COLUMNS):
        for name, value in zip(NAMES, values, strict=False):
            if value:
                ids[name][value].append(skill)
    for name, value, skill in db.execute(_LISTED):
        ids[name][value].append(skill)
    for value, skill in db.execute(_SAFETY):
        ids["safety"][value].append(skill)
    return {name: _merged(values) for name, values in ids.items()}


def of(db: Database, sets: Sets, filters: Filters, match: str = "") -> tuple[dict[str, Facet], int]:
    """Return the values of each filter by its name, and the number of all skills.

    Each number holds for the other filters and, if match is an FTS5 expression, for its words.
    """
    known = [
        path for path in sets["root"] if {path, last_name(path), root_name(path)} & {*filters.root}
    ]
    filters = replace(filters, root=tuple(known) or filters.root)
    matching = _matching(db, match) if match else -1  # all bits
    wanted = _skills(db, sets, filters) & matching
    facets = {}
    for name, values in sets.items():
        others = wanted
        if getattr(filters, name) not in ((), None):
            others = _skills(db, sets, filters.without(name)) & matching
        counts = {value: (skills & others).bit_count() for value, skills in values.items()}
        facets[name] = _facet(name, counts, getattr(filters, name))
    return facets, wanted.bit_count()


def _matching(db: Database, match: str) -> int:
    rows = db.execute("SELECT rowid FROM skill_text_fts WHERE skill_text_fts MATCH ?", [match])
    return _bits([skill for (skill,) in rows])


def _skills(db: Database, sets: Sets, filters: Filters) -> int:
    """Return the skills with the filters; for some of these the catalog is asked."""
    found, rest = reduce(or_, sets["status"].values(), 0), filters
    for name, values in sets.items():
        chosen = _chosen(getattr(filters, name))
        known = {value.lower(): skills for value, skills in values.items()} if chosen else {}
        if chosen and (name != "root" or known.keys() >= {*chosen}):  # it may be named by its URL
            found &= reduce(or_, (known.get(value, 0) for value in chosen))
            rest = rest.without(name)
    if rest != _ANY:
        rows = db.execute(f"SELECT s.id FROM skills AS s WHERE {rest.condition}", rest.values)
        found &= _bits([skill for (skill,) in rows])
    return found


def _chosen(value: Any) -> tuple[str, ...]:
    """Return the values of a filter that exclude some skills, in lower case."""
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    return () if value is None or "all" in value else tuple(each.lower() for each in value)


def _bits(skills: list[int]) -> int:
    if not skills:
        return 0
    bits = bytearray(max(skills) // 8 + 1)
    for skill in skills:
        bits[skill >> 3] |= 1 << (skill & 7)
    return int.from_bytes(bits, "little")


def _merged(values: Mapping[str, list[int]]) -> dict[str, int]:
    """Return the skills of values that differ in more than case, by the most frequent form."""
    forms: dict[str, str] = {}
    merged: Counter[str] = Counter()
    for value in sorted(values, key=lambda each: -len(values[each])):
        merged[forms.setdefault(value.lower(), value)] |= _bits(values[value])
    return dict(merged)


def _facet(name: str, counts: Mapping[str, int], chosen: Any) -> Facet:
    if name in _IN_ORDER:
        wanted = _chosen(chosen)
        offered = [value for value in _IN_ORDER[name] if counts.get(value) or value in wanted]
        return Facet(tuple(Choice(value, counts.get(value, 0)) for value in offered))
    ordered = sorted(filter(itemgetter(1), counts.items()), key=lambda each: (-each[1], each[0]))
    first = ordered[: MOST.get(name, len(ordered))]
    shown = {value.lower() for value, _ in first}
    numbers = {value.lower(): number for value, number in ordered}
    rest = [
        (value, numbers.get(value.lower(), 0)) for value in chosen if value.lower() not in shown
    ]
    return Facet(tuple(Choice(*each) for each in (*first, *rest)), len(ordered) - len(first))


_ANY = Filters(status=("all",))
_COLUMNS = """
    SELECT s.id, s.status, s.level, s.root, s.publisher, s.license, s.category,
           iif(s.has_scripts, 'yes', 'no'), iif(s.spec_valid, 'yes', 'no')
    FROM skills AS s
"""
_LISTED = " UNION ALL ".join(
    f"SELECT '{name}', each.value, s.id FROM skills AS s, json_each(s.{name}s) AS each"
    for name in ("tag", "tool", "host")
)
_SAFETY = f"""
    SELECT ifnull(found.worst, 'clear'), s.id
    FROM skills AS s
    JOIN roots AS r ON r.path = s.root AND instr(r.profiles, '"safety"')
    LEFT JOIN (
        SELECT skill, {WORST} AS worst
        FROM findings INDEXED BY findings_of_safety WHERE profile = 'safety' GROUP BY skill
    ) AS found ON found.skill = s.id
"""
