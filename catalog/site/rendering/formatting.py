"""Text for durations and days, and for the reasons why an index leaves a skill out."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import groupby
from typing import Any

from catalog.database.sql import Row
from catalog.text import humanize


def milliseconds(number: float | None) -> str:
    """Return a duration in words; None means that the work is running or was interrupted."""
    return "unfinished" if number is None else humanize.duration(number / 1000)


def words(name: object) -> str:
    """Return the name of a column or a state as words: `by_http` is by HTTP."""
    return " ".join(_ACRONYMS.get(word, word) for word in str(name).split("_"))


_ACRONYMS = {"http": "HTTP", "mcp": "MCP", "id": "ID", "abp": "ABP", "json": "JSON", "sql": "SQL"}


def by_day(rows: Iterable[Row], column: str) -> list[tuple[str, list[Row]]]:
    """Return rows by the day of a time, in their order."""
    return [(day, list(of_day)) for day, of_day in groupby(rows, lambda row: row[column][:10])]


def weekday(day: str) -> str:
    """Return a day such as 2026-11-20 in words: Friday, 20 November 2026."""
    try:
        at = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{at:%A}, {at.day} {at:%B %Y}"


def is_iso_time(value: object) -> bool:
    """Return whether a value is a date or a time in ISO 8601."""
    return isinstance(value, str) and bool(_TIME.fullmatch(value))


_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d[\d.:+Z-]*)?")


def why_not(state: Mapping[str, Any]) -> tuple[str, str]:
    """Return the reason why an index does not show a skill in full, and the fix; or empty texts."""
    if state["state"]:
        reason = state["reason"] or ""
        return f"{reason[:1].upper()}{reason[1:].removesuffix('.')}." if reason else "", ""
    match state["left_out"]:
        case "hidden":
            return (
                "SKILL.md declares disable-model-invocation, which hides the skill from agents.",
                "Remove disable-model-invocation from SKILL.md if agents may start the skill.",
            )
        case "filtered":
            return (
                "The filter of this index excludes the skill.",
                "Change the levels, tags or names of the index in skilldrop.toml.",
            )
        case "over_budget":
            return (
                f"Skills of higher rank use the budget of {state['budget']:,} {state['unit']}.",
                "Raise the budget, or the priority of the skill.",
            )
    return "", ""
