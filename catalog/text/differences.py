"""The difference of two texts line by line, in bounded time; coarser where that is not enough."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["place", "same", "del", "add"]
_Opcode: TypeAlias = tuple[str, int, int, int, int]

STEPS = 4_000_000
"""Comparisons of two lines, at most; about half a second."""
CONTEXT = 3
"""Unchanged lines that are shown around a change."""


@dataclass(slots=True)
class Work:
    """The comparisons that are left for one or several differences."""

    left: int = STEPS

    def take(self, steps: int) -> bool:
        """Spend steps; False where not so many are left."""
        if steps > self.left:
            self.left = 0
            return False
        self.left -= steps
        return True


class Line(NamedTuple):
    """One line of a difference."""

    kind: Kind
    text: str
    number: int  # in the new text; where `del`, in the old one


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of a text."""

    old: Sequence[str]
    new: Sequence[str]
    groups: Sequence[Sequence[_Opcode]]
    is_coarse: bool  # changed lines may be shown as removed and added that only moved

    def lines(self) -> Iterator[Line]:
        """Yield the lines of each change with those around it."""
        for group in self.groups:
            yield Line("place", _place(group), group[0][3] + 1)
            for tag, old_from, old_to, new_from, new_to in group:
                if tag == "equal":
                    yield from (
                        Line("same", self.new[at], at + 1) for at in range(new_from, new_to)
                    )
                    continue
                yield from (Line("del", self.old[at], at + 1) for at in range(old_from, old_to))
                yield from (Line("add", self.new[at], at + 1) for at in range(new_from, new_to))

    def unified(self, old_name: str, new_name: str) -> str:
        """Return it as a unified diff without a line end; empty where the texts are the same."""
        signs = {"same": " ", "del": "-", "add": "+", "place": ""}
        lines = [f"{signs[line.kind]}{line.text}" for line in self.lines()]
        return "\n".join([f"--- {old_name}", f"+++ {new_name}", *lines]) if lines else ""


def difference(old: str, new: str, work: Work | None = None) -> Difference:
    """Compare two texts; where the work does not suffice, what is left counts as changed."""
    before, after = _split(old), _split(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    matcher = _Matcher(
        before[head : len(before) - tail], after[head : len(after) - tail], work or Work()
    )
    opcodes: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
    opcodes += [
        (tag, old_from + head, old_to + head, new_from + head, new_to + head)
        for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes()
    ]
    if tail:
        opcodes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    matcher.opcodes = _joined(opcodes)
    is_same = before == after
    groups = [] if is_same else list(matcher.get_grouped_opcodes(CONTEXT))
    return Difference(before, after, groups, matcher.is_coarse)


class _Matcher(difflib.SequenceMatcher[str]):
    """Python's own, which takes quadratic time, with an end to it."""

    # Its documented and undocumented attributes, which typeshed leaves out.
    a: Sequence[str]
    b2j: dict[str, list[int]]
    opcodes: list[_Opcode] | None

    def __init__(self, old: Sequence[str], new: Sequence[str], work: Work) -> None:
        super().__init__(None, old, new)
        self._work = work
        self.is_coarse = False
        # What looking for matches of a stretch of lines costs, at most.
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
    """Return the lines of a text, each with whatever else than the line feed ends it."""
    return text.removesuffix("\n").split("\n") if text else []


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts begin with in common."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _joined(opcodes: "list[_Opcode]") -> "list[_Opcode]":
    """Return the opcodes with unchanged stretches that follow one another as one."""
    joined: list[_Opcode] = []
    for code in opcodes:
        if joined and code[0] == joined[-1][0] == "equal":
            last = joined.pop()
            code = ("equal", last[1], code[2], last[3], code[4])
        joined.append(code)
    return joined


def _place(group: Sequence[_Opcode]) -> str:
    """Return the line that opens a group, as the unified format of diff has it."""
    _, old_from, _, new_from, _ = group[0]
    _, _, old_to, _, new_to = group[-1]
    return f"@@ -{_range(old_from, old_to)} +{_range(new_from, new_to)} @@"


def _range(first: int, stop: int) -> str:
    count = stop - first
    if count == 1:
        return f"{first + 1}"
    return f"{first + bool(count)},{count}"
