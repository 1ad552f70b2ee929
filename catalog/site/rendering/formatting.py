"""How the pages put it in words: sizes, durations, and why an index leaves a skill out."""

from collections.abc import Mapping
from typing import Any


def size(number: float | None) -> str:
    """Return bytes as a person says them."""
    if number is None:
        return "?"
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def milliseconds(number: float | None) -> str:
    """Return a duration as a person says it."""
    if number is None:
        return "cut short"
    return f"{number / 1000:.1f} s" if number >= 1000 else f"{number:.1f} ms"


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
