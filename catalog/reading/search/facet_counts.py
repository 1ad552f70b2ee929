"""Numbers of skills by each value of each filter, given the other filters and the words."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.reading.search.filters import FILTERS, Filter, Filters, Values

MOST_COUNTED = 20_000
"""Skills that are counted by their values; of more, values are offered without numbers."""

COUNTED = frozenset(each.name for each in FILTERS if each.is_counted)


class FacetValue(NamedTuple):
    """Value of a filter, with the number of skills that it would leave."""

    value: str
    n: int | None  # None where too many would have to be counted


class Facet(NamedTuple):
    """Values of a filter, most frequent first."""

    choices: tuple[FacetValue, ...]
    others: int = 0  # values that are not offered


def of(
    db: Database, filters: Filters, match: str = "", only: Container[str] = COUNTED
) -> tuple[dict[str, Facet], int]:
    """Return the values of each filter by its name, and the number of all skills.

    Each number counts skills with the other filters and, if match is an FTS5 expression, with its
    words. With only, the other filters are left out.
    """
    counted = [each for each in FILTERS if each.is_counted and each.name in only]
    together = [each for each in counted if not filters.excludes(each.name)]
    found, total = _facets(db, filters, match, together)
    for each in counted:
        if each not in together:
            others = filters.without(each.name)
            found |= _facets(db, others, match, [each], filters[each.name])[0]
    if total > MOST_COUNTED:
        total = number(db, filters, match)
    return {each.name: found[each.name] for each in counted}, total


def number(db: Database, filters: Filters, match: str = "") -> int:
    """Return the number of skills with the filters and, if there is an expression, its words."""
    query = f"SELECT count(*) {_from(filters, match)}"
    return int(db.execute(query, _values(filters, match)).fetchone()[0])


def _facets(
    db: Database, filters: Filters, match: str, counted: Sequence[Filter], chosen: Values = ()
) -> tuple[dict[str, Facet], int]:
    """Return the values of some filters among the skills with all filters, and their number.

    The number of more than MOST_COUNTED skills is not exact.
    """
    columns = ", ".join(f"{each.value} AS {each.name}" for each in counted)
    numbers = "".join(
        f" UNION ALL {(_OF_LISTS if each.is_list else _OF_VALUES).format(each.name)}"
        for each in counted
    )
    (_, _, wanted), *rows = db.execute(
        f"WITH wanted AS MATERIALIZED (SELECT s.id, {columns} {_from(filters, match)}"
        f" LIMIT {MOST_COUNTED + 1}) SELECT '', '', count(*) FROM wanted{numbers}",
        _values(filters, match),
    )
    counts: dict[str, dict[str, int]] = {each.name: {} for each in counted}
    for name, value, n in rows:
        counts[name][value] = n
    is_exact = wanted <= MOST_COUNTED
    facets = {
        each.name: _facet(
            each, _merged(counts[each.name]), _named(db, each, chosen), is_exact=is_exact
        )
        for each in counted
    }
    return facets, wanted


def _from(filters: Filters, match: str) -> str:
    if not match:
        return f"FROM skills AS s WHERE {filters.condition}"
    return (
        "FROM skill_text_fts AS f CROSS JOIN skills AS s ON s.id = f.rowid"
        f" WHERE skill_text_fts MATCH :match AND {filters.condition}"
    )


def _values(filters: Filters, match: str) -> dict[str, str]:
    return {"match": match} | filters.values


def _merged(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the numbers of values that differ in more than case, by the most frequent form."""
    forms: dict[str, str] = {}
    merged: Counter[str] = Counter()
    for value in sorted(counts, key=lambda each: -counts[each]):
        merged[forms.setdefault(value.lower(), value)] += counts[value]
    return dict(merged)


def _named(db: Database, filter_: Filter, chosen: Values) -> Values:
    """Return the chosen values as skills have them: a root may be named by a part of its path."""
    if filter_.name != "root" or not chosen:
        return chosen
    roots = f"(SELECT path AS root FROM roots) AS s WHERE {filter_.sql(chosen)}"
    paths = db.execute(f"SELECT s.root FROM {roots}", filter_.parameters(chosen)).fetchall()
    return tuple(path for (path,) in paths) or chosen


def _facet(filter_: Filter, counts: Mapping[str, int], chosen: Values, *, is_exact: bool) -> Facet:
    numbers = {value.lower(): n for value, n in counts.items()}
    if filter_.kind == "text":
        ordered = sorted(counts, key=lambda value: (-counts[value], value))
        first = ordered[: filter_.most]
        shown = {value.lower() for value in first}
        first += [value for value in chosen if value.lower() not in shown]
    else:  # its values have an order of their own
        ordered = first = [v for v in filter_.possible if v in counts or v in chosen]
    choices = (FacetValue(v, numbers.get(v.lower(), 0) if is_exact else None) for v in first)
    return Facet(tuple(choices), max(len(ordered) - filter_.most, 0))


_OF_VALUES = "SELECT '{0}', {0}, count(*) FROM wanted WHERE {0} != '' GROUP BY {0}"
_OF_LISTS = """
    SELECT '{0}', value, count(*) FROM (
        SELECT min(each.value) AS value FROM wanted, json_each(wanted.{0}) AS each
        WHERE wanted.{0} != '[]' GROUP BY wanted.id, lower(each.value))
    GROUP BY value
"""
