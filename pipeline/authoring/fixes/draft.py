"""Draft of a SKILL.md: its lines, and the meaning that a fix must leave unchanged."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from catalog.model.values import Json
from pipeline.parsing.document import Parsed, parse

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Source:
    """Text of a file; bytes that are not UTF-8 are surrogates."""

    lines: tuple[str, ...]
    ends: tuple[str, ...]  # of each line: LF, CRLF, CR or, of the last one, nothing
    has_mark: bool  # whether a byte order mark precedes the first line

    @classmethod
    def of(cls, data: bytes) -> "Source":
        """Return the lines of a file's bytes."""
        text = data.decode("utf-8", "surrogateescape")
        has_mark = text.startswith(_BOM)
        found = [match.groups() for match in _LINE.finditer(text.removeprefix(_BOM))]
        if len(found) > 1 and found[-1] == ("", "") and found[-2][1] == "":
            found.pop()  # the pattern matches once more at the end
        return cls(tuple(line for line, _ in found), tuple(end for _, end in found), has_mark)

    @property
    def data(self) -> bytes:
        """Bytes of the file."""
        text = "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))
        return f"{_BOM * self.has_mark}{text}".encode("utf-8", "surrogateescape")

    @property
    def text(self) -> str:
        """Text with LF line ends, without a byte order mark."""
        return "\n".join(self.lines)

    @property
    def usual_end(self) -> str:
        """Most frequent line end, CRLF or LF."""
        return "\r\n" if self.ends.count("\r\n") > self.ends.count("\n") else "\n"

    def with_lines(self, first: int, count: int, lines: Sequence[str]) -> "Source":
        """Return the source with other lines in place of `count` lines; `first` is from 0."""
        ends = (*self.ends[first : first + count][: len(lines)],)
        ends += (self.usual_end,) * (len(lines) - len(ends))
        if count and ends and first + count == len(self.lines):  # the last line keeps its end
            ends = (*(end or self.usual_end for end in ends[:-1]), self.ends[-1])
        return replace(
            self,
            lines=(*self.lines[:first], *lines, *self.lines[first + count :]),
            ends=(*self.ends[:first], *ends, *self.ends[first + count :]),
        )

    def with_text(self, text: str) -> "Source":
        """Return the source with another text of the same number of lines."""
        return replace(self, lines=tuple(text.split("\n")))


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
