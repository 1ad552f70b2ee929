"""Filters of skills, for lists and searches, as one SQL condition."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, get_args

from catalog.database.queries import Database
from catalog.model.errors import FilterInvalid
from catalog.model.values import LEVELS, Status
from catalog.text import suggestions, times

STATUSES: tuple[str, ...] = (*get_args(Status), "all")

_YES_NO: Mapping[str, bool] = {"yes": True, "no": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Properties that a skill must have; an empty value or None means any."""

    status: str = "active"  # one of STATUSES
    level: str = ""
    root: str = ""  # its path, or the last part of it
    plugin: str = ""
    tag: str = ""
    author: str = ""
    license: str = ""
    tool: str = ""  # in `allowed-tools`; "Bash" is also in "Bash(git:*)"
    has_scripts: bool | None = None
    valid: bool | None = None  # by the specification
    changed_since: str = ""  # ISO 8601 in UTC, as the catalog stores times
    model_invocable: bool | None = None

    @property
    def is_default(self) -> bool:
        """Return whether nothing but active skills is asked for."""
        return self == Filters(model_invocable=self.model_invocable)

    @property
    def widened(self) -> "Filters":
        """Return the filters of a search without any."""
        return Filters(model_invocable=self.model_invocable)

    @property
    def condition(self) -> str:
        """Return the SQL condition on `skills AS s`."""
        return " AND ".join(_CONDITIONS[name] for name in self.values) or "TRUE"

    @property
    def values(self) -> dict[str, Any]:
        """Return the parameters of the condition, by their names."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        given["status"] = given["status"].removesuffix("all")
        return {name: value for name, value in given.items() if value not in ("", None)}


PARAMETERS = tuple(field.name for field in fields(Filters) if field.name != "model_invocable")
"""Names of the filters in addresses."""


def parse(given: Mapping[str, str], now: datetime) -> Filters:
    """Return the filters for texts by their names, as in an address; empty texts do not count.

    Raises FilterInvalid with the known values.
    """
    texts = {name: text.strip() for name, text in given.items() if text.strip()}
    changed_since = times.since(texts.pop("changed_since", ""), now)
    flags = {name: _flag(name, texts.pop(name, "")) for name in ("has_scripts", "valid")}
    for name, known in (("status", STATUSES), ("level", LEVELS)):
        if name in texts and texts[name] not in known:
            raise FilterInvalid(_sentence(name, texts[name], known))
    return Filters(**texts, **flags, changed_since=changed_since)  # type: ignore[arg-type]


def _flag(name: str, text: str) -> bool | None:
    if text and text.lower() not in _YES_NO:
        word, wrong = name.replace("_", " "), suggestions.shown(text)
        raise FilterInvalid(f"The filter {word} cannot be {wrong}; it is yes or no.")
    return _YES_NO.get(text.lower())


def unknown(db: Database, filters: Filters) -> str:
    """Return a sentence about a value that no skill has, with the known ones; "" if all exist."""
    for name, query in _KNOWN.items():
        if not (value := getattr(filters, name)):
            continue
        alone = replace(Filters(status="all"), **{name: value})
        if not db.execute(f"{_ANY} {alone.condition} LIMIT 1", alone.values).fetchone():
            counts: Counter[str] = Counter()
            for text, number in db.execute(query):
                for part in _tools(text) if name == "tool" else (text,):
                    counts[part] += number
            names = [part for part, _ in counts.most_common()]
            near = suggestions.closest(value, names[:_COMPARED])
            return _sentence(name, value, [*near, *(n for n in names if n not in near)])
    return ""


def _tools(allowed: str) -> list[str]:
    """Return the names in `allowed-tools`, without what is allowed of each."""
    return re.sub(r"\([^)]*\)", " ", allowed).split()


def _sentence(name: str, value: str, known: Sequence[str]) -> str:
    word, wrong = name.replace("_", " "), suggestions.shown(value)
    if not known:
        return f"No skill has the {word} {wrong}, nor any other."
    return f"No skill has the {word} {wrong}; known: {suggestions.few(known)}."


_COMPARED = 2000
"""Known values with which an unknown one is compared, most frequent first."""
_ANY = "SELECT 1 FROM skills AS s WHERE"
_CONDITIONS = {
    "status": "s.status = :status",
    "level": "s.level = :level",
    "root": "(s.root = :root OR substr(s.root, -length(:root) - 1) = '/' || :root)",
    "plugin": "s.plugin = :plugin COLLATE NOCASE",
    "tag": "EXISTS (SELECT 1 FROM json_each(s.tags) AS t WHERE t.value = :tag COLLATE NOCASE)",
    "author": "s.author = :author COLLATE NOCASE",
    "license": "s.license = :license COLLATE NOCASE",
    "tool": "(instr(' ' || lower(s.allowed_tools) || ' ', ' ' || lower(:tool) || ' ')"
    " OR instr(' ' || lower(s.allowed_tools), ' ' || lower(:tool) || '('))",
    "has_scripts": "ifnull(s.has_scripts, 0) = :has_scripts",
    "valid": "ifnull(s.spec_valid, 0) = :valid",
    "changed_since": "s.last_changed >= :changed_since",
    "model_invocable": "s.model_invocable = :model_invocable",
}
_KNOWN = {
    "root": "SELECT path, 1 FROM roots WHERE configured",
    "tag": "SELECT t.value, count(*) FROM skills AS s, json_each(s.tags) AS t GROUP BY 1",
    **{
        name: f"SELECT {column}, count(*) FROM skills WHERE {column} IS NOT NULL GROUP BY 1"
        for name, column in (
            ("plugin", "plugin"),
            ("author", "author"),
            ("license", "license"),
            ("tool", "allowed_tools"),
        )
    },
}
