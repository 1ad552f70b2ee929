"""A skill as the input of rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias

from catalog.model.finding import Finding, FindingType
from catalog.model.values import Json
from pipeline.parsing.document import Parsed
from pipeline.roots.text_files import is_script
from pipeline.validation.fields.frontmatter import Declaration, Declared
from pipeline.validation.mentions import mentioned


class File(Protocol):
    """A file of a skill, with the properties that rules use."""

    @property
    def path(self) -> str:
        """The path relative to the skill folder, with "/" between the parts."""

    @property
    def mode(self) -> int:
        """0o755 if its owner may execute it, else 0o644."""

    @property
    def is_text(self) -> bool:
        """Whether it is UTF-8 without NUL; known only for files that `may_be_native`."""

    @property
    def size(self) -> int:
        """The bytes."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text that an agent reads or runs: the body, a document or a script."""

    path: str
    content: str
    first_line: int = 1  # in its file
    is_script: bool = False
    is_body: bool = False

    @property
    def name(self) -> str:
        """The subject of a sentence about it."""
        return "The body" if self.is_body else "The file"

    def finding(
        self, kind: FindingType, message: str | None = None, *, offset: int, fix: str | None = None
    ) -> Finding:
        """Return a finding at an offset, in characters from the start of the text."""
        line = self.first_line + self.content.count("\n", 0, offset)
        return kind.at(message, fix=fix, path=self.path, line=line)


@dataclass(frozen=True)
class Skill:
    """Input of a rule: everything known about one skill."""

    folder: str  # its name
    plugin: str | None
    document: str  # SKILL.md, or the variant that was found
    parsed: Parsed
    declaration: Declaration
    files: Sequence[File]  # sorted by path
    is_whole: bool = True  # False if some files could not be read and are missing from `files`
    other_texts: Mapping[str, str] = field(default_factory=dict)  # of files, by path
    in_other_skill: Callable[[str], bool] = lambda _: False
    """Whether another skill has the file at a path relative to this folder, so that agents find it.
    """

    @cached_property
    def body(self) -> Text:
        """The text below the frontmatter."""
        return Text(self.document, self.parsed.body, self.parsed.body_line, is_body=True)

    @cached_property
    def led_to(self) -> frozenset[str]:
        """The files that the body mentions, or a file that it leads to; folders count for all."""
        paths = [file.path for file in self.files if file.path != self.document]
        return mentioned(self.parsed.body, self.other_texts, paths)

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """The body, the documents that it leads to, and all scripts."""
        others = self.other_texts.items()
        return (
            self.body,
            *(
                Text(path, content, is_script=is_script(path))
                for path, content in others
                if is_script(path) or path in self.led_to
            ),
        )

    @property
    def declared(self) -> Declared:
        """The common fields, which are read from every skill."""
        return self.declaration.common

    @property
    def frontmatter(self) -> Mapping[str, Json]:
        """The fields as written; empty if the frontmatter is missing or unreadable."""
        return self.parsed.frontmatter or {}

    def finding(
        self, kind: FindingType, message: str | None = None, *, field: str, fix: str | None = None
    ) -> Finding:
        """Return a finding about a field, at its position or at line 1 of the document.

        A field without a position takes that of the field that contains it.
        """
        position, outer = self.parsed.positions.get(field), field
        while position is None and "." in outer:
            outer = outer.rpartition(".")[0]
            position = self.parsed.positions.get(outer)
        return kind.at(
            message,
            fix=fix,
            field=field,
            path=self.document,
            line=position.line if position else 1,
            column=position.column if position else None,
        )

    def finding_in_body(
        self, kind: FindingType, message: str | None = None, *, offset: int, fix: str | None = None
    ) -> Finding:
        """Return a finding about the body at an offset, in characters from the body's start."""
        return self.body.finding(kind, message, offset=offset, fix=fix)


Rule: TypeAlias = Callable[[Skill], Iterable[Finding]]
