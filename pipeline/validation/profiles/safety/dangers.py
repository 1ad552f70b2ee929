"""Commands in a text that harm the machine on which an agent follows it."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from catalog.model.finding import FindingType
from pipeline.roots.words import Words, searched
from pipeline.validation.profiles.safety import codes
from pipeline.validation.profiles.safety.context import is_warned_of

_LONGEST = 500  # characters of a command before and after the word that shows it
_MOST_IN_LINE = 5
_MOST_MATCHES = 50  # of one danger, with those of which the text warns
_MOST_CHARACTERS = 20_000  # of lines that are searched for one danger; an ordinary text has a few
_PART = re.compile(r"\{([A-Z_]+)\}")
_LINE_END = re.compile(r"\n\s*")

_DATA = tomllib.loads(Path(__file__).with_name("dangers.toml").read_text("utf-8"))


@dataclass(frozen=True, eq=False)
class Shape:
    """Shape of a danger, which is searched for only in lines that contain one of the words."""

    kind: FindingType
    words: tuple[str, ...]  # in lower case
    patterns: tuple[str, ...]  # as written
    lines: int  # that a pattern may span, from the first with a word

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All patterns as one; those that start at a word are tried together, after the others."""
        patterns = [_whole(pattern) for pattern in self.patterns]
        at_words = [pattern for pattern in patterns if pattern.startswith(r"\b")]
        elsewhere = [pattern for pattern in patterns if not pattern.startswith(r"\b")]
        either = [*elsewhere, *([rf"\b(?:{'|'.join(at_words)})"] if at_words else [])]
        return re.compile("|".join(either), re.IGNORECASE | re.M)


def _whole(pattern: str) -> str:
    """Return a pattern on one line and with its parts."""
    return _PART.sub(lambda part: _whole(_DATA["parts"][part[1]]), _LINE_END.sub("", pattern))


@dataclass(frozen=True, slots=True)
class Danger:
    """Words of one kind of danger in a text."""

    kind: FindingType
    words: str
    offset: int  # in characters
    end: int
    is_named: bool = False  # in a warning or a quotation, rather than asked for


def dangers(text: str, words: Words) -> Iterator[Danger]:
    """Yield the dangers of a text in which words were found."""
    for shape in dict.fromkeys(chain.from_iterable(_BY_WORD.get(word, ()) for word in words)):
        matches = (
            match
            for start, end in _parts(text, shape, words)
            for match in islice(shape.pattern.finditer(text, start, end), _MOST_IN_LINE)
        )
        for match in islice(matches, _MOST_MATCHES):
            is_named = is_warned_of(text, *match.span())
            yield Danger(shape.kind, " ".join(match[0].split()), *match.span(), is_named)


def _parts(text: str, shape: Shape, words: Words) -> list[tuple[int, int]]:
    """Return the offsets of the first lines that contain a word of a shape, with continuations."""
    parts: dict[int, int] = {}
    size = 0
    for word in shape.words:
        last = 0
        for at in words.get(word, ()):
            if size > _MOST_CHARACTERS:
                break
            if at >= last:
                start, end = _part(text, at, shape.lines)
                size += 0 if start in parts else end - start
                parts[start], last = end, max(end, at + len(word))
    return sorted(parts.items())


def _part(text: str, at: int, lines: int) -> tuple[int, int]:
    start = max(text.rfind("\n", max(at - _LONGEST, 0), at) + 1, at - _LONGEST, 0)
    end = at
    while (end := text.find("\n", end, at + _LONGEST)) > 0:
        if text[end - 1] != "\\" and (lines := lines - 1) < 1:
            break
        end += 1
    return start, min(at + _LONGEST, len(text)) if end < 0 else end


_KINDS = {kind.code: kind for kind in codes.TYPES}
_SHAPES = tuple(
    Shape(
        _KINDS[rule["kind"]],
        searched(rule["words"]),
        tuple(rule["patterns"]),
        rule.get("lines", 1),
    )
    for rule in _DATA["rules"]
)
_BY_WORD = {
    word: [shape for shape in _SHAPES if word in shape.words]
    for word in chain.from_iterable(shape.words for shape in _SHAPES)
}
