"""Links that choose a value of a filter, or take it off again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from catalog.reading.facet_counts import Choice, Facet
from catalog.reading.filters import ANY, BY_NAME, FILTERS


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
        return given or BY_NAME[name].usual

    def toggled(self, name: str, value: str) -> "Address":
        """Return the address with a value of a filter, or without if it is chosen."""
        old, filter_ = self.values(name), BY_NAME[name]
        if any(each.lower() == value.lower() for each in old):
            new = tuple(each for each in old if each.lower() != value.lower())
        else:
            new = (value,) if filter_.is_single else (*(v for v in old if (v,) != ANY), value)
        if filter_.usual:
            new = () if new == filter_.usual else new or ANY
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
    """Return the chosen values, without the usual ones."""
    found = []
    for each in FILTERS:
        values = tuple(dict.fromkeys(address.values(each.name)))
        if each.usual and values == ANY:
            usual = replace(address, chosen={**address.chosen, each.name: ()})
            found.append(Chip(each.title, "any", usual.url()))
        elif not each.usual or values != each.usual:
            found += [
                Chip(each.title, each.label(value), address.toggled(each.name, value).url())
                for value in values
            ]
    return found


def groups(address: Address, facets: Mapping[str, Facet]) -> list[Group]:
    """Return the filters that exclude some skill, or of which a value is chosen."""
    found = []
    for each in FILTERS:
        facet = facets.get(each.name)
        if each.kind == "time" and facets:
            facet = Facet(tuple(Choice(value, None) for value in each.values))
        chosen = {value.lower() for value in address.values(each.name)}
        if not facet or (
            len(facet.choices) < 2 and not chosen & {c.value.lower() for c in facet.choices}
        ):
            continue
        links = [
            Link(
                each.label(choice.value),
                choice.n,
                address.toggled(each.name, choice.value).url(),
                choice.value.lower() in chosen,
            )
            for choice in facet.choices
        ]
        is_open = each.is_open or (bool(chosen) and not each.usual)
        found.append(Group(each.name, each.title, links, facet.others, is_open, address.fields()))
    return found
