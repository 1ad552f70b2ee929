"""Results of validation: for people, for programs, for GitHub."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TextIO

import click

from catalog.model.finding import Finding
from catalog.model.values import Json, Severity
from catalog.reading import finding_pages
from catalog.text.body import with_plain_line_ends
from catalog.text.visible import visible
from pipeline.authoring.fixes.applied import Fixer
from pipeline.authoring.lint import Judgement
from pipeline.cli.options import DONE, FINDINGS
from pipeline.cli.output import terminal
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.cli.output.sarif import sarif
from pipeline.cli.output.terminal import counted


@dataclass(slots=True)
class Tally:
    """Counts of skills and findings, taken while judgements pass through to a format."""

    skills: int = 0
    loadable: int = 0
    severities: Counter[Severity] = field(default_factory=Counter)
    ignored: int = 0  # findings left out by comments
    notes: list[str] = field(default_factory=list)

    def counting(
        self, judged: Iterable[Judgement], progress: Callable[[int], None] | None = None
    ) -> Iterator[Judgement]:
        """Yield the judgements unchanged; `progress` gets the number of skills so far."""
        for judgement in judged:
            self.skills += judgement.name is not None
            self.loadable += judgement.loadable
            self.severities.update(finding.severity for finding in judgement.findings)
            self.ignored += judgement.ignored
            self.notes += (f"{visible(judgement.path)}/{visible(n)}" for n in judgement.notes)
            if progress:
                progress(self.skills)
            yield judgement

    def reaches(self, severity: str) -> bool:
        """Return whether any finding has this severity or a worse one."""
        return any(self.severities[word] for word in _UP_TO[severity])

    def summary(self, fixed: int = 0) -> str:
        """Return the counts as a sentence, with the number of findings that were fixed."""
        counts = ", ".join(counted(self.severities[word], word) for word in _COLOURS)
        left_out = f"; {self.ignored} ignored by comments" if self.ignored else ""
        mended = f"; {fixed} fixed" if fixed else ""
        rejected = self.skills - self.loadable
        found = f"{counted(self.skills, 'skill')}, {rejected or 'none'} rejected; {counts}"
        return f"{found}{mended}{left_out}."


class LintOutput(NamedTuple):
    """Output in a format, with the options of the command."""

    form: str
    quiet: bool
    statistics: bool
    file: TextIO | None
    docs_url: str | None

    def show(self, judged: Iterable[Judgement], fixer: Fixer) -> Tally:
        """Print judgements as they come, and return their counts."""
        tally = Tally()
        with terminal.progress("skills") as progress:
            counted = tally.counting(judged, progress)
            shown = map(errors_only, counted) if self.quiet else counted
            for lines in self._lines(shown):
                progress.clear()
                self._echo(lines)
        for note in (*tally.notes, *fixer.problems):
            click.echo(f"skilldrop: {note}", err=True)
        if self.form in FOR_READERS:
            self._echo(tally.summary(fixer.fixed))
        return tally

    def show_diff(self, judged: Iterable[Judgement], fixer: Fixer) -> int:
        """Print the changes that the fixer would make; return the exit code."""
        with terminal.progress("skills") as progress:
            for judgement in Tally().counting(judged, progress):
                skill = fixer.draft(judgement)
                for line in skill.diff(judgement.path) if skill else ():
                    progress.clear()
                    self._echo(visible(line))
        found = terminal.counted(fixer.fixed, "finding")
        skills = terminal.counted(fixer.skills, "skill")
        click.echo(f"--fix would fix {found} in {skills}.", err=True)
        return FINDINGS if fixer.skills else DONE

    def _lines(self, shown: Iterable[Judgement]) -> Iterator[str]:
        return (
            statistics(shown, self.form)
            if self.statistics
            else FORMATS[self.form](shown, self.docs_url)
        )

    def _echo(self, lines: str) -> None:
        if self.file is None:
            terminal.echo(lines)
        else:
            self.file.write(f"{click.unstyle(lines)}\n")


class Format(Protocol):
    """Format of an output; `docs_url` is the address of the page with a section for each code."""

    def __call__(self, judged: Iterable[Judgement], docs_url: str | None = ...) -> Iterator[str]:
        """Yield each line to print as soon as its judgements are available."""


def text(judged: Iterable[Judgement], docs_url: str | None = None) -> Iterator[str]:
    """Yield `path:line: severity code message`, the source line and the fix.

    Control and invisible characters of untrusted text are made visible.
    """
    for judgement in judged:
        lines = with_plain_line_ends(judgement.text).split("\n")
        for finding in judgement.findings:
            yield "\n".join(_text(judgement, finding, lines))
        if any(finding.severity == "error" for finding in judgement.findings):
            yield _consequence(judgement)


def as_json(judged: Iterable[Judgement], docs_url: str | None = None) -> Iterator[str]:
    """Yield a JSON list with one object per skill."""
    before = "["
    for judgement in judged:
        findings: list[Json] = [
            {**finding.as_json(), "url": finding_pages.url(finding.code, docs_url)}
            for finding in judgement.findings
        ]
        skill = {**judgement.as_json(), "findings": findings}
        yield before + json.dumps(skill, indent=2)
        before = ","
    yield "]" if before == "," else "[]"


def github(judged: Iterable[Judgement], docs_url: str | None = None) -> Iterator[str]:
    """Yield workflow commands of GitHub Actions, which annotate a pull request.

    Source: GitHub Actions documentation, Workflow commands; escapes as in the toolkit's
    `command.ts`.
    """
    for judgement in judged:
        for finding in judgement.findings:
            place = {
                "file": judgement.file(finding),
                "line": finding.line,
                "col": finding.column,
                "title": finding.code,
            }
            properties = ",".join(
                f"{key}={_escaped(visible(str(value)), ':,')}"
                for key, value in place.items()
                if value
            )
            message = _escaped(f"{visible(finding.message)}\n{visible(finding.fix)}")
            yield f"::{_GITHUB[finding.severity]} {properties}::{message}"


FORMATS: Mapping[str, Format] = {"text": text, "json": as_json, "sarif": sarif, "github": github}


FOR_READERS = frozenset({"text", "github"})
"""Formats that may end with a summary; the others are for programs only."""


def statistics(judged: Iterable[Judgement], form: str) -> Iterator[str]:
    """Yield how often each code occurs, most frequent first; a JSON list for the format json."""
    counts = Counter(
        (finding.code, finding.severity) for judgement in judged for finding in judgement.findings
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if form == "json":
        rows = [{"code": code, "severity": word, "count": n} for (code, word), n in ordered]
        yield json.dumps(rows, indent=2)
        return
    for (code, word), count in ordered:
        summary = REGISTRY[code].summary if code in REGISTRY else ""
        yield f"{count:>6,}  {click.style(f'{word:7}', fg=_COLOURS[word])}  {code}  {summary}"


def errors_only(judgement: Judgement) -> Judgement:
    """Return a judgement without its warnings and info findings."""
    errors = tuple(finding for finding in judgement.findings if finding.severity == "error")
    return replace(judgement, findings=errors)


_COLOURS: Mapping[Severity, str] = {"error": "red", "warning": "yellow", "info": "blue"}


_GITHUB: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


_UP_TO: Mapping[str, Sequence[Severity]] = {"error": ["error"], "warning": ["error", "warning"]}


_LINES_OF_A_REPAIR = 3


def _text(judgement: Judgement, finding: Finding, lines: list[str]) -> Iterator[str]:
    place = visible(judgement.place(finding))
    line = f":{finding.line}" if finding.line else ""
    word = click.style(finding.severity, fg=_COLOURS[finding.severity], bold=True)
    place = click.style(place + line, bold=True)
    yield f"{place}: {word} {finding.code} {visible(finding.message)}"
    if finding.line and finding.path == judgement.document and finding.line <= len(lines):
        yield from _source(finding, lines[finding.line - 1])
    yield click.style(f"    {visible(finding.fix)}", dim=True)


def _consequence(judgement: Judgement) -> str:
    """Return a sentence about the consequence of the errors of a skill."""
    if not judgement.loadable:
        return click.style(f"{visible(judgement.path)}: rejected.", bold=True)
    broken = "has errors" if judgement.spec_valid else "breaks the specification"
    return f"{visible(judgement.path)}: {broken}; a root with this acceptance still publishes it."


def _source(finding: Finding, line: str) -> Iterator[str]:
    shown, caret = excerpt(line, finding.column)
    number = str(finding.line)
    if not shown:
        return
    yield f"    {click.style(f'{number} |', dim=True)} {shown}"
    if caret:
        yield f"    {' ' * len(number)} {click.style('|', dim=True)} " + click.style(
            caret, fg=_COLOURS[finding.severity], bold=True
        )
    if finding.after is not None:
        repaired = finding.after.split("\n")
        for after in repaired[:_LINES_OF_A_REPAIR]:
            yield f"    {' ' * len(number)} {click.style('+', fg='green')} {excerpt(after)[0]}"
        if (more := len(repaired) - _LINES_OF_A_REPAIR) > 0:
            yield (
                f"    {' ' * len(number)} … and {counted(more, 'more line')}; --format json "
                "shows all"
            )


WIDTH = 100
"""Terminal columns of an excerpt; the rest of the line is cut."""


_BEFORE = 60  # most columns before the caret


_CUT = "…"


def excerpt(line: str, column: int | None = None) -> tuple[str, str | None]:
    """Return the printable line, and a second line with a caret under the column.

    `column` counts characters from 1. Without one, or beyond the end of the line, the second
    value is None.
    """
    if column is None or not 1 <= column <= len(line) + 1:
        return _head(line, WIDTH), None
    before = _tail(line[: column - 1], _BEFORE)
    used = terminal.width(before)
    return before + _head(line[column - 1 :], WIDTH - used), " " * used + "^"


def _head(text: str, width: int) -> str:
    """Return the text, cut at its end to at most `width` columns."""
    kept = _fitting(text, width)
    return "".join(kept) + (_CUT if len(kept) < len(text) else "")


def _tail(text: str, width: int) -> str:
    """Return the text, cut at its start to at most `width` columns."""
    kept = _fitting(reversed(text), width)
    return (_CUT if len(kept) < len(text) else "") + "".join(reversed(kept))


def _fitting(text: Iterable[str], width: int) -> list[str]:
    """Return the printable forms of the leading characters that fit."""
    kept: list[str] = []
    for character in text:
        shown = visible(character)
        width -= terminal.width(shown)
        # Combining marks have no width, and a line may contain a million of them.
        if width < 0 or len(kept) == WIDTH:
            break
        kept.append(shown)
    return kept


def _escaped(value: str, also: str = "") -> str:
    for character in f"%\r\n{also}":
        value = value.replace(character, f"%{ord(character):02X}")
    return value
