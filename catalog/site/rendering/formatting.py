"""Text for durations, and for the reasons why an index leaves a skill out."""

from collections.abc import Mapping
from typing import Any

from catalog.text import humanize


def milliseconds(number: float | None) -> str:
    """Return a duration in words; None means that the work is running or was interrupted."""
    return "unfinished" if number is None else humanize.duration(number / 1000)


def why_not(state: Mapping[str, Any]) -> tuple[str, str]:
    """Return the reason why an index does not show a skill in full, and the fix; or empty texts."""
    if state["state"]:
        return state["reason"] or "", ""
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
