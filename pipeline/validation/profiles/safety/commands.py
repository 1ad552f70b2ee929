"""Commands and secrets in a text that harm the machine on which an agent follows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from catalog.model.finding import FindingType
from pipeline.roots.secret_forms import secrets
from pipeline.roots.words import found
from pipeline.validation.profiles.safety.codes import SECRET
from pipeline.validation.profiles.safety.context import is_warned_of
from pipeline.validation.profiles.safety.shapes import SHAPES, Shape

_LONGEST = 500  # characters of a command before and after the word that shows it
_MOST_IN_LINE = 5
_MOST_MATCHES = 50  # of one danger, with those of which the text warns
_MOST_CHARACTERS = 20_000  # of lines that are searched for one danger; an ordinary text has a few


@dataclass(frozen=True, slots=True)
class Danger:
    """Words of one kind of danger in a text."""

    kind: FindingType
    words: str
    offset: int  # in characters
    end: int


def dangers(text: str) -> Iterator[Danger]:
    """Yield the dangers of a text of which it does not warn."""
    words = found(text)
    for shape in SHAPES:
        if words.keys().isdisjoint(shape.words):
            continue
        matches = (
            match
            for start, end in _parts(text, shape, words)
            for match in islice(shape.pattern.finditer(text, start, end), _MOST_IN_LINE)
        )
        for match in islice(matches, _MOST_MATCHES):
            if not is_warned_of(text, match.start(), match.end()):
                yield Danger(shape.kind, " ".join(match[0].split()), *match.span())
    for secret in secrets(text, words):
        yield Danger(SECRET, f"{secret[0][:4]}…", *secret.span())


def _parts(text: str, shape: Shape, words: Mapping[str, Sequence[int]]) -> list[tuple[int, int]]:
    """Return the offsets of the first lines that hold a word of a shape, with continuations."""
    parts: dict[int, int] = {}
    size = 0
    for word in shape.words:
        last = 0
        for at in words.get(word, ()):
            if size > _MOST_CHARACTERS:
                break
            if at >= last:
                start, end = _part(text, at)
                size += 0 if start in parts else end - start
                parts[start], last = end, max(end, at + len(word))
    return sorted(parts.items())


def _part(text: str, at: int) -> tuple[int, int]:
    start = max(text.rfind("\n", max(at - _LONGEST, 0), at) + 1, at - _LONGEST, 0)
    end = at
    while (end := text.find("\n", end, at + _LONGEST)) > 0 and text[end - 1] == "\\":
        end += 1
    return start, min(at + _LONGEST, len(text)) if end < 0 else end
