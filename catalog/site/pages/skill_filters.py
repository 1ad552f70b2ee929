"""Links that choose a value of a filter, or take it off again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from catalog.model.paths import last_name
from catalog.reading.facet_counts import Choice, Facet

TITLES = {
    "publisher": "Publisher",
    "category": "Category",
    "tag": "Tag",
    "safety": "Safety",
    "has_scripts": "Scripts",
    "tool": "Tools it asks for",
    "host": "Hosts it names",
    "license": "Licence",
    "changed_since": "Changed",
    "level": "Level",
    "root": "Root",
    "namespace": "Namespace",
    "plugin": "Plugin",
    "author": "Author",
    "valid": "Specification",
    "status": "Status",
}
"""Titles of the filters, in the order of the page."""
OPEN = ("publisher", "category", "tag", "safety", "has_scripts", "tool")
"""Filters whose values can be seen at first."""
_LABELS = {
    ("safety", "error"): "dangers",
    ("safety", "warning"): "warnings",
    ("safety", "info"): "notes",
    ("safety", "clear"): "nothing found",
    ("has_scripts", "yes"): "with scripts",
    ("has_scripts", "no"): "without scripts",
    ("valid", "yes"): "valid",
    ("valid", "no"): "not valid",
    ("changed_since", "1d"): "in the last day",
    ("changed_since", "7d"): "in the last week",
    ("changed_since", "30d"): "in the last month",
    ("status", "all"): "any status",
}
_AGES = ("1d", "7d", "30d")
_SINGLE = ("has_scripts", "valid", "changed_since")
"""Filters of which one value counts."""


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a page of skills."""

    path: str
    words: str
    sort: str  # "" for the usual one
    chosen: Mapping[str, tuple[str, ...]]  # values by filter, as they are written

    def url(self, page: int = 1, sort: str | None = None) -> str:
        """Return the address with another page or order."""
        pairs = [*self.fields(), ("sort", self.sort if sort is None else sort)]
        pairs.append(("page", str(page) if page > 1 else ""))
        query = urlencode([(name, value) for name, value in pairs if value])
        return f"{self.path}?{query}" if query else self.path

    def fields(self, but: str = "") -> list[tuple[str, str]]:
        """Return the words and the values of filters, for a form without one of its fields."""
        pairs = [("q", self.words), *((name, v) for name, vs in self.chosen.items() for v in vs)]
        return [(name, value) for name, value in pairs if value.strip() and name != but]

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a filter; a skill is active unless the address says otherwise."""
        given = tuple(value.strip() for value in self.chosen.get(name, ()) if value.strip())
        return given or (("active",) if name == "status" else ())

    def toggled(self, name: str, value: str) -> "Address":
        """Return the address with a value of a filter, or without if it is chosen."""
        old = self.values(name)
        if any(each.lower() == value.lower() for each in old):
            new = tuple(each for each in old if each.lower() != value.lower())
        else:
            new = (value,) if name in _SINGLE else (*(v for v in old if v != "all"), value)
        if name == "status":
            new = () if new == ("active",) else new or ("all",)
        return replace(self, chosen={**self.chosen, name: new})


class Link(NamedTuple):
    """Value of a filter, with the address that takes it or takes it off."""

    label: str
    n: int | None
    url: str
    is_chosen: bool


class Group(NamedTuple):
    """Values of one filter."""

    name: str
    title: str
    links: list[Link]
    others: int  # values that are not offered
    is_open: bool
    fields: list[tuple[str, str]]  # of the form that adds one of the others


class Chip(NamedTuple):
    """Chosen value, with the address without it."""

    title: str
    label: str
    url: str


def chips(address: Address) -> list[Chip]:
    """Return what is chosen, but for the usual status."""
    found = [
        Chip(title, label(name, value), address.toggled(name, value).url())
        for name, title in TITLES.items()
        for value in dict.fromkeys(address.values(name))
        if (name, value) != ("status", "active") or len(address.values("status")) > 1
    ]
    if address.values("status") == ("all",):
        found = [chip for chip in found if chip.title != TITLES["status"]]
        found.append(
            Chip("Status", "any", replace(address, chosen={**address.chosen, "status": ()}).url())
        )
    return found


def groups(address: Address, facets: Mapping[str, Facet]) -> list[Group]:
    """Return the filters that exclude some skill, or of which a value is chosen."""
    ages = Facet(tuple(Choice(age, -1) for age in _AGES))
    found = []
    for name, title in TITLES.items():
        facet = ages if name == "changed_since" else facets.get(name)
        chosen = {value.lower() for value in address.values(name)}
        if not facet or (
            len(facet.choices) < 2 and not chosen & {c.value.lower() for c in facet.choices}
        ):
            continue
        links = [
            Link(
                label(name, choice.value),
                choice.n if choice.n >= 0 else None,
                address.toggled(name, choice.value).url(),
                choice.value.lower() in chosen,
            )
            for choice in facet.choices
        ]
        is_open = name in OPEN or (bool(chosen) and name != "status")
        found.append(Group(name, title, links, facet.others, is_open, address.fields()))
    return found


def label(name: str, value: str) -> str:
    """Return the words for a value of a filter."""
    if name == "root":
        return last_name(value) or value
    return _LABELS.get((name, value), value)
