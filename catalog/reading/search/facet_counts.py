"""Numbers of skills by each value of each filter, given the other filters and the words."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from catalog.database.queries import Database, to_json
from catalog.reading.search.filters import BY_NAME, FILTERS, Filter, Filters, Values

MOST_COUNTED = 20_000
"""Skills that are counted by their values; of more, values are offered without numbers."""
MOST_MATCHED = 1000
"""Skills with the words of a search whose values of a chosen filter are offered."""
NEWEST = 500
"""Active skills, the last changed, whose values the front page offers."""


class FacetValue(NamedTuple):
    """Value of a filter, with the number of skills that it would leave."""

    value: str
    n: int | None  # None where too many would have to be counted


class Facet(NamedTuple):
    """Values of a filter, most frequent first."""

    choices: tuple[FacetValue, ...]
    others: int = 0  # values that are not offered


def of(
    db: Database, filters: Filters, match: str = "", results: Sequence[int] | None = None
) -> tuple[dict[str, Facet], int]:
    """Return the values of each filter by its name, and the number of all skills.

    Each number counts skills with the other filters and, if match is an FTS5 expression, with its
    words. With the results of a search, only these are counted, and the values of a chosen filter
    have no numbers.
    """
    counted = [each for each in FILTERS if each.is_counted]
    together = [each for each in counted if not filters.excludes(each.name)]
    source = _source(filters, match)
    if results is not None:
        source = _Source(_RESULTS, {"results": to_json(sorted(results))}, MOST_COUNTED)
    found, total = _facets(db, source, together)
    for each in counted:
        if each not in together:
            others = _source(filters.without(each.name), match)
            found |= _facets(db, others, [each], filters[each.name])[0]
    if total > source.most:
        total = number(db, filters, match)
    return {each.name: found[each.name] for each in counted}, total


def of_newest(db: Database, *names: str) -> dict[str, Facet]:
    """Return the values of filters among the active skills that changed last.

    They have numbers if these are all active skills.
    """
    sql, values, _ = _source(Filters(), "")
    newest = _Source(f"{sql} ORDER BY s.last_changed DESC", values, NEWEST)
    return _facets(db, newest, [BY_NAME[name] for name in names])[0]


def number(db: Database, filters: Filters, match: str = "", most: int = -1) -> int:
    """Return the number of skills with the filters and, if there is an expression, its words.

    With most, a greater number need not be known.
    """
    sql, values, _ = _source(filters, match)
    query = f"SELECT count(*) FROM (SELECT 1 {sql} LIMIT {most})"
    return int(db.execute(query, values).fetchone()[0])


class _Source(NamedTuple):
    """Skills `s` whose values are counted, in SQL with parameters, and how many at most."""

    sql: str
    values: dict[str, str]
    most: int


def _source(filters: Filters, match: str) -> _Source:
    if not match:
        return _Source(f"FROM skills AS s WHERE {filters.condition}", filters.values, MOST_COUNTED)
    matching = f"{_MATCHING} AND {filters.condition}"
    return _Source(matching, {"match": match} | filters.values, MOST_MATCHED)


def _facets(
    db: Database, source: _Source, counted: Sequence[Filter], chosen: Values = ()
) -> tuple[dict[str, Facet], int]:
    """Return the values of some filters among skills, and their number.

    The number of more skills than are counted is not exact.
    """
    columns = ", ".join(f"{each.value} AS {each.name}" for each in counted)
    numbers = "".join(
        f" UNION ALL {(_OF_LISTS if each.is_list else _OF_VALUES).format(each.name)}"
        for each in counted
    )
    (wanted,), *rows = db.execute(
        f"WITH wanted AS MATERIALIZED (SELECT s.id, {columns} {source.sql} LIMIT {source.most + 1})"
        f" SELECT count(*) FROM wanted{numbers}",
        source.values,
    )
    is_exact = "match" not in source.values and wanted <= source.most
    facets = {
        each.name: _facet(
            each, _merged(json.loads(counts)), _named(db, each, chosen), is_exact=is_exact
        )
        for each, (counts,) in zip(counted, rows, strict=True)
    }
    return facets, wanted


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


_MATCHING = """
    FROM skill_text_fts AS f CROSS JOIN skills AS s ON s.id = f.rowid
    WHERE skill_text_fts MATCH :match
"""
_RESULTS = "FROM json_each(:results) AS r CROSS JOIN skills AS s ON s.id = r.value"
# One row for all values of a filter: each row that Python reads costs as much as counting some.
_OF_VALUES = """
    SELECT json_group_object(value, n) FROM (
        SELECT {0} AS value, count(*) AS n FROM wanted WHERE {0} != '' GROUP BY {0})
"""
_OF_LISTS = """
    SELECT json_group_object(value, n) FROM (
        SELECT each.value, count(*) AS n FROM wanted, json_each(wanted.{0}) AS each
        WHERE wanted.{0} != '[]' GROUP BY each.value)
"""  # a skill's list has each value once, whatever its case
