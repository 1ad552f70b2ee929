"""Difference of two texts line by line, in bounded time, and their similarity."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["same", "del", "add"]
_Opcode: TypeAlias = tuple[str, int, int, int, int]

STEPS = 1_000_000
"""Comparisons of two lines, at most; they take about an eighth of a second."""
CONTEXT = 3
"""Unchanged lines around a change."""
MOST_WORDS = 300
"""Most words and signs of a line that is compared word by word."""
ALIKE = 0.4
"""Part of two lines that is the same, from which a comparison word by word says something."""


@dataclass(slots=True)
class ComparisonsLeft:
    """Comparisons left for one or more differences."""

    left: int = STEPS

    def take(self, steps: int) -> bool:
        """Spend steps; return False if too few are left."""
        if steps > self.left:
            self.left = 0
            return False
        self.left -= steps
        return True


class Line(NamedTuple):
    """Line of a difference."""

    kind: Kind
    text: str
    number: int  # in the new text; for `del` in the old one
    other: str | None = None  # line that it replaces, or by which it is replaced


class Gap(NamedTuple):
    """Unchanged lines that a difference leaves out."""

    first: int  # in the new text, from 1
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class TextDifference:
    """Difference of an old and a new text."""

    old: Sequence[str]
    new: Sequence[str]
    groups: Sequence[Sequence[_Opcode]]
    is_coarse: bool  # moved lines may be shown as removed and added

    def whole(self) -> Iterator[Line | Gap]:
        """Yield the lines of each change with those around it, and the gaps between them."""
        at = 0
        for group in self.groups:
            yield from self._gap(at, group[0][3])
            at = group[-1][4]
            for tag, old_from, old_to, new_from, new_to in group:
                if tag == "equal":
                    yield from (Line("same", self.new[i], i + 1) for i in range(new_from, new_to))
                    continue
                old, new = self.old[old_from:old_to], self.new[new_from:new_to]
                is_paired = len(old) == len(new) and not self.is_coarse
                for i, text in enumerate(old):
                    yield Line("del", text, old_from + i + 1, new[i] if is_paired else None)
                for i, text in enumerate(new):
                    yield Line("add", text, new_from + i + 1, old[i] if is_paired else None)
        yield from self._gap(at, len(self.new))

    def _gap(self, first: int, last: int) -> Iterator[Gap]:
        if first < last:
            yield Gap(first + 1, self.new[first:last])

    @property
    def note(self) -> str:
        """Return a sentence if nothing but spaces and line ends differs; else an empty text."""
        if not self.groups:
            return "Only the line end of the last line differs."
        old, new = ("".join("".join(lines).split()) for lines in (self.old, self.new))
        return "Only spaces and line ends differ." if old == new else ""

    def counts(self) -> tuple[int, int]:
        """Return the number of added and of removed lines."""
        changes = [code for group in self.groups for code in group if code[0] != "equal"]
        return (
            sum(code[4] - code[3] for code in changes),
            sum(code[2] - code[1] for code in changes),
        )

    def unified(self, old_name: str, new_name: str) -> str:
        """Return a unified diff without a final line end; empty if the texts are the same."""
        lines: list[str] = []
        for group in self.groups:
            lines.append(_place(group))
            for tag, old_from, old_to, new_from, new_to in group:
                if tag == "equal":
                    lines += [f" {line}" for line in self.new[new_from:new_to]]
                    continue
                lines += [f"-{line}" for line in self.old[old_from:old_to]]
                lines += [f"+{line}" for line in self.new[new_from:new_to]]
        return "\n".join([f"--- {old_name}", f"+++ {new_name}", *lines]) if lines else ""


def difference(old: str, new: str, work: ComparisonsLeft | None = None) -> TextDifference:
    """Compare two texts; without enough work left, the remaining lines count as changed."""
    before, after = _split(old), _split(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    matcher = _Matcher(
        before[head : len(before) - tail],
        after[head : len(after) - tail],
        work or ComparisonsLeft(),
    )
    opcodes: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
    opcodes += [
        (tag, old_from + head, old_to + head, new_from + head, new_to + head)
        for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes()
    ]
    if tail:
        opcodes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    matcher.opcodes = opcodes
    is_same = before == after
    groups = [] if is_same else list(matcher.get_grouped_opcodes(CONTEXT))
    return TextDifference(before, after, groups, matcher.is_coarse)


def words(text: str, other: str, work: ComparisonsLeft) -> list[tuple[str, bool]]:
    """Return the pieces of a line, each with whether another line lacks it.

    A line that has little in common with the other, or is too long, is one unmarked piece.
    """
    mine, others = _WORDS.findall(text), _WORDS.findall(other)
    if max(len(mine), len(others)) > MOST_WORDS:
        return [(text, False)]
    matcher = _Matcher(mine, others, work)
    pieces = [
        ("".join(mine[first:last]), tag != "equal")
        for tag, first, last, _, _ in matcher.get_opcodes()
        if first < last
    ]
    same = sum(len(piece) for piece, is_other in pieces if not is_other and piece.strip())
    if same < ALIKE * max(len(text), len(other)):
        return [(text, False)]
    return pieces


_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class _Matcher(difflib.SequenceMatcher[str]):
    """Matcher of difflib with a limit, as difflib takes quadratic time."""

    # Attributes of the base class, documented or not, that typeshed omits.
    a: Sequence[str]
    b2j: dict[str, list[int]]
    opcodes: list[_Opcode] | None

    def __init__(self, old: Sequence[str], new: Sequence[str], work: ComparisonsLeft) -> None:
        super().__init__(None, old, new)
        self._work = work
        self.is_coarse = False
        # Highest cost of matching the lines up to each index.
        self._costs = list(accumulate((1 + len(self.b2j.get(line, ())) for line in old), initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        ahi = len(self.a) if ahi is None else ahi
        if self._work.take(self._costs[ahi] - self._costs[alo]):
            return super().find_longest_match(alo, ahi, blo, bhi)
        self.is_coarse = True
        return difflib.Match(alo, blo, 0)


def _split(text: str) -> list[str]:
    """Return the lines of a text, without line feeds but with carriage returns."""
    return text.removesuffix("\n").split("\n") if text else []


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of lines that two texts share at their start."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _place(group: Sequence[_Opcode]) -> str:
    """Return the header of a group in the unified format of diff."""
    _, old_from, _, new_from, _ = group[0]
    _, _, old_to, _, new_to = group[-1]
    return f"@@ -{_range(old_from, old_to)} +{_range(new_from, new_to)} @@"


def _range(first: int, stop: int) -> str:
    count = stop - first
    if count == 1:
        return f"{first + 1}"
    return f"{first + bool(count)},{count}"


# Similarity: the pieces that two texts share, as a part of all their pieces (Jaccard).
#
# A text, without case, spaces, punctuation and markup, is cut into pieces of about four words. A
# cut depends only on the bytes beside it, so an edit changes one piece and leaves the others, in
# every language: Chinese needs no words. Pieces of an even length are left out: half of the work.

SIMILAR = 0.7
"""Similarity from which texts are called similar: one word in 25 is changed, or a section added.

Of 136,000 pairs of published skills, hardly any two lie between 0.5 and 0.75.
"""
FEWEST = 8
"""Pieces of the shortest text that is compared, about 65 words; shorter ones are never similar."""

_SHORT = 8  # bytes; shorter pieces are in every text
_CUTS = b"dmp\x83\x91\xa1\xb3"  # letters, and bytes that one in eight Chinese characters has
_CUT = ord("\n")
_PIECES = bytes(_CUT if byte in _CUTS + _CUTS.upper() else byte for byte in range(256)).lower()
_DROPPED = bytes(byte for byte in range(128) if not chr(byte).isalnum())


def pieces_of(text: str) -> frozenset[bytes]:
    """Return the pieces of a text by which it is compared; none if it is too short."""
    pieces = text.encode(errors="replace").translate(_PIECES, _DROPPED).split(b"\n")
    found = frozenset(piece for piece in pieces if len(piece) & 1 and len(piece) > _SHORT)
    return found if len(found) >= FEWEST else frozenset()


def similarity(one: frozenset[bytes], other: frozenset[bytes]) -> float:
    """Return the similarity of two texts by their pieces, from 0 to 1; 0 where there are none."""
    return len(one & other) / len(one | other) if one and other else 0.0
