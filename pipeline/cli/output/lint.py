"""Formats of validation results: for people, for programs and for GitHub."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import click

from catalog.model.finding import Finding
from catalog.model.values import Severity
from catalog.text.display import visible
from catalog.text.line_ends import with_plain_line_ends
from pipeline.authoring.lint import Judgement
from pipeline.cli.output.sarif import sarif
from pipeline.cli.output.source_excerpt import excerpt
from pipeline.cli.output.terminal import counted

Format: TypeAlias = Callable[[Iterable[Judgement]], Iterator[str]]
"""Yields the lines to print, each as soon as the judgements that it needs are there."""

_COLOURS: Mapping[Severity, str] = {"error": "red", "warning": "yellow", "info": "blue"}
_GITHUB: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}
_UP_TO: Mapping[str, Sequence[Severity]] = {"error": ["error"], "warning": ["error", "warning"]}
_LINES_OF_A_REPAIR = 3


@dataclass(slots=True)
class Tally:
    """Counts judgements on their way to a format."""

    skills: int = 0
    loadable: int = 0
    severities: Counter[Severity] = field(default_factory=Counter)

    def counting(
        self, judged: Iterable[Judgement], progress: Callable[[int], None] | None = None
    ) -> Iterator[Judgement]:
        """Yield the judgements as they are; progress hears how many skills there were so far."""
        for judgement in judged:
            self.skills += judgement.name is not None
            self.loadable += judgement.loadable
            self.severities.update(found.severity for found in judgement.findings)
            if progress:
                progress(self.skills)
            yield judgement

    def reaches(self, severity: str) -> bool:
        """Return whether there was a finding of this severity or of a worse one."""
        return any(self.severities[word] for word in _UP_TO[severity])

    def summary(self) -> str:
        """Return the counts as a sentence."""
        counts = ", ".join(counted(self.severities[word], word) for word in _COLOURS)
        return f"{counted(self.skills, 'skill')}, {self.loadable} loadable; {counts}."


def text(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield `path:line: severity code message`, the line itself and what to do about it.

    Of untrusted text nothing reaches the terminal that one could not see there.
    """
    for judgement in judged:
        lines = with_plain_line_ends(judgement.text).split("\n")
        for found in judgement.findings:
            yield "\n".join(_text(judgement, found, lines))


def as_json(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield a list with one object a skill."""
    before = "["
    for judgement in judged:
        yield before + json.dumps(judgement.as_json(), indent=2)
        before = ","
    yield "]" if before == "," else "[]"


def github(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield GitHub Actions' workflow commands, which annotate a pull request.

    Source: GitHub Actions documentation, Workflow commands; its escapes are those of the
    toolkit's `command.ts`.
    """
    for judgement in judged:
        for found in judgement.findings:
            place = {
                "file": judgement.file(found),
                "line": found.line,
                "col": found.column,
                "title": found.code,
            }
            properties = ",".join(
                f"{key}={_escaped(visible(str(value)), ':,')}"
                for key, value in place.items()
                if value
            )
            message = _escaped(f"{visible(found.message)}\n{visible(found.fix)}")
            yield f"::{_GITHUB[found.severity]} {properties}::{message}"


FORMATS: Mapping[str, Format] = {"text": text, "json": as_json, "sarif": sarif, "github": github}
FOR_READERS = frozenset({"text", "github"})
"""The formats to which a summary can be added; the others are for programs alone."""


def errors_only(judgement: Judgement) -> Judgement:
    """Return a judgement without its warnings and notes."""
    errors = tuple(found for found in judgement.findings if found.severity == "error")
    return replace(judgement, findings=errors)


def _text(judgement: Judgement, found: Finding, lines: list[str]) -> Iterator[str]:
    place = visible(judgement.place(found))
    line = f":{found.line}" if found.line else ""
    word = click.style(found.severity, fg=_COLOURS[found.severity], bold=True)
    yield f"{click.style(place + line, bold=True)}: {word} {found.code} {visible(found.message)}"
    if found.line and found.path == judgement.document and found.line <= len(lines):
        yield from _source(found, lines[found.line - 1])
    yield click.style(f"    {visible(found.fix)}", dim=True)


def _source(found: Finding, line: str) -> Iterator[str]:
    shown, caret = excerpt(line, found.column)
    number = str(found.line)
    if not shown:
        return
    yield f"    {click.style(f'{number} |', dim=True)} {shown}"
    if caret:
        yield f"    {' ' * len(number)} {click.style('|', dim=True)} " + click.style(
            caret, fg=_COLOURS[found.severity], bold=True
        )
    if found.after is not None:
        repaired = found.after.split("\n")
        for after in repaired[:_LINES_OF_A_REPAIR]:
            yield f"    {' ' * len(number)} {click.style('+', fg='green')} {excerpt(after)[0]}"
        if (more := len(repaired) - _LINES_OF_A_REPAIR) > 0:
            yield (
                f"    {' ' * len(number)} … and {counted(more, 'more line')}; --format json "
                "has them all"
            )


def _escaped(value: str, also: str = "") -> str:
    for character in f"%\r\n{also}":
        value = value.replace(character, f"%{ord(character):02X}")
    return value
