"""Text of a prompt index, and the report of its cuts, from ranked skills and a budget."""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from catalog.model.values import Json
from catalog.prompt_index import locations
from catalog.prompt_index.formats.form import (
    Candidate,
    Form,
    FormatOptions,
    Layout,
    how_to_search,
    search_first,
)
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.locations import NOWHERE, Bases
from catalog.prompt_index.shortening import READABLE, shorten_description
from catalog.prompt_index.spec import IndexSpec
from catalog.text import tokens
from catalog.text.visible import one_line, printable

NAMED_LEFT_OUT = 100
"""Skills that did not fit, whose names the report of an index lists, at most."""

State: TypeAlias = Literal["full", "shortened", "name_only"]


class EntryFailed(Exception):
    """The entry of a skill cannot be made, by an internal error; its text is a sentence."""

    def __init__(self, skill: int, error: Exception) -> None:
        super().__init__(f"Internal error: {type(error).__name__}: {printable(str(error), 300)}.")
        self.skill = skill


class IndexEntry(NamedTuple):
    """Skill in an index, and how much of it is shown."""

    skill: Candidate
    state: State
    text: str
    shown: str = ""  # what the text shows of its description
    reason: str | None = None  # for a state other than full


@dataclass(frozen=True, slots=True)
class PromptIndex:
    """Finished text with its report; the text is empty if there are no skills."""

    text: str
    entries: tuple[IndexEntry, ...]
    left_out: int = 0  # for lack of room
    left_out_names: tuple[str, ...] = ()  # the first of them, most important first
    failed: Mapping[int, EntryFailed] = field(default_factory=dict)  # by row id of the skill

    @property
    def sha256(self) -> str:
        """SHA-256 of the text in UTF-8, 64 hex digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def count(self, state: State) -> int:
        """Return the number of skills in that state."""
        return sum(entry.state == state for entry in self.entries)


def build(
    spec: IndexSpec, ranked: Iterable[Candidate], total: int | None = None, bases: Bases = NOWHERE
) -> PromptIndex:
    """Return the index of candidates, which are in their order.

    total is their number; `ranked` is consumed only as far as the budget reaches. bases are
    the folders of published skills, if there are any. Raises EntryFailed.
    """
    if total is None:
        ranked = list(ranked)
        total = len(ranked)
    allocation = _Allocation(spec, ranked, total, form_of(spec, bases))
    text, entries = allocation.exclude() if spec.overflow == "exclude" else allocation.fit()
    left_out = total - len(entries)
    named = islice(allocation.skills(), len(entries), len(entries) + min(left_out, NAMED_LEFT_OUT))
    return PromptIndex(text, tuple(entries), left_out, tuple(skill.name for skill in named))


def report(spec: IndexSpec, index: PromptIndex) -> dict[str, Json]:
    """Return the report of an index: its size, counts and cuts."""
    return {
        "name": spec.name,
        "format": spec.format,
        "sha256": index.sha256,
        "chars": len(index.text),
        "estimated_tokens": tokens.estimate(index.text),
        f"budget_{spec.budget.unit}": spec.budget.size,
        "full": index.count("full"),
        "shortened": index.count("shortened"),
        "name_only": index.count("name_only"),
        "left_out": index.left_out,
        "left_out_names": index.left_out_names,
    }


def form_of(spec: IndexSpec, bases: Bases = NOWHERE) -> Form:
    """Return the form of an index, with the text around its entries."""
    how = how_to_search(spec.language, locations.search_on_site(spec.location_base))
    options = FormatOptions(
        spec.language,
        locations.Locations(bases, spec).pattern,
        search_first(spec.language, how),
    )
    return FORMATS[spec.format].form(options)


# Allocation of the budget: equal room for each skill, in fixed steps


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
"""Room of a description, each 80 to 90 % of the one before; with less, only its name."""
FEATURED_ROOMS = (160, 80, 40, 0)
"""Room of a featured skill where the others have none."""
STEPS = (WHOLE, *(Step(n, n) for n in ROOMS), *(Step(0, n) for n in FEATURED_ROOMS))
"""Rooms that are tried, the largest first."""

DESCRIBES = 40
"""Room from which descriptions are worth more than a search; with less, the index advises one."""
NAMES_FIRST = 4
"""The advice to search takes its room from names only beyond so many times its own size."""

_MOST_LEFT_OUT = 9_999_999  # the last line has room for this number, so its digits move no skill

Plan: TypeAlias = tuple[str, list[IndexEntry]]


class _Allocation:
    """Allocation of a budget to the skills of one index."""

    def __init__(
        self, spec: IndexSpec, ranked: Iterable[Candidate], total: int, form: Form
    ) -> None:
        self._budget, self._size = spec.budget.size, spec.budget.size_of
        self._ranked, self._total, self._form = iter(ranked), total, form
        self._drawn: list[Candidate] = []
        self._advises = self._size(form.search_first) * (NAMES_FIRST + 1) <= self._budget

    def skills(self) -> Iterator[Candidate]:
        """Yield all skills in their order, each drawn when it is first needed."""
        yield from self._drawn
        for skill in self._ranked:
            self._drawn.append(skill)
            yield skill

    def exclude(self) -> Plan:
        """Return whole entries in order, up to the first that does not fit."""
        entries = self._whole()
        return self._composed(self._form.entries, entries) if entries else ("", [])

    def fit(self) -> Plan:
        """Return all skills with equal room for each description, as much as the budget allows.

        A step gives the room of each; the first step counts with which all skills fit. Of the
        form's layouts, entries come first, then lines. If not even all names fit, names are listed
        as far as they fit, and only featured skills have words.
        """
        if self._form.whole_only:
            return self.exclude()
        names = self._fitting(self._form.names, STEPS[-1], self._room_for_names())
        if not 0 < self._total <= len(names):
            return self._as_many(names)
        skills = self._drawn[: self._total]
        for layout, steps in self._layouts():
            for step in steps[self._first_likely(layout, steps, skills) :]:
                entries = [_entry(layout, skill, step) for skill in skills]
                plan = self._composed(layout, entries, searches=step.room < DESCRIBES)
                if self._size(plan[0]) <= self._budget:
                    return plan
        return self._as_many(names)

    def _layouts(self) -> Iterator[tuple[Layout, Sequence[Step]]]:
        if self._form.lines:
            yield self._form.entries, [step for step in STEPS if step.room >= READABLE]
        yield self._form.names, STEPS

    def _first_likely(
        self, layout: Layout, steps: Sequence[Step], skills: Sequence[Candidate]
    ) -> int:
        """Return the step before the first one whose entries fit, by a quick estimate."""
        wholes = [_entry(layout, skill, WHOLE) for skill in skills]
        sizes = [(self._size(entry.text), len(entry.shown), entry.skill) for entry in wholes]
        room = self._room(layout)

        def is_likely(step: Step) -> bool:
            return room >= sum(
                size * (1 - max(0.0, length - _room(skill, step)) / max(length, size))
                for size, length, skill in sizes
            )

        return max(0, bisect_left(steps, True, key=is_likely) - 1)

    def _as_many(self, names: list[IndexEntry]) -> Plan:
        """Return as many skills as fit: by name, or whole where that is no fewer."""
        if len(whole := self._whole()) >= len(names):
            if 0 < len(whole) < self._total:
                last_line = self._form.left_out(self._total - len(whole))
                plan = self._composed(self._form.entries, whole, last_line)
                if self._size(plan[0]) <= self._budget:
                    return plan
            return self.exclude()
        entries = self._with_featured() or names
        left = self._total - len(entries)
        line = self._form.left_out(left) if left else ""
        return self._composed(self._form.names, entries, line, searches=True)

    def _with_featured(self) -> list[IndexEntry] | None:
        """Return entries with words of featured skills only; None if nothing fits."""
        if not any(skill.is_featured for skill in self._drawn):
            return None
        room = self._room_for_names()
        for step in STEPS[-len(FEATURED_ROOMS) : -1]:
            entries = self._fitting(self._form.names, step, room)
            if sum(self._size(entry.text) for entry in entries if entry.shown) <= room / 2:
                return entries
        return None

    def _whole(self) -> list[IndexEntry]:
        layout = self._form.entries
        return self._fitting(layout, WHOLE, self._room(layout))

    def _room_for_names(self) -> float:
        """Return the room beside the first and the last line, which names never displace."""
        last_line = self._form.left_out(_MOST_LEFT_OUT)
        advice = self._size(self._form.search_first)
        kept = min(advice, max(0, self._budget - NAMES_FIRST * advice))
        return self._room(self._form.names) - self._size(last_line) - kept

    def _fitting(self, layout: Layout, step: Step, room: float) -> list[IndexEntry]:
        """Return entries in order, up to the first that does not fit."""
        entries: list[IndexEntry] = []
        between = self._size(layout.between)
        room += between  # none before the first
        for skill in self.skills():
            entry = _entry(layout, skill, step)
            room -= between + self._size(entry.text)
            if room < 0:
                break
            entries.append(entry)
        return entries

    def _composed(
        self,
        layout: Layout,
        entries: list[IndexEntry],
        last_line: str = "",
        *,
        searches: bool = False,
    ) -> Plan:
        texts = [entry.text for entry in entries]
        advises = searches and self._advises
        return self._form.compose(layout, texts, last_line, searches=advises), entries

    def _room(self, layout: Layout) -> float:
        return self._budget - self._size(self._form.compose(layout, []))


def _entry(layout: Layout, skill: Candidate, step: Step) -> IndexEntry:
    """Return the entry of a skill with the room of a step for its description."""
    try:
        return _described(layout, skill, step)
    except MemoryError:
        raise
    except Exception as error:
        raise EntryFailed(skill.skill, error) from error


def _described(layout: Layout, skill: Candidate, step: Step) -> IndexEntry:
    room = _room(skill, step)
    if not room:
        return IndexEntry(skill, "name_only", layout.item(skill, ""), reason=_NO_ROOM)
    whole = one_line(skill.description)
    shown = whole if len(whole) <= room else shorten_description(whole, skill.name, int(room))
    item = layout.item(skill, shown)
    if shown == whole:
        return IndexEntry(skill, "full", item, shown)
    if not shown:
        return IndexEntry(skill, "name_only", item, reason=_NO_ROOM)
    reason = f"{len(shown)} of {len(whole)} characters of its description are shown"
    return IndexEntry(skill, "shortened", item, shown, reason)


_NO_ROOM = "only its name fits"


def _room(skill: Candidate, step: Step) -> float:
    return (step.featured if skill.is_featured else step.room) * skill.factor
