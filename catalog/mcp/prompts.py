"""Prompts: skills that a user may start, with the arguments that they declare."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.types import (
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from catalog.database.queries import Row
from catalog.mcp.access import CatalogAccess, protocol_errors
from catalog.mcp.resources import VERSION_META
from catalog.model.errors import NotInCatalog
from catalog.reading.skills import offered
from catalog.text.suggestions import shown
from catalog.text.visible import one_line

ALL = "arguments"
"""Argument of a skill that names none: everything that the user writes after its name."""


class SkillPrompts:
    """Answers to the methods for prompts."""

    def __init__(self, access: CatalogAccess) -> None:
        self._access = access

    def page(self, params: PaginatedRequestParams | None) -> ListPromptsResult:
        """Return a page of the skills that a user may start."""
        rows, following = self._access.page("prompts", "user", params)
        return ListPromptsResult(
            prompts=[
                Prompt(
                    name=row["skill_id"],
                    title=one_line(row["display_name"] or row["name"]),
                    description=one_line(row["description"]),
                    arguments=_arguments(row) or None,
                )
                for row in rows
            ],
            next_cursor=following,
        )

    def prompt(self, params: GetPromptRequestParams) -> GetPromptResult:
        """Return the instructions of a skill with its arguments filled in."""
        name, values = params.name, params.arguments or {}
        with protocol_errors():
            with self._access.open() as db:
                row = offered.one(db, "user", name)
            package = self._access.package(name)
            known = {argument.name for argument in _arguments(row)}
            if unknown := sorted(values.keys() - known):
                raise NotInCatalog(f"The prompt {shown(name)} has no argument {shown(unknown[0])}.")
            text = self._access.wrapped(package, self._access.read(package))
        return GetPromptResult(
            description=one_line(row["description"]),
            messages=[PromptMessage(role="user", content=TextContent(text=filled(text, values)))],
            _meta={VERSION_META: package.version},
        )


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with `$NAME` replaced by the values; values without a place follow it."""
    used: set[str] = set()

    def value(match: re.Match[str]) -> str:
        name = ALL if match[1] == "ARGUMENTS" else match[1]
        used.add(name)
        return values.get(name, match[0])

    text = re.sub(r"\$(\w+)", value, text)
    return text + "".join(f"\n{name}: {values[name]}" for name in values if name not in used)


def _arguments(row: Row) -> list[PromptArgument]:
    """Return the arguments that a skill declares, or one for all of them if it has a hint."""
    declared = json.loads(row["frontmatter"])
    hint = declared.get("argument-hint")
    hint = one_line(hint) if isinstance(hint, str) and hint else None
    names: Sequence[Any] = declared.get("arguments") or ()
    if isinstance(names, str):
        names = names.split()
    found = [name for name in dict.fromkeys(names) if isinstance(name, str)]
    if not found and hint:
        found = [ALL]
    return [PromptArgument(name=name, description=hint, required=False) for name in found]
