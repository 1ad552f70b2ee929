"""Durations of work, and the reasons why an index leaves a skill out, in words."""

from collections.abc import Mapping
from typing import Any

from catalog.text import humanize


def milliseconds(number: float | None) -> str:
    """Return the duration of work, which has none while it runs and after it was cut short."""
    return "cut short" if number is None else humanize.duration(number / 1000)


def why_not(state: Mapping[str, Any]) -> tuple[str, str]:
    """Return why an index does not show a skill in full, and what to do; both can be empty."""
    if state["state"]:
        return state["reason"] or "", ""
    match state["left_out"]:
        case "hidden":
            return (
                "It declares disable-model-invocation, so agents are not told of it.",
                "Remove that from SKILL.md if agents shall start it.",
            )
        case "filtered":
            return (
                "The filter of this index does not let it in.",
                "Change levels, tags or names of the index in skilldrop.toml.",
            )
        case "over_budget":
            return (
                f"The skills before it fill the {state['budget_chars']:,} characters.",
                "Raise the budget, or the priority of the skill.",
            )
    return "", ""
