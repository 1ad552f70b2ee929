"""Table of the skills in a prompt index and those left out."""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from catalog.text.display import visible
from pipeline.cli.output import columns

_HEADINGS = ("rank", "skill", "state", "chars", "shown")
_WHY = {
    "over_budget": "left out for lack of room",
    "hidden": "hidden: agents must not start them (disable-model-invocation)",
    "filtered": "filtered: excluded by the index (its levels, tags or names)",
}
_COLOURS = {"full": "green", "shortened": "yellow", "name_only": "red"}


def width_of_terminal() -> int | None:
    """Return the width of the terminal on stdout; None if stdout is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(report: Mapping[str, Any], explanation: Mapping[str, Any], width: int | None) -> str:
    """Return the counts, a line for each skill in the index, and the skills left out by reason.

    No line of the table is wider than `width` columns, if `width` is given and at least 60.
    """
    lines = [""]
    if explanation["entries"]:
        lines += [*_entries(explanation["entries"], width), ""]
    for reason, out in explanation["left_out"].items():
        if out["count"]:
            lines += [*_left_out(f"{_WHY[reason]}: {out['count']:,}", out, width), ""]
    return "\n".join([_summary(report), *lines[:-1]])


def _summary(report: Mapping[str, Any]) -> str:
    states = ", ".join(
        f"{report[state]:,} {word}"
        for state, word in (
            ("full", "in full"),
            ("shortened", "shortened"),
            ("name_only", "by name only"),
            ("left_out", "left out"),
        )
    )
    return f"index {report['name']} ({report['format']}): {_used(report)}; {states}."


def _used(report: Mapping[str, Any]) -> str:
    chars, tokens = f"{report['chars']:,}", f"about {report['estimated_tokens']:,}"
    if "budget_tokens" in report:
        return f"{tokens} of {report['budget_tokens']:,} tokens, {chars} characters"
    return f"{chars} of {report['budget_chars']:,} characters, {tokens} tokens"


def _entries(entries: Sequence[Mapping[str, Any]], width: int | None) -> Iterator[str]:
    rows = [
        (
            str(entry["rank"]),
            visible(entry["name"]),
            entry["state"].replace("_", " "),
            str(entry["chars"]),
            ": ".join(filter(None, (entry["reason"], visible(entry["shown"])))),
        )
        for entry in entries
    ]
    widths = [max(map(columns.width, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    if width is not None:  # names are shortened first, then reasons
        widths[1] = min(widths[1], max(20, width - sum(widths[:1] + widths[2:]) - 8))
    yield _line(_HEADINGS, widths, width)
    for row, entry in zip(rows, entries, strict=True):
        yield _line(row, widths, width, _COLOURS[entry["state"]])


def _line(
    cells: Sequence[str], widths: Sequence[int], width: int | None, colour: str | None = None
) -> str:
    rank, name, state, chars, why = cells
    head = f"{rank.rjust(widths[0])}  {_padded(columns.cut(name, widths[1]), widths[1])}  "
    tail = f"{' ' * (widths[2] - len(state))}  {chars.rjust(widths[3])}  {why}".rstrip()
    if width is not None:
        tail = columns.cut(tail, width - columns.width(head) - len(state))
    return f"{head}{click.style(state, fg=colour) if colour else state}{tail}"


def _left_out(why: str, out: Mapping[str, Any], width: int | None) -> Iterator[str]:
    lines = [why, *(f"  {visible(name)}" for name in out["names"])]
    if more := out["count"] - len(out["names"]):
        lines.append(f"  … and {more:,} more; the view index_left_out lists all")
    yield from lines if width is None else (columns.cut(line, width) for line in lines)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns.width(text))
