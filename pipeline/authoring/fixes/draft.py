"""Draft of a SKILL.md: its lines, and the meaning that a fix must leave unchanged."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from catalog.model.values import Json
from pipeline.parsing.document import Parsed, parse

_LINE_END = re.compile(r"(\r\n|\r|\n)")
_BOM = "\ufeff"


@dataclass(frozen=True)
class Draft:
    """Content of a SKILL.md, before or after a fix; bytes that are not UTF-8 are surrogates."""

    folder: str  # name of the skill's folder
    lines: tuple[str, ...]
    ends: tuple[str, ...]  # of each line: LF, CRLF, CR or, of the last one, nothing
    has_mark: bool  # whether a byte order mark precedes the first line

    @classmethod
    def of(cls, data: bytes, folder: str) -> "Draft":
        """Return the draft with a file's bytes."""
        text = data.decode("utf-8", "surrogateescape")
        parts = _LINE_END.split(text.removeprefix(_BOM))
        return cls(folder, tuple(parts[::2]), (*parts[1::2], ""), text.startswith(_BOM))

    @cached_property
    def data(self) -> bytes:
        """Bytes of the file."""
        text = "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))
        return f"{_BOM * self.has_mark}{text}".encode("utf-8", "surrogateescape")

    @property
    def text(self) -> str:
        """Text with LF line ends, without a byte order mark."""
        return "\n".join(self.lines)

    @cached_property
    def parsed(self) -> Parsed:
        """Content as rules read it."""
        return parse(self.data)

    @property
    def usual_end(self) -> str:
        """Most frequent line end, CRLF or LF."""
        return "\r\n" if self.ends.count("\r\n") > self.ends.count("\n") else "\n"

    def with_lines(self, first: int, count: int, lines: Sequence[str]) -> "Draft":
        """Return the draft with other lines in place of `count` lines; `first` is from 0."""
        ends = (*self.ends[first : first + count][: len(lines)],)
        ends += (self.usual_end,) * (len(lines) - len(ends))
        if count and ends and first + count == len(self.lines):  # the last line keeps its end
            ends = (*(end or self.usual_end for end in ends[:-1]), self.ends[-1])
        return replace(
            self,
            lines=(*self.lines[:first], *lines, *self.lines[first + count :]),
            ends=(*self.ends[:first], *ends, *self.ends[first + count :]),
        )

    def if_same(self, after: "Draft", fields: Mapping[str, Json] | None = None) -> "Draft | None":
        """Return a draft made from this one; None if more has changed than should.

        `fields` is the expected frontmatter, by default the present one.
        """
        expected = self.parsed.frontmatter if fields is None else fields
        is_same = after.parsed.body == self.parsed.body and after.parsed.frontmatter == expected
        return after if is_same else None
