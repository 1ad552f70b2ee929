"""Rows of the differences between two versions of a skill, page by page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from catalog.database.queries import Row
from catalog.reading.skills import versions
from catalog.text import humanize
from catalog.text.differences import ComparisonsLeft, Gap, Line, TextDifference, difference, words

PAGE = 300_000
"""Approximate characters of differences on one page, which links to the next page."""
ROW = 100
"""Characters that a row counts in addition to its text."""
LONGEST_ROW = 1_000
"""Most characters of a line in one row; a longer line takes several rows."""
FOLDED_CHARS = 20_000
"""Most characters of unchanged lines that the page has folded; longer ones are only counted."""
WORD_STEPS = 1_000_000
"""Comparisons of two words on one page, at most."""


class DiffRow(NamedTuple):
    """Row of the page: a line of a difference, a part of a long line, or unchanged lines."""

    kind: str  # add, del, same, fold
    text: str  # of a fold the lines, or nothing if they are too long
    number: int = 0  # in the new text; for `del` in the old one
    height: int = 1  # lines of a fold
    is_continued: bool = False  # whether it continues the row before it
    pieces: Sequence[tuple[str, bool]] = ()  # of the text, with whether the other line lacks it
    other: str | None = None  # line that it replaces, or by which it is replaced


@dataclass(frozen=True, slots=True)
class FileChange:
    """Change of one file between two versions."""

    path: str
    kind: str  # added, removed, changed
    lines: tuple[DiffRow, ...] = ()
    note: str = ""
    is_script: bool = False
    added: int = 0  # lines
    removed: int = 0
    is_separate: bool = False  # whether it is compared only on a page of its own
    is_elsewhere: bool = False  # whether all its rows are on other pages


@dataclass(frozen=True, slots=True)
class DiffPage:
    """Changed files, with the rows of one page."""

    changes: tuple[FileChange, ...]
    first: int  # rows before this page
    total: int  # rows on all pages

    @property
    def following(self) -> int | None:
        """First row of the next page; None on the last page."""
        after = self.first + sum(len(change.lines) for change in self.changes)
        return after if after < self.total else None


def compare(
    old: Mapping[str, Row], new: Mapping[str, Row], first: int = 0, room: int = PAGE
) -> DiffPage:
    """Return one page of the differences, starting at a row, counted from 0.

    room is the approximate number of characters on the page. Every page lists all changed files,
    scripts first; the rows of a file may span pages.
    """
    changes, number, lines_work, words_work = [], 0, ComparisonsLeft(), ComparisonsLeft(WORD_STEPS)
    for path in versions.in_order(list({**old, **new}), old, new):
        change, diff = _change(path, old.get(path), new.get(path), lines_work)
        rows: list[DiffRow] = []
        start = number
        for row in _rows(diff) if diff else ():
            if number >= first and room > 0:
                rows.append(_with_words(row, words_work))
                room -= len(row.text) + ROW
            number += 1
        if change.kind != "changed" or change.note or number > start:
            is_elsewhere = number > start and not rows
            changes.append(replace(change, lines=tuple(rows), is_elsewhere=is_elsewhere))
    return DiffPage(tuple(changes), min(first, number), number)


def _change(
    path: str, before: Row | None, after: Row | None, work: ComparisonsLeft
) -> tuple[FileChange, TextDifference | None]:
    """Return the change of a file without its lines, and their difference if there is one."""
    rows = [row for row in (before, after) if row]
    is_separate = any(row["is_left_out"] for row in rows)
    notes, diff = [_mode_note(before, after)], None
    if before and after and before["sha256"] == after["sha256"]:
        pass
    elif is_separate:
        notes.append("The files are too long to be compared on one page.")
    elif obstacle := _obstacle(before, after):
        notes.append(obstacle)
    else:
        old_text, new_text = (row["text"] if row else "" for row in (before, after))
        diff = difference(old_text, new_text, work)
        notes += _difference_notes(diff)
    added, removed = diff.counts() if diff else (0, 0)
    change = FileChange(
        path,
        "changed" if before and after else "added" if after else "removed",
        note=" ".join(filter(None, notes)),
        is_script=any(map(versions.is_script, rows)),
        added=added,
        removed=removed,
        is_separate=is_separate,
    )
    return change, diff


def _obstacle(before: Row | None, after: Row | None) -> str:
    """Return why two files cannot be compared, as a sentence; empty if they can."""
    rows = [row for row in (before, after) if row]
    sizes = " and ".join(
        f"{humanize.size(row['size'])} {word}"
        for row, word in ((before, "before"), (after, "after"))
        if row
    )
    if not all(row["is_text"] for row in rows):
        return f"This is not a text file: {sizes}."
    missing = [row for row in rows if row["text"] is None]
    if any(row["size"] > versions.MOST_BYTES for row in missing):
        limit = humanize.size(versions.MOST_BYTES)
        return f"The file is too large to be compared: {sizes}; the limit is {limit}."
    return f"The text of the file is not kept any more: {sizes}." if missing else ""


def _mode_note(before: Row | None, after: Row | None) -> str:
    if not after or (before["mode"] if before else "644") == after["mode"]:
        return ""
    return f"The file is {'now' if after['mode'] == '755' else 'no longer'} executable."


def _difference_notes(diff: TextDifference) -> Iterator[str]:
    if diff.is_coarse:
        yield (
            "An exact comparison would take too long: moved lines may be shown as removed and "
            "added."
        )
    yield diff.note


def _rows(diff: TextDifference) -> Iterator[DiffRow]:
    """Yield the lines of a difference, long lines in several rows, unchanged ones in one."""
    if not diff.groups:
        return
    for line in diff.whole():
        if isinstance(line, Gap):
            text = "\n".join(line.lines)
            is_long = len(text) > FOLDED_CHARS or max(map(len, line.lines)) > LONGEST_ROW
            yield DiffRow("fold", "" if is_long else text, line.first, len(line.lines))
        else:
            yield from _pieces(line)


def _pieces(line: Line) -> Iterator[DiffRow]:
    if len(line.text) <= LONGEST_ROW:
        yield DiffRow(line.kind, line.text, line.number, other=line.other)
        return
    for start in range(0, len(line.text), LONGEST_ROW):
        text = line.text[start : start + LONGEST_ROW]
        yield DiffRow(line.kind, text, line.number, is_continued=start > 0)


def _with_words(row: DiffRow, work: ComparisonsLeft) -> DiffRow:
    """Return a row with the words marked that the other line lacks."""
    if row.other is None or len(row.other) > LONGEST_ROW:
        return row
    pieces = words(row.text, row.other, work)
    return row._replace(pieces=pieces) if any(is_other for _, is_other in pieces) else row
