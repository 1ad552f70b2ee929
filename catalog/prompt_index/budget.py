"""Decides how much of each ranked skill goes into a text that must not exceed its budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from catalog.prompt_index.formats import Form, Listed, Names
from catalog.text.sanitize import one_line
from catalog.text.truncate import shorten

State: TypeAlias = Literal["full", "shortened", "name_only"]

HELPINGS = (120, 240, 480)
"""Characters of a description that every skill gets, in order, before one gets more."""

_MOST_LEFT_OUT = 9_999_999  # the last line has room for this number, so that it never moves a skill


class Described(Listed, Protocol):
    """A skill as it competes for room."""

    @property
    def description(self) -> str:
        """The whole description."""


S = TypeVar("S", bound=Described)


class Queue(Generic[S]):
    """Ranked skills, drawn one by one and no further than asked for."""

    def __init__(self, ranked: Iterable[S]) -> None:
        """Take the skills, most important first."""
        self._ranked = iter(ranked)
        self.drawn: list[S] = []

    def at(self, place: int) -> S | None:
        """Return the skill at a place from 0, if there is one."""
        self._draw(place + 1)
        return self.drawn[place] if place < len(self.drawn) else None

    def after(self, place: int, count: int) -> Sequence[S]:
        """Return up to `count` skills from a place on."""
        self._draw(place + count)
        return self.drawn[place : place + count]

    def length(self) -> int:
        """Return how many there are, drawing them all."""
        self.drawn.extend(self._ranked)
        return len(self.drawn)

    def _draw(self, count: int) -> None:
        self.drawn.extend(islice(self._ranked, max(0, count - len(self.drawn))))


@dataclass(frozen=True, slots=True)
class Part:
    """What the text says of one skill."""

    state: State
    text: str
    description: str = ""  # as it is shown
    reason: str | None = None


Plan: TypeAlias = tuple[str, list[Part]]


def exclude(form: Form, queue: Queue[S], total: int, budget: int) -> Plan:
    """Return whole entries in order until one does not fit, so that none overtakes another."""
    return _composed(form, _whole(form, queue, budget), "")


def fit(form: Form, queue: Queue[S], total: int, budget: int) -> Plan:
    """Return as many skills as can at least be named, and as much of each as there is room for.

    First every skill has its name; then, from the top, a first helping of its description, then
    from the top a second, and so on up to the whole; what is left over goes to the next in line.
    How many are named does not depend on how many there are, nor does who is described: one
    skill more at the end takes words from others, but neither a name nor all words of a
    description while its own is shown.
    """
    whole = _whole(form, queue, budget)
    count = _nameable(form, queue, budget)
    last_line = form.left_out(total - count) if count < total else ""
    if form.names is None or len(whole) >= count:
        line = form.left_out(total - len(whole)) if 0 < len(whole) < total else ""
        text, parts = _composed(form, whole, line)
        return (text, parts) if len(text) <= budget else _composed(form, whole, "")
    helped = _Allocation(
        form, form.names, queue.after(0, count), budget - form.frame - len(last_line)
    )
    return _composed(form, helped.served(), last_line)


def _whole(form: Form, queue: Queue[S], budget: int) -> list[Part]:
    room = budget - form.frame + len(form.between)
    parts: list[Part] = []
    while skill := queue.at(len(parts)):
        description = one_line(skill.description)
        text = form.entry(skill, description)
        room -= len(text) + len(form.between)
        if room < 0:
            break
        parts.append(Part("full", text, description))
    return parts


def _nameable(form: Form, queue: Queue[S], budget: int) -> int:
    """Return how many skills can be named where the last line has its place, needed or not."""
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
    while skill := queue.at(count):
        room -= len(names.line(skill)) + len(names.between)
        if room < 0:
            break
        count += 1
    return count


class _Allocation:
    """Descriptions handed out to skills that all have their names in the text already."""

    def __init__(self, form: Form, names: Names, skills: Sequence[S], room: int) -> None:
        self._form, self._names = form, names
        self._skills = skills
        self._lines = [names.line(skill) for skill in skills]
        self._whole = [one_line(skill.description) for skill in skills]
        self._shown: list[str] = []  # descriptions, of the first skills
        self._entries: list[str] = []
        self._room = (
            room
            - len(names.head)
            - len(names.foot)
            - sum(map(len, self._lines))
            - (len(names.between) * (len(skills) - 1))
        )

    def served(self) -> list[Part]:
        """Return what each skill got."""
        for place in range(len(self._skills)):
            if not self._describe(place):
                break
        for helping in (*HELPINGS[1:], max(map(len, self._whole))):
            if not all(self._lengthen(place, helping) for place in range(len(self._shown))):
                break
        return [
            *map(self._described, range(len(self._shown))),
            *map(self._named, range(len(self._shown), len(self._skills))),
        ]

    def _describe(self, place: int) -> bool:
        """Turn the first of the mere names into an entry, if there is room for it."""
        names, form = self._names, self._form
        shown = shorten(self._whole[place], HELPINGS[0])
        entry = form.entry(self._skills[place], shown)
        is_last = place == len(self._skills) - 1
        freed = len(self._lines[place]) + (
            len(names.head) + len(names.foot) if is_last else len(names.between)
        )
        cost = len(entry) + (len(form.between) if place else 0) - freed
        if cost > self._room:
            return False
        self._room -= cost
        self._shown.append(shown)
        self._entries.append(entry)
        return True

    def _lengthen(self, place: int, helping: int) -> bool:
        """Show more of a description; tell whether it is as much as there was to be."""
        limit = helping
        while limit > len(self._shown[place]):
            shown = shorten(self._whole[place], limit)
            entry = self._form.entry(self._skills[place], shown)
            over = len(entry) - len(self._entries[place]) - self._room
            if over <= 0 and len(shown) > len(self._shown[place]):
                self._room += len(self._entries[place]) - len(entry)
                self._shown[place], self._entries[place] = shown, entry
                return limit == helping
            limit = min(limit, len(shown)) - max(over, 1)
        return len(self._shown[place]) >= min(helping, len(self._whole[place]))

    def _described(self, place: int) -> Part:
        shown, whole = self._shown[place], self._whole[place]
        if shown == whole:
            return Part("full", self._entries[place], shown)
        return Part(
            "shortened",
            self._entries[place],
            shown,
            f"{len(shown)} of {len(whole)} characters of its description are shown",
        )

    def _named(self, place: int) -> Part:
        return Part("name_only", self._lines[place], reason="there is room for its name alone")


def _composed(form: Form, parts: list[Part], last_line: str) -> Plan:
    if not parts:
        return "", []
    names = [part.text for part in parts if part.state == "name_only"]
    entries = [part.text for part in parts if part.state != "name_only"]
    return form.compose(entries, names, last_line), parts
