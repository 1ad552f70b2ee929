"""Allocation of a text's budget to ranked skills: equal room for each, in fixed steps."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from catalog.prompt_index.formats.form import Form, Layout, Listed
from catalog.prompt_index.measures import Bounds, Budget, size
from catalog.prompt_index.shortening import READABLE, shorten_description
from catalog.text.visible import one_line

State: TypeAlias = Literal["full", "shortened", "name_only"]


class Step(NamedTuple):
    """Characters of a description that a skill has room for, before its own factor counts."""

    room: float
    featured: float


WHOLE = Step(float("inf"), float("inf"))
ROOMS = (
    *(1024, 900, 800, 710, 640, 560, 512, 450, 400, 355, 320, 285, 256, 225, 200, 180, 160, 140),
    *(128, 112, 100, 90),
    *(80, 64, 50, 40, 32, 25, 20, 16, 12, 10, 8),
)
"""Room of a description, each 80 to 90 % of the one before; with less, only its name.
"""
FEATURED_ROOMS = (160, 80, 40, 0)
"""Room of a featured skill where the others have none."""
STEPS = (WHOLE, *(Step(n, n) for n in ROOMS), *(Step(0, n) for n in FEATURED_ROOMS))
"""Rooms that are tried, the largest first."""

DESCRIBES = 40
"""Room from which descriptions are worth more than a search; with less, the index advises one."""
MOST_ADVICE = 4
"""The advice to search may take one part in so many of the budget."""

_MOST_LEFT_OUT = 9_999_999  # the last line has room for this number, so its digits move no skill


class Described(Listed, Protocol):
    """Skill that competes for room."""

    @property
    def description(self) -> str:
        """The whole description."""

    @property
    def fallback(self) -> str | None:
        """Text to show if the description says nothing."""

    @property
    def is_featured(self) -> bool:
        """Whether it has words even where others have names only."""

    @property
    def factor(self) -> float:
        """Its room, as a multiple of that of others."""


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
class ItemText:
    """Text of one skill in an index."""

    state: State
    text: str
    shown: str = ""  # what the text shows of its description
    reason: str | None = None  # for a state other than full
    is_cut: bool = False  # whether it shows a part of its words for lack of room


Plan: TypeAlias = tuple[str, list[ItemText]]
_NOTHING: Plan = ("", [])


class Allocation(Generic[S]):
    """Allocation of a budget to the skills of one index."""

    def __init__(
        self,
        form: Form,
        queue: Queue[S],
        total: int,
        budget: Budget,
        per_skill: Bounds,
    ) -> None:
        """Take the skills in their order, and their number."""
        self._form, self._queue, self._total = form, queue, total
        self._budget, self._per_skill = budget, per_skill
        self._items: dict[tuple[S, bool, float], ItemText] = {}  # each is tried several times
        self._advises = self._size(form.search_first) <= budget.size / MOST_ADVICE

    def exclude(self) -> Plan:
        """Return whole entries in order, up to the first that does not fit."""
        items = self._whole()
        return self._composed(self._form.entries, items) if items else _NOTHING

    def fit(self) -> Plan:
        """Return all skills with equal room for each description, as much as the budget allows.

        A step gives the room of each; the first step counts with which all skills fit. Of the
        form's layouts, entries come first, then lines. If not even all names fit, names are listed
        as far as they fit, and only featured skills have words.
        """
        if self._form.whole_only:
            return self.exclude()
        names = list(self._fitting(self._form.names, STEPS[-1], self._room_for_names()))
        if not 0 < self._total <= len(names):
            return self._as_many(names)
        skills = self._queue.slice(0, self._total)
        for layout, steps in self._layouts():
            for step in steps[self._first_likely(layout, steps, skills) :]:
                items = [self._item(layout, skill, step) for skill in skills]
                plan = self._composed(layout, items, searches=step.room < DESCRIBES)
                if self._fits(plan, layout):
                    return plan
        return self._as_many(names)

    def _layouts(self) -> Iterator[tuple[Layout, Sequence[Step]]]:
        if self._form.lines:
            yield self._form.entries, [step for step in STEPS if step.room >= READABLE]
        yield self._form.names, STEPS

    def _first_likely(self, layout: Layout, steps: Sequence[Step], skills: Sequence[S]) -> int:
        """Return the first step to try: one before that whose items fit by a quick estimate."""
        wholes = [(self._item(layout, skill, WHOLE), skill) for skill in skills]
        sizes = [(self._size(item.text), len(item.shown), skill) for item, skill in wholes]
        room = self._room(layout)

        def is_likely(step: Step) -> bool:
            return room >= sum(
                size * (1 - max(0.0, length - _room(skill, step)) / max(length, size))
                for size, length, skill in sizes
            )

        return max(0, bisect_left(steps, True, key=is_likely) - 1)

    def _fits(self, plan: Plan, layout: Layout) -> bool:
        text, items = plan
        if self._size(text) > self._budget.size:
            return False
        least, _, unit = self._per_skill
        return layout is self._form.names or not any(
            item.is_cut and size(item.text, unit) < least for item in items
        )

    def _as_many(self, names: list[ItemText]) -> Plan:
        """Return as many skills as fit: by name, or whole where that is no fewer."""
        if len(whole := self._whole()) >= len(names):
            if 0 < len(whole) < self._total:
                last_line = self._form.left_out(self._total - len(whole))
                plan = self._composed(self._form.entries, whole, last_line)
                if self._size(plan[0]) <= self._budget.size:
                    return plan
            return self.exclude()
        items = self._with_featured() or names
        left = self._total - len(items)
        line = self._form.left_out(left) if left else ""
        return self._composed(self._form.names, items, line, searches=True)

    def _with_featured(self) -> list[ItemText] | None:
        """Return items of which only featured skills have words; None where none has room."""
        if not any(skill.is_featured for skill in self._queue.drawn):
            return None
        room = self._room_for_names()
        for step in STEPS[-len(FEATURED_ROOMS) : -1]:
            items = list(self._fitting(self._form.names, step, room))
            if sum(self._size(item.text) for item in items if item.shown) <= room / 2:
                return items
        return None

    def _whole(self) -> list[ItemText]:
        layout = self._form.entries
        return list(self._fitting(layout, WHOLE, self._room(layout)))

    def _room_for_names(self) -> float:
        """Return the room beside the first and the last line, which names never displace."""
        last_line = self._form.left_out(_MOST_LEFT_OUT)
        advice = self._form.search_first if self._advises else ""
        return self._room(self._form.names) - self._size(last_line) - self._size(advice)

    def _fitting(self, layout: Layout, step: Step, room: float) -> Iterator[ItemText]:
        """Yield items in order, up to the first that does not fit."""
        position = 0
        while skill := self._queue.get(position):
            item = self._item(layout, skill, step)
            room -= self._size(item.text) + (self._size(layout.between) if position else 0)
            if room < 0:
                break
            yield item
            position += 1

    def _item(self, layout: Layout, skill: S, step: Step) -> ItemText:
        key = (skill, layout is self._form.entries, _room(skill, step))
        if key not in self._items:
            self._items[key] = self._made(layout, skill, key[-1])
        return self._items[key]

    def _made(self, layout: Layout, skill: S, most_room: float) -> ItemText:
        text, whole = _text(skill), one_line(skill.description)
        _, most, unit = self._per_skill
        for room in (most_room, *ROOMS):
            shown = _shown(text, skill, min(room, most_room))
            item = layout.item(skill, shown)
            if most is None or size(item, unit) <= most:
                break
        if shown == whole:
            return ItemText("full", item, shown)
        if not shown:
            return ItemText("name_only", item, reason="only its name fits")
        return ItemText("shortened", item, shown, _reason(shown, whole, text), shown != text)

    def _composed(
        self, layout: Layout, items: list[ItemText], last_line: str = "", *, searches: bool = False
    ) -> Plan:
        texts = [item.text for item in items]
        advises = searches and self._advises
        return self._form.compose(layout, texts, last_line, searches=advises), items

    def _room(self, layout: Layout) -> float:
        return self._budget.size - self._size(self._form.compose(layout, []))

    def _size(self, text: str) -> float:
        return size(text, self._budget.unit)


def _text(skill: Described) -> str:
    return one_line(skill.fallback or skill.description)


def _room(skill: Described, step: Step) -> float:
    return (step.featured if skill.is_featured else step.room) * skill.factor


def _shown(text: str, skill: Described, room: float) -> str:
    if len(text) <= room:
        return text
    return shorten_description(text, skill.name, int(room)) if room else ""


def _reason(shown: str, whole: str, text: str) -> str:
    if text != whole:
        return "its description says nothing; the first sentence of its instructions is shown"
    return f"{len(shown)} of {len(whole)} characters of its description are shown"
