"""Draft of a SKILL.md: its bytes, and the meaning that a fix must leave unchanged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from catalog.model.values import Json
from pipeline.authoring.fixes.source import Source
from pipeline.parsing.document import Parsed, parse


@dataclass(frozen=True)
class Draft:
    """Content of a SKILL.md, before or after a fix."""

    data: bytes
    folder: str  # name of the skill's folder

    @cached_property
    def source(self) -> Source:
        """Lines of the file."""
        return Source.of(self.data)

    @cached_property
    def parsed(self) -> Parsed:
        """Content as rules read it."""
        return parse(self.data)

    def edited(
        self,
        source: Source,
        fields: Mapping[str, Json] | None = None,
        *,
        same_body: bool = True,
    ) -> "Draft | None":
        """Return the draft with another source; None if that changes more than it should.

        `fields` is the expected frontmatter, by default the present one. With `same_body` False,
        the characters of fields and body may change, as when they are decoded again.
        """
        draft = Draft(source.data, self.folder)
        if not same_body:
            return draft
        expected = self.parsed.frontmatter if fields is None else fields
        is_same = draft.parsed.body == self.parsed.body and draft.parsed.frontmatter == expected
        return draft if is_same else None
