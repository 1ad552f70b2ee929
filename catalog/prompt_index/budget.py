"""Allocation of a text's budget to ranked skills."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from catalog.prompt_index.formats import Form, Listed, Names
from catalog.text.sanitize import one_line
from catalog.text.truncate import shorten

State: TypeAlias = Literal["full", "shortened", "name_only"]

DESCRIPTION_STEPS = (120, 240, 480)
"""Characters of a description that every skill gets, in order, before one gets more."""

_MOST_LEFT_OUT = 9_999_999  # the last line has room for this number, so its digits move no skill


class Described(Listed, Protocol):
    """Skill that competes for room."""

    @property
    def description(self) -> str:
        """The whole description."""


S = TypeVar("S", bound=Described)


class Queue(Generic[S]):
    """Ranked skills, drawn one by one and only as far as needed."""

    def __init__(self, ranked: Iterable[S]) -> None:
        """Take the skills, most important first."""
        self._ranked = iter(ranked)
        self.drawn: list[S] = []

    def get(self, position: int) -> S | None:
        """Return the skill at a position from 0, or None past the end."""
        self._draw(position + 1)
        return self.drawn[position] if position < len(self.drawn) else None

    def slice(self, start: int, count: int) -> Sequence[S]:
        """Return up to `count` skills from a position on."""
        self._draw(start + count)
        return self.drawn[start : start + count]

    def length(self) -> int:
        """Draw all skills and return their number."""
        self.drawn.extend(self._ranked)
        return len(self.drawn)

    def _draw(self, count: int) -> None:
        self.drawn.extend(islice(self._ranked, max(0, count - len(self.drawn))))


@dataclass(frozen=True, slots=True)
class EntryText:
    """Text of one skill in an index."""

    state: State
    text: str
    description: str = ""  # as it is shown
    reason: str | None = None  # for a state other than full


Plan: TypeAlias = tuple[str, list[EntryText]]


def exclude(form: Form, queue: Queue[S], total: int, budget: int) -> Plan:
    """Return whole entries in order, up to the first that does not fit."""
    return _composed(form, _whole(form, queue, budget), "")


def fit(form: Form, queue: Queue[S], total: int, budget: int) -> Plan:
    """Return as many skills as can be named, and as much of each description as fits.

    Every skill gets its name first. Then, from the top, each gets the first step of its
    description, then each the second, and so on up to the whole; the next in line gets the rest.
    Neither the number of named nor of described skills depends on the total: one more skill at
    the end takes words from others, but no name, and no whole description while its own is shown.
    """
    whole = _whole(form, queue, budget)
    count = _count_nameable(form, queue, budget)
    last_line = form.left_out(total - count) if count < total else ""
    if form.names is None or len(whole) >= count:
        line = form.left_out(total - len(whole)) if 0 < len(whole) < total else ""
        text, entries = _composed(form, whole, line)
        return (text, entries) if len(text) <= budget else _composed(form, whole, "")
    allocation = _Allocation(
        form, form.names, queue.slice(0, count), budget - form.frame - len(last_line)
    )
    return _composed(form, allocation.entries(), last_line)


def _whole(form: Form, queue: Queue[S], budget: int) -> list[EntryText]:
    room = budget - form.frame + len(form.between)
    entries: list[EntryText] = []
    while skill := queue.get(len(entries)):
        description = one_line(skill.description)
        text = form.entry(skill, description)
        room -= len(text) + len(form.between)
        if room < 0:
            break
        entries.append(EntryText("full", text, description))
    return entries


def _count_nameable(form: Form, queue: Queue[S], budget: int) -> int:
    """Return how many names fit beside the last line, which has its room even if not needed."""
    if form.names is None:
        return 0
    names = form.names
    room = (
        budget
        - form.frame
        - len(form.left_out(_MOST_LEFT_OUT))
        - len(names.head)
        - len(names.foot)
        + len(names.between)
    )
    count = 0
    while skill := queue.get(count):
        room -= len(names.line(skill)) + len(names.between)
        if room < 0:
            break
        count += 1
    return count


class _Allocation:
    """Allocation of the room left by names to descriptions."""

    def __init__(self, form: Form, names: Names, skills: Sequence[S], room: int) -> None:
        self._form, self._names = form, names
        self._skills = skills
        self._lines = [names.line(skill) for skill in skills]
        self._whole = [one_line(skill.description) for skill in skills]
        self._shown: list[str] = []  # descriptions of the first skills, as they are shown
        self._entries: list[str] = []  # of the same skills
        self._room = (
            room
            - len(names.head)
            - len(names.foot)
            - sum(map(len, self._lines))
            - (len(names.between) * (len(skills) - 1))
        )

    def entries(self) -> list[EntryText]:
        """Return the text of each skill."""
        for position in range(len(self._skills)):
            if not self._describe(position):
                break
        for limit in (*DESCRIPTION_STEPS[1:], max(map(len, self._whole))):
            if not all(self._lengthen(position, limit) for position in range(len(self._shown))):
                break
        return [
            *map(self._described, range(len(self._shown))),
            *map(self._named, range(len(self._shown), len(self._skills))),
        ]

    def _describe(self, position: int) -> bool:
        """Turn the first of the names into an entry; return False where it does not fit."""
        names, form = self._names, self._form
        shown = shorten(self._whole[position], DESCRIPTION_STEPS[0])
        entry = form.entry(self._skills[position], shown)
        is_last = position == len(self._skills) - 1
        freed = len(self._lines[position]) + (
            len(names.head) + len(names.foot) if is_last else len(names.between)
        )
        cost = len(entry) + (len(form.between) if position else 0) - freed
        if cost > self._room:
            return False
        self._room -= cost
        self._shown.append(shown)
        self._entries.append(entry)
        return True

    def _lengthen(self, position: int, step: int) -> bool:
        """Show more of a description; return whether all of this step is shown."""
        limit = step
        while limit > len(self._shown[position]):
            shown = shorten(self._whole[position], limit)
            entry = self._form.entry(self._skills[position], shown)
            over = len(entry) - len(self._entries[position]) - self._room
            if over <= 0 and len(shown) > len(self._shown[position]):
                self._room += len(self._entries[position]) - len(entry)
                self._shown[position], self._entries[position] = shown, entry
                return limit == step
            limit = min(limit, len(shown)) - max(over, 1)
        return len(self._shown[position]) >= min(step, len(self._whole[position]))

    def _described(self, position: int) -> EntryText:
        shown, whole = self._shown[position], self._whole[position]
        if shown == whole:
            return EntryText("full", self._entries[position], shown)
        return EntryText(
            "shortened",
            self._entries[position],
            shown,
            f"{len(shown)} of {len(whole)} characters of its description are shown",
        )

    def _named(self, position: int) -> EntryText:
        return EntryText("name_only", self._lines[position], reason="only its name fits")


def _composed(form: Form, entries: list[EntryText], last_line: str) -> Plan:
    if not entries:
        return "", []
    names = [entry.text for entry in entries if entry.state == "name_only"]
    described = [entry.text for entry in entries if entry.state != "name_only"]
    return form.compose(described, names, last_line), entries
