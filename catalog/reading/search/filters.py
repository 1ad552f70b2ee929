"""Filters of skills: one table, from which every option, parameter, facet and condition follows."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from catalog.database.queries import Database
from catalog.model.errors import FilterInvalid
from catalog.model.paths import root_name
from catalog.model.values import LEVELS, Status
from catalog.reading.findings import finding_lists
from catalog.text import humanize, suggestions

Values: TypeAlias = tuple[str, ...]
Kind: TypeAlias = Literal["text", "choice", "yes or no", "time"]

MOST_VALUES = 50
"""Values of one filter, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Property of skills by which lists and searches are narrowed.

    A skill has one value of it, or several in a JSON list. Of several chosen values, any is enough.
    """

    name: str  # in addresses, options and parameters
    sentence: str  # for people and agents
    for_agents: str = ""  # another sentence, for agents only
    kind: Kind = "text"
    values: Values = ()  # possible values of a choice, offered values of a time
    usual: Values = ()  # chosen unless others are given
    value: str  # SQL: the value of a skill `s`
    is_list: bool = False  # the value is a JSON list
    condition: str = ""  # SQL on a skill `s`, with {} for a chosen value, unless this is the value
    known: str = ""  # SQL query: known values with numbers, unless they are those of all skills
    read: Callable[[str], str] = str  # the value that a given text means
    title: str  # on the site
    label: Callable[[str], str] = str  # a value for people
    most: int = 100  # values with the most skills, which are offered
    is_counted: bool = True  # whether the site offers its values with numbers of skills
    is_open: bool = False  # whether these can be seen at first

    @property
    def is_single(self) -> bool:
        """Return whether only one value of it can be chosen."""
        return self.kind in ("yes or no", "time")

    @property
    def possible(self) -> Values:
        """Return all values that it can have; () for free text."""
        return ("yes", "no") if self.kind == "yes or no" else self.values

    @property
    def words(self) -> str:
        """Return its name within a sentence."""
        return self.name.replace("_", " ")

    def sql(self, chosen: Values) -> str:
        """Return the SQL condition on `skills AS s` for some values, whose parameters it names."""
        parameters = [f":{name}" for name in self.parameters(chosen)]
        if self.condition:
            return f"({' OR '.join(self.condition.format(each) for each in parameters)})"
        # The columns of choices are compared as they are, so that their indexes are used.
        values = f"{'' if self.kind == 'choice' else 'COLLATE NOCASE '}IN ({', '.join(parameters)})"
        if self.is_list:
            return f"EXISTS (SELECT 1 FROM json_each({self.value}) WHERE value {values})"
        return f"{self.value} {values}"

    def parameters(self, chosen: Values) -> dict[str, str]:
        """Return the values by the names of their SQL parameters."""
        return {f"{self.name}_{number}": value for number, value in enumerate(chosen)}


_ROOT = (
    "s.root = {0} OR substr(s.root, -length({0}) - 1) = '/' || {0}"
    " OR s.root IN (SELECT root FROM mirrors WHERE url = {0}"
    " OR substr(url, -length({0}) - 1) = '/' || {0}"
    " OR substr(url, -length({0}) - 5) = '/' || {0} || '.git')"
)
_SAFETY = f"""ifnull(
    (SELECT {finding_lists.WORST} FROM findings INDEXED BY findings_of_safety
        WHERE skill = s.id AND profile = 'safety'),
    (SELECT 'clear' FROM roots WHERE path = s.root AND instr(profiles, '"safety"')))"""
_AGES = {"1d": "in the last day", "7d": "in the last week", "30d": "in the last month"}
_GRADES = {
    "danger": "dangers",
    "warning": "warnings",
    "info": "notes",
    "clear": "nothing found",  # it was checked and has no findings
}


def _filter(name: str, sentence: str, **others: Any) -> Filter:
    """Return a filter, by default of the column of its name."""
    usual: dict[str, Any] = {"value": f"s.{name}", "title": name.capitalize()}
    return Filter(name=name, sentence=sentence, **usual | others)


FILTERS = (
    _filter(
        "source",
        "Only skills that come from this repository, plugin, owner, folder, author or root.",
        most=10,
        is_open=True,
    ),
    _filter("category", "Only skills of this category.", most=10, is_open=True),
    _filter(
        "tag", "Only skills with this tag.", value="s.tags", is_list=True, most=12, is_open=True
    ),
    _filter(
        "safety",
        "Only skills whose worst finding about safety is of this severity; clear for those"
        " that were checked and have none.",
        kind="choice",
        values=tuple(_GRADES),
        value=_SAFETY,
        label=lambda value: _GRADES.get(value, value),
        is_open=True,
    ),
    _filter(
        "has_scripts",
        "Only skills with scripts, or without.",
        kind="yes or no",
        value="iif(s.has_scripts, 'yes', 'no')",
        title="Scripts",
        label=lambda value: "with scripts" if value == "yes" else "without scripts",
        is_open=True,
    ),
    _filter(
        "tool",
        "Only skills that ask for this tool in allowed-tools, such as Bash.",
        value="s.tools",
        is_list=True,
        read=lambda text: re.sub(r"\(.*", "", text),  # "Bash(git:*)" is "Bash"
        title="Tools it asks for",
        most=10,
        is_open=True,
    ),
    _filter(
        "host",
        "Only skills whose files have a URL of this host, such as github.com.",
        value="s.hosts",
        is_list=True,
        title="Hosts it names",
        most=8,
    ),
    _filter("license", "Only skills with this licence, such as MIT.", most=6),
    _filter(
        "changed_since",
        "Only skills changed since a date or time in ISO 8601, or in the last 12h, 7d or 2w.",
        kind="time",
        values=tuple(_AGES),
        value="s.last_changed",
        condition="s.last_changed >= {}",
        title="Changed",
        label=lambda value: _AGES.get(value, value),
        is_counted=False,
    ),
    _filter("level", "Only skills of roots with this level.", kind="choice", values=LEVELS),
    _filter(
        "root",
        "Only skills of this root: its path or repository, or the last part of that.",
        condition=_ROOT,
        known="SELECT ifnull(m.url, r.path), 1 FROM roots AS r LEFT JOIN mirrors AS m"
        " ON m.root = r.path WHERE configured",
        label=lambda value: root_name(value) or value,
    ),
    _filter(
        "namespace", "Only skills of this namespace, as team-a in team-a:review.", is_counted=False
    ),
    _filter("plugin", "Only skills of this plugin.", is_counted=False),
    _filter("author", "Only skills of this author.", is_counted=False),
    _filter(
        "valid",
        "Only skills that are valid by the specification, or not.",
        kind="yes or no",
        value="iif(s.spec_valid, 'yes', 'no')",
        title="Specification",
        label=lambda value: "valid" if value == "yes" else "not valid",
    ),
    _filter(
        "status",
        "Only skills with this status.",
        for_agents="A shadowed skill has the name of an active one; read its file at its location,"
        " not with read_skill_file.",
        kind="choice",
        values=(*get_args(Status), "all"),
        usual=("active",),
        label=lambda value: "any status" if value == "all" else value,
    ),
)
"""All filters, in the order in which they are offered."""
BY_NAME = {each.name: each for each in FILTERS}
ANY = ("all",)
"""Value of a filter with usual values that admits every skill."""


class Filters:
    """Values of filters that a skill must have, as given or as usual."""

    __slots__ = ("_given", "model_invocable")

    def __init__(self, *, model_invocable: bool | None = None, **given: Values) -> None:
        """Take the values by the names of their filters; no values mean any, or the usual ones."""
        if wrong := given.keys() - BY_NAME.keys():
            raise TypeError(f"no such filters: {wrong}")
        self.model_invocable = model_invocable
        self._given = {n: given[n] for n in BY_NAME if given.get(n, ()) not in ((), _USUAL[n])}

    def __getitem__(self, name: str) -> Values:
        """Return the values of a filter."""
        return self._given.get(name, _USUAL[name])

    @property
    def is_default(self) -> bool:
        """Return whether no filter narrows the usual skills."""
        return not self._given

    @property
    def for_models(self) -> "Filters":
        """Return the filters, for skills that a model may start."""
        return Filters(model_invocable=True, **self._given)

    def but(self, name: str, *values: str) -> "Filters":
        """Return the filters with other values of one of them."""
        return Filters(model_invocable=self.model_invocable, **self._given | {name: values})

    def without(self, name: str) -> "Filters":
        """Return the filters that admit any value of one of them."""
        return self.but(name, *(ANY if _USUAL[name] else ()))

    def excludes(self, name: str) -> bool:
        """Return whether a filter excludes some skills."""
        return self[name] not in ((), ANY)

    @property
    def condition(self) -> str:
        """Return the SQL condition on `skills AS s`."""
        conditions = [each.sql(chosen) for each, chosen in self._narrowing()]
        if self.model_invocable is not None:
            conditions.append(f"s.model_invocable = {int(self.model_invocable)}")
        return " AND ".join(conditions) or "TRUE"

    @property
    def values(self) -> dict[str, str]:
        """Return the parameters of the condition, by their names."""
        return {
            name: value
            for each, chosen in self._narrowing()
            for name, value in each.parameters(chosen).items()
        }

    def _narrowing(self) -> Iterator[tuple[Filter, Values]]:
        for each in FILTERS:
            if self[each.name] and "all" not in (self[each.name] if each.usual else ()):
                yield each, self[each.name]


_USUAL: Mapping[str, Values] = {each.name: each.usual for each in FILTERS}


# Values that people and programs give


def parse(given: Mapping[str, str | Iterable[str]], now: datetime) -> Filters:
    """Return the filters for texts by their names, as in an address; empty texts do not count.

    Raises FilterInvalid with the known values.
    """
    chosen: dict[str, Any] = {
        name: _read(BY_NAME[name], _texts(name, texts), now) for name, texts in given.items()
    }
    return Filters(**chosen)


def _texts(name: str, value: str | Iterable[str]) -> Values:
    """Return the distinct values that are given, in their order."""
    values = (value,) if isinstance(value, str) else tuple(value)
    found = tuple(dict.fromkeys(text.strip() for text in values if text.strip()))
    if len(found) > MOST_VALUES:
        word = BY_NAME[name].words
        raise FilterInvalid(f"The filter {word} has {len(found):,} values; {MOST_VALUES} are most.")
    return found


def _read(filter_: Filter, texts: Values, now: datetime) -> Values:
    """Return the values that texts mean. Raises FilterInvalid."""
    texts = texts[:1] if filter_.is_single else texts
    if filter_.kind == "choice":
        for text in texts:
            if text not in filter_.values:
                raise FilterInvalid(_sentence(filter_, text, filter_.values))
    if filter_.kind == "time":
        return tuple(humanize.since(text, now) for text in texts)
    if filter_.kind == "yes or no":
        return tuple(_yes_or_no(filter_, text) for text in texts)
    return tuple(map(filter_.read, texts))


def _yes_or_no(filter_: Filter, text: str) -> str:
    if text.lower() not in _YES_OR_NO:
        wrong = suggestions.shown(text)
        raise FilterInvalid(f"The filter {filter_.words} cannot be {wrong}; it is yes or no.")
    return _YES_OR_NO[text.lower()]


_YES_OR_NO = {"yes": "yes", "no": "no", "1": "yes", "0": "no"}


def unknown(db: Database, filters: Filters) -> str:
    """Return a sentence about a value that no skill has, with the known ones; "" if all exist."""
    for each in FILTERS:
        if each.kind != "text":
            continue
        for value in filters[each.name]:
            one = (value,)
            query = f"SELECT 1 FROM skills AS s WHERE {each.sql(one)} LIMIT 1"
            if not db.execute(query, each.parameters(one)).fetchone():
                counts: Counter[str] = Counter(dict(db.execute(each.known or _known(each))))
                names = [part for part, _ in counts.most_common()]
                near = suggestions.closest(value, names[:_COMPARED])
                return _sentence(each, value, [*near, *(n for n in names if n not in near)])
    return ""


def _known(filter_: Filter) -> str:
    """Return the SQL query for the values that skills have, with their numbers."""
    if filter_.is_list:
        listed = f"skills AS s, json_each({filter_.value}) AS each"
        return f"SELECT each.value, count(*) FROM {listed} GROUP BY 1"
    value = filter_.value
    return f"SELECT {value}, count(*) FROM skills AS s WHERE {value} IS NOT NULL GROUP BY 1"


def _sentence(filter_: Filter, value: str, known: Sequence[str]) -> str:
    wrong = suggestions.shown(value)
    if not known:
        return f"No skill has the {filter_.words} {wrong}, nor any other."
    return f"No skill has the {filter_.words} {wrong}; known: {suggestions.few(known)}."


_COMPARED = 2000
"""Known values with which an unknown one is compared, most frequent first."""
