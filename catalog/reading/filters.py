"""Filters of skills, for lists and searches, as one SQL condition."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypeAlias, get_args

from catalog.database.queries import Database
from catalog.model.errors import FilterInvalid
from catalog.model.values import LEVELS, Status
from catalog.reading import dangers
from catalog.text import suggestions, times

STATUSES: tuple[str, ...] = (*get_args(Status), "all")
SAFETY = (*dangers.SAFETY, "clear")
"""Worst grade of a skill's findings about safety; `clear` if it was checked and has none."""
SORTS = ("relevance", "updated", "name", "size", "reads")
"""Orders of results; `size` is the tokens of SKILL.md, smallest first."""
MOST_VALUES = 50
"""Values of one filter, at most."""

Values: TypeAlias = tuple[str, ...]
_YES_NO: Mapping[str, bool] = {"yes": True, "no": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Properties that a skill must have; of several values of one, any is enough.

    No values, or None, mean any.
    """

    status: Values = ("active",)  # of STATUSES
    level: Values = ()
    publisher: Values = ()  # its plugin or owner, else its author, else the name of its root
    root: Values = ()  # its path or the URL of its repository, or the last part of it
    namespace: Values = ()
    plugin: Values = ()
    category: Values = ()
    tag: Values = ()
    author: Values = ()
    license: Values = ()
    tool: Values = ()  # in `allowed-tools`; "Bash" is also in "Bash(git:*)"
    host: Values = ()  # of a URL in its files
    safety: Values = ()  # of SAFETY
    has_scripts: bool | None = None
    valid: bool | None = None  # by the specification
    changed_since: str = ""  # ISO 8601 in UTC, as the catalog stores times
    model_invocable: bool | None = None

    @property
    def is_default(self) -> bool:
        """Return whether nothing but active skills is asked for."""
        return self == self.widened

    @property
    def widened(self) -> "Filters":
        """Return the filters of a search without any."""
        return Filters(model_invocable=self.model_invocable)

    def without(self, name: str) -> "Filters":
        """Return the filters that admit any value of one of them."""
        return replace(self, **{name: _ANY_VALUE.get(name, ())})

    @property
    def condition(self) -> str:
        """Return the SQL condition on `skills AS s`."""
        return " AND ".join(_condition(name, given) for name, given in self._given()) or "TRUE"

    @property
    def values(self) -> dict[str, Any]:
        """Return the parameters of the condition, by their names."""
        found: dict[str, Any] = {}
        for name, given in self._given():
            found |= _numbered(name, given) if isinstance(given, tuple) else {name: given}
        return found

    def _given(self) -> Iterable[tuple[str, Any]]:
        """Yield the filters that exclude some skills, with their values."""
        for field in fields(self):
            given = getattr(self, field.name)
            if given not in ((), "", None) and "all" not in (
                given if field.name == "status" else ()
            ):
                yield field.name, given


PARAMETERS = tuple(field.name for field in fields(Filters) if field.name != "model_invocable")
"""Names of the filters in addresses."""
CHOICES = tuple(name for name in PARAMETERS if isinstance(getattr(Filters(), name), tuple))
"""Names of the filters that may have several values."""
_ANY_VALUE: Mapping[str, Any] = {
    "status": ("all",),
    "has_scripts": None,
    "valid": None,
    "changed_since": "",
}


def parse(given: Mapping[str, str | Iterable[str]], now: datetime) -> Filters:
    """Return the filters for texts by their names, as in an address; empty texts do not count.

    Raises FilterInvalid with the known values.
    """
    texts = {name: _texts(name, value) for name, value in given.items()}
    chosen: dict[str, Any] = {name: values for name in CHOICES if (values := texts.get(name))}
    single = {name: (texts.get(name) or ("",))[0] for name in _ANY_VALUE if name not in CHOICES}
    for name, known in (("status", STATUSES), ("level", LEVELS), ("safety", SAFETY)):
        for value in chosen.get(name, ()):
            if value not in known:
                raise FilterInvalid(_sentence(name, value, known))
    return Filters(
        **chosen,
        has_scripts=_flag("has_scripts", single["has_scripts"]),
        valid=_flag("valid", single["valid"]),
        changed_since=times.since(single["changed_since"], now),
    )


def _texts(name: str, value: str | Iterable[str]) -> Values:
    """Return the distinct values that are given, in their order."""
    values = (value,) if isinstance(value, str) else tuple(value)
    found = tuple(dict.fromkeys(text.strip() for text in values if text.strip()))
    if len(found) > MOST_VALUES:
        word = name.replace("_", " ")
        raise FilterInvalid(f"The filter {word} has {len(found):,} values; {MOST_VALUES} are most.")
    return found


def sort(text: str) -> str:
    """Return the order that is asked for, "" for none. Raises FilterInvalid with the known ones."""
    if text and text not in SORTS:
        wrong, known = suggestions.shown(text), ", ".join(SORTS)
        raise FilterInvalid(f"Results cannot be sorted by {wrong}; known: {known}.")
    return text


def _flag(name: str, text: str) -> bool | None:
    if text and text.lower() not in _YES_NO:
        word, wrong = name.replace("_", " "), suggestions.shown(text)
        raise FilterInvalid(f"The filter {word} cannot be {wrong}; it is yes or no.")
    return _YES_NO.get(text.lower())


def unknown(db: Database, filters: Filters) -> str:
    """Return a sentence about a value that no skill has, with the known ones; "" if all exist."""
    for name, query in _KNOWN.items():
        for value in getattr(filters, name):
            one: dict[str, Any] = {name: (value,)}
            alone = Filters(status=("all",), **one)
            if not db.execute(f"{_ANY} {alone.condition} LIMIT 1", alone.values).fetchone():
                counts: Counter[str] = Counter(dict(db.execute(query)))
                names = [part for part, _ in counts.most_common()]
                near = suggestions.closest(value, names[:_COMPARED])
                return _sentence(name, value, [*near, *(n for n in names if n not in near)])
    return ""


def _sentence(name: str, value: str, known: Sequence[str]) -> str:
    word, wrong = name.replace("_", " "), suggestions.shown(value)
    if not known:
        return f"No skill has the {word} {wrong}, nor any other."
    return f"No skill has the {word} {wrong}; known: {suggestions.few(known)}."


def _numbered(name: str, values: Values) -> dict[str, str]:
    """Return the values by the names of their parameters."""
    if name == "tool":  # without what is allowed of each
        values = tuple(re.sub(r"\(.*", "", value) for value in values)
    return {f"{name}_{number}": value for number, value in enumerate(values)}


def _condition(name: str, given: Any) -> str:
    """Return the condition for one filter."""
    if not isinstance(given, tuple):
        return _CONDITIONS[name]
    parameters = [f":{parameter}" for parameter in _numbered(name, given)]
    if name == "root":
        return f"({' OR '.join(_ROOT.format(parameter) for parameter in parameters)})"
    return _CONDITIONS[name].format(", ".join(parameters))


_COMPARED = 2000
"""Known values with which an unknown one is compared, most frequent first."""
_ANY = "SELECT 1 FROM skills AS s WHERE"
_ROOT = (
    "s.root = {0} OR substr(s.root, -length({0}) - 1) = '/' || {0}"
    " OR s.root IN (SELECT root FROM mirrors WHERE url = {0}"
    " OR substr(url, -length({0}) - 1) = '/' || {0}"
    " OR substr(url, -length({0}) - 5) = '/' || {0} || '.git')"
)
# A word after a comma of the format stays one parameter: the values are never part of the SQL.
_CONDITIONS = {
    **{name: f"s.{name} IN ({{}})" for name in ("status", "level")},
    **{
        name: f"s.{name} COLLATE NOCASE IN ({{}})"
        for name in ("publisher", "namespace", "plugin", "category", "author", "license")
    },
    **{
        name: f"EXISTS (SELECT 1 FROM json_each(s.{name}s) WHERE value COLLATE NOCASE IN ({{}}))"
        for name in ("tag", "tool", "host")
    },
    "safety": f"""ifnull(
        (SELECT {dangers.WORST} FROM findings WHERE skill = s.id AND profile = 'safety'),
        (SELECT 'clear' FROM roots WHERE path = s.root AND instr(profiles, '"safety"')))
        IN ({{}})""",
    "has_scripts": "ifnull(s.has_scripts, 0) = :has_scripts",
    "valid": "ifnull(s.spec_valid, 0) = :valid",
    "changed_since": "s.last_changed >= :changed_since",
    "model_invocable": "s.model_invocable = :model_invocable",
}
_KNOWN = {
    "root": "SELECT ifnull(m.url, r.path), 1 FROM roots AS r LEFT JOIN mirrors AS m"
    " ON m.root = r.path WHERE configured",
    **{
        name: f"SELECT value, count(*) FROM skills AS s, json_each(s.{name}s) GROUP BY 1"
        for name in ("tag", "tool", "host")
    },
    **{
        name: f"SELECT {name}, count(*) FROM skills WHERE {name} IS NOT NULL GROUP BY 1"
        for name in ("publisher", "namespace", "plugin", "category", "author", "license")
    },
}
