"""Lists of skills: all to browse, filter and search, and those that are similar to one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from datasette import Response

from catalog.database.queries import Database
from catalog.reading import disk_paths
from catalog.reading.search import duplicates, facet_counts, skill_lists, word_search
from catalog.reading.search.facet_counts import Facet, FacetValue
from catalog.reading.search.filters import ANY, BY_NAME, FILTERS, Filters, parse
from catalog.reading.search.hits import Words, said_and_found
from catalog.reading.skills import skill_facts
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.pages.skill import shortened
from catalog.site.rendering.templates import MARKS
from catalog.text.differences import SIMILAR

PAGE = 24
"""Skills on one page."""


async def page(context: RequestContext) -> Response:
    """Show the skills with the filters; the best matches of the words come first."""
    words = context.parameter("q").strip()
    number = context.number("page") or 1
    filters = filters_of(context)
    sort = skill_lists.parse_sort(context.parameter("sort"))
    sort = sort or ("relevance" if words else "updated")
    address = Address(
        context.path("/skills"),
        words,
        "" if sort == ("relevance" if words else "updated") else sort,
        {name: tuple(context.parameters(name)) for name in BY_NAME},
        is_all=context.parameter("all") == "1",
    )
    values = await context.query(_found if words else _listed, address, filters, sort, number)
    if not context.is_local:
        values["rows"] = shortened(values["rows"], await context.query(disk_paths.disk_folders))
    return context.page(
        "skills.html",
        words=words,
        sort=sort,
        sorts=[each for each in skill_lists.SORTS if words or each != "relevance"],
        number=number,
        size=PAGE,
        address=address,
        all_url=replace(address, is_all=True).url(),
        kept=address.fields("q"),
        chips=chips(address),
        groups=groups(address, values["facets"]),
        is_filtered=not filters.is_default,
        **values,
    )


def filters_of(context: RequestContext) -> Filters:
    """Return the filters in the address of a request. Raises FilterInvalid."""
    given = {name: context.parameters(name) for name in BY_NAME}
    return parse(given, datetime.now(UTC))


def _found(
    db: Database, address: "Address", filters: Filters, sort: str, number: int
) -> dict[str, Any]:
    offset = (number - 1) * PAGE
    results = word_search.search(
        db,
        address.words,
        PAGE,
        offset=offset,
        filters=filters,
        marks=MARKS,
        sort=sort,
        is_near=not address.is_all,
    )
    total, match = len(results.skills), results.query.match
    used, found = dict(results.query.corrections), total + results.further
    # If no word is known, no filter leaves a skill.
    facets = facet_counts.of(db, filters, match, results=results.skills)[0] if match else {}
    groups = {} if address.is_all else duplicates.grouped(db, results.hits)
    words = Words(results.query.words)
    hits = {
        hit.id: {
            "texts": said_and_found(hit, words, MARKS),
            "by": ", ".join(used.get(word, word) for word in hit.matched),
            "others": hit.others,
            "like": groups.get(hit.id, ()),
        }
        for hit in results.hits
        if not groups or hit.id in groups
    }
    return {
        "rows": skill_lists.cards_of(db, list(hits)),
        "hits": hits,
        "total": total,
        "are_best": bool(match) and facet_counts.number(db, filters, match, found + 1) > found,
        "results": results,
        "facets": facets,
        "why_empty": "",
    }


def _listed(db: Database, _: "Address", filters: Filters, sort: str, number: int) -> dict[str, Any]:
    facets, total = facet_counts.of(db, filters)
    return {
        "rows": skill_lists.cards_of(db, skill_lists.skills(db, filters, number, sort, PAGE)),
        "hits": {},
        "total": total,
        "are_best": False,
        "results": None,
        "facets": facets,
        "why_empty": "" if total else word_search.why_empty(db, "", filters),
    }


async def similar(context: RequestContext) -> Response:
    """Show the skills that are similar to one."""
    skill_id = context.path_part("skill_id")
    skill = await context.query(skill_facts.skill, skill_id)
    if not skill:
        return await missing.skill(context, skill_id)
    rows = await context.query(duplicates.similar, skill)
    return context.page("similar.html", skill=skill, rows=rows, least=int(100 * SIMILAR))


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a page of skills."""

    path: str
    words: str
    sort: str  # "" for the usual one
    chosen: Mapping[str, tuple[str, ...]]  # values by filter, as they are written
    is_all: bool = False  # also skills with only some of the words

    def url(self, page: int = 1, sort: str | None = None) -> str:
        """Return the address with another page or order."""
        pairs = [*self.fields(), ("sort", self.sort if sort is None else sort)]
        pairs += [("page", str(page) if page > 1 else ""), ("all", "1" if self.is_all else "")]
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


def chips(address: Address) -> list[dict[str, str]]:
    """Return the chosen values, without the usual ones, each with the address without it."""
    found = []
    for each in FILTERS:
        values = tuple(dict.fromkeys(address.values(each.name)))
        if each.usual and values == ANY:
            usual = replace(address, chosen={**address.chosen, each.name: ()})
            found.append({"title": each.title, "label": "any", "url": usual.url()})
        elif values != each.usual:
            found += [
                {
                    "title": each.title,
                    "label": each.label(value),
                    "url": address.toggled(each.name, value).url(),
                }
                for value in values
            ]
    return found


def groups(address: Address, facets: Mapping[str, Facet]) -> list[dict[str, Any]]:
    """Return the filters that exclude some skill, or of which a value is chosen.

    Each value has the address that takes it or takes it off.
    """
    found = []
    for each in FILTERS:
        facet = facets.get(each.name)
        if each.kind == "time" and facets:
            facet = Facet(tuple(FacetValue(value, None) for value in each.values))
        chosen = {value.lower() for value in address.values(each.name)}
        choices = facet.choices if facet else ()
        if not facet or (len(choices) < 2 and not chosen & {c.value.lower() for c in choices}):
            continue
        links = [
            {
                "label": each.label(choice.value),
                "n": choice.n,
                "url": address.toggled(each.name, choice.value).url(),
                "is_chosen": choice.value.lower() in chosen,
            }
            for choice in choices
        ]
        found.append(
            {
                "name": each.name,
                "title": each.title,
                "links": links,
                "others": facet.others,
                "is_open": each.is_open or (bool(chosen) and not each.usual),
            }
        )
    return found
