"""Commands in a text that harm the machine on which an agent follows it."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from catalog.model.finding import FindingType
from pipeline.roots.words import Words, searched
from pipeline.validation.profiles.safety import codes
from pipeline.validation.profiles.safety.context import (
    is_only_named,
    is_quoted,
    is_warned_of,
    with_whole_commands,
)

_LONGEST = 500  # characters of a command before and after the word that shows it
_AROUND = 150  # characters beside a command that tell how bad it is
_MOST_MATCHES = 200  # by one rule, with those of which the text warns
_MOST_CHARACTERS = 20_000  # that are searched by one rule; an ordinary text has a few
_PART = re.compile(r"\{([A-Z_]+)\}")
_LINE_END = re.compile(r"\n\s*")
_LETTER = re.compile(r"(\\.|\(\?P)|[^\W\d_]")  # of a pattern, or what stands for no letter
_LOOKALIKE = codes.DANGERS["package-lookalike"]
_ANYWHERE = (codes.HIDDEN_FROM_USER, codes.INSTRUCTION_OVERRIDE)  # words for a reader
_NAME = re.compile(r"(?<![^\s\"'`])[a-z][a-z\d-]{3,40}(?:\.(?:js|io|py))?(?![^\s\"'`\[=<>~@,;])")


@dataclass(frozen=True, eq=False)
class Shape:
    """Shape of a danger, which is searched for only in lines that contain one of the words."""

    kind: FindingType
    words: tuple[str, ...]  # in lower case
    also: tuple[str, ...]  # of which one must be in the same lines; empty if none must
    patterns: tuple[str, ...]  # as written
    tells_case: bool  # whether one is for the text as it is written
    lines: int  # that a pattern may span, from or to the one with a word
    start: bool  # whether each match starts with one of the words, so that only they are tried
    worse: FindingType  # the kind if the words around a match contain …
    when: str  # … a match of this pattern; empty if there is no worse kind

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All patterns as one; those that start at a word are tried together, after the others.

        It is for a text in lower case, unless it tells the cases apart, which takes longer.
        """
        patterns = [_whole(pattern) for pattern in self.patterns]
        at_words = [pattern for pattern in patterns if pattern.startswith(r"\b")]
        elsewhere = [pattern for pattern in patterns if not pattern.startswith(r"\b")]
        either = [*elsewhere, *([rf"\b(?:{'|'.join(at_words)})"] if at_words else [])]
        whole = "|".join(either)
        if self.tells_case:
            return re.compile(whole, re.IGNORECASE | re.M)
        return re.compile(_LETTER.sub(lambda part: part[1] or part[0].lower(), whole), re.M)

    def kind_of(self, text: str, start: int, end: int) -> FindingType:
        """Return the kind of a danger, by the words around it."""
        if not self.when:
            return self.kind
        around = max(start - _AROUND, 0), end + _AROUND
        is_worse = re.compile(_whole(self.when), re.I).search(text, *around)
        return self.worse if is_worse else self.kind


def _whole(pattern: str) -> str:
    """Return a pattern on one line and with its parts."""
    return _PART.sub(lambda part: _whole(codes.DATA["parts"][part[1]]), _LINE_END.sub("", pattern))


@dataclass(frozen=True, slots=True)
class Danger:
    """Words of one kind of danger in a text."""

    kind: FindingType
    words: str
    offset: int  # in characters
    end: int
    is_named: bool = False  # in a warning or a quotation, rather than asked for


def dangers(text: str, words: Words, quotes: str = "") -> Iterator[Danger]:
    """Yield the dangers of a text in which words were found, one of a kind in a line.

    `quotes` are the marks around the texts of a script, of which most only name a command.
    """
    found_by: dict[tuple[str, int, bool], Shape] = {}
    offsets: defaultdict[Shape, list[int]] = defaultdict(list)
    for word, at_word in words.items():
        for shape in _BY_WORD.get(word, ()):
            offsets[shape] += at_word
    written = text
    if offsets:
        text = with_whole_commands(text.replace("İ", "i"))  # in lower case it has two characters
    for shape, at in offsets.items():
        search = _at_words if shape.start else _near_words
        for number, span in enumerate(search(text, shape, sorted(at))):
            if not span or number == _MOST_MATCHES:
                if found_by.setdefault((codes.JUDGED_IN_PART.code, 0, False), shape) is shape:
                    yield Danger(codes.JUDGED_IN_PART, "", 0, 0)
                break
            start, end = span
            kind, found = shape.kind_of(text, start, end), text[start:end]
            if kind == _LOOKALIKE and not any(
                map(_is_slip, _NAME.findall(found.lower().replace("_", "-")))
            ):
                continue
            if quotes and kind not in _ANYWHERE and is_only_named(written, start, end, quotes):
                continue
            is_quotation = kind == codes.INSTRUCTION_OVERRIDE and is_quoted(text, start, end)
            is_named = is_quotation or is_warned_of(text, start, end)
            line = text.rfind("\n", 0, start)
            if found_by.setdefault((kind.code, line, is_named), shape) is shape:
                yield Danger(kind, " ".join(found.split()), start, end, is_named)


def _is_slip(name: str) -> bool:
    """Return whether a name is one letter, or two swapped, away from a well-known package."""
    return name not in _PACKAGES and not _NEAR.isdisjoint(_near(name))


def _near(name: str) -> set[str]:
    """Return a name, and all that it becomes without a letter; names one letter apart share one."""
    return {name[:at] + name[at + 1 :] for at in range(len(name) + 1)}


def _at_words(text: str, shape: Shape, offsets: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each match that starts with a word of a shape."""
    end = 0
    for at in offsets:
        if at >= end and (match := shape.pattern.match(text, at, at + _LONGEST)):
            end = match.end()
            yield match.span()


def _near_words(text: str, shape: Shape, offsets: list[int]) -> Iterator[tuple[int, int] | None]:
    """Yield the start and end of each match in lines with a word of a shape; None if too long."""
    size = 0
    for start, end in _parts(text, shape.lines, offsets):
        before = max(start - 1, 0)  # a pattern looks at this character, too
        lines = text[before:end]
        lower = lines.lower()
        if not shape.also or any(map(lower.__contains__, shape.also)):
            if size > _MOST_CHARACTERS:
                yield None
                return
            size += end - start
            searched_lines = lines if shape.tells_case else lower
            for match in shape.pattern.finditer(searched_lines, start - before):
                yield match.start() + before, match.end() + before


def _parts(text: str, lines: int, offsets: list[int]) -> list[tuple[int, int]]:
    """Return the offsets of the lines with words, and of those around that a pattern may span."""
    parts: list[tuple[int, int]] = []
    last = -1
    for at in offsets:
        if at < last and lines == 1:
            continue
        first, most = max(at - _LONGEST, 0), at + _LONGEST
        start, end = text.rfind("\n", first, at), text.find("\n", at, most)
        for _ in range(1, lines):
            start = text.rfind("\n", first, start) if start > 0 else -1
            end = text.find("\n", end + 1, most) if end >= 0 else -1
        start = start + 1 if start >= 0 else first
        if start <= last:
            start, _ = parts.pop()
        last = end if end >= 0 else min(most, len(text))
        parts.append((start, last))
    return parts


_SHAPES = tuple(
    Shape(
        kind=codes.DANGERS[rule["kind"]],
        words=searched(rule["words"]),
        also=tuple(rule.get("also", ())),
        patterns=tuple(rule["patterns"]),
        tells_case=rule.get("start", False) or "(?-i:" in "".join(rule["patterns"]),
        lines=rule.get("lines", 1),
        start=rule.get("start", False),
        worse=codes.DANGERS[rule.get("worse", rule["kind"])],
        when=rule.get("when", ""),
    )
    for rule in codes.DATA["rules"]
)
_BY_WORD: defaultdict[str, list[Shape]] = defaultdict(list)
for _shape in _SHAPES:
    for _word in _shape.words:
        _BY_WORD[_word].append(_shape)
_PACKAGES = frozenset(chain.from_iterable(codes.DATA["packages"].values()))
_NEAR = frozenset(chain.from_iterable(map(_near, codes.DATA["packages"]["known"])))
