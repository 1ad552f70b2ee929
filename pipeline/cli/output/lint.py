"""Results of validation: for people, for programs, for GitHub."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import click

from catalog.model.finding import Finding
from catalog.model.values import FAILING, SEVERITIES, Json, Severity
from catalog.reading.findings import explanations
from catalog.text.visible import visible, with_plain_line_ends
from pipeline.authoring.fixer import Fixer
from pipeline.authoring.lint import Judgement
from pipeline.cli.output import terminal
from pipeline.cli.output.terminal import counted


@dataclass(slots=True)
class LintOutput:
    """Output in a format, with the counts of skills and findings that have passed through."""

    form: str = "text"
    quiet: bool = False
    skills: int = 0
    loadable: int = 0
    outside: int = 0  # loadable skills that are not valid by the specification
    leads_to_spec: bool = False  # whether no finding says why one of them is not
    severities: Counter[Severity] = field(default_factory=Counter)
    ignored: int = 0  # findings left out by comments
    fixable: int = 0  # findings that --fix would mend
    notes: list[str] = field(default_factory=list)

    def show(self, judged: Iterable[Judgement], fixer: Fixer) -> None:
        """Print judgements as they come, and a summary for people."""
        with terminal.progress("skills") as progress:
            counting = self.counting(judged, progress)
            shown = map(errors_only, counting) if self.quiet else counting
            for lines in FORMATS[self.form](shown):
                progress.clear()
                terminal.echo(lines)
        for note in (*self.notes, *fixer.problems):
            click.echo(f"skilldrop: {note}", err=True)
        if self.form != "json":
            terminal.echo(self.summary(fixer.fixed))

    def counting(
        self, judged: Iterable[Judgement], progress: Callable[[int], None]
    ) -> Iterator[Judgement]:
        """Yield the judgements unchanged; `progress` gets the number of skills so far."""
        for judgement in judged:
            self.skills += judgement.name is not None
            self.loadable += judgement.loadable
            if judgement.loadable and not judgement.spec_valid:
                self.outside += 1
                self.leads_to_spec |= all(each.severity != "error" for each in judgement.findings)
            self.severities.update(finding.severity for finding in judgement.findings)
            self.ignored += judgement.ignored
            self.fixable += len(judgement.fixable)
            self.notes += (f"{visible(judgement.path)}/{visible(n)}" for n in judgement.notes)
            progress(self.skills)
            yield judgement

    def reaches(self, severity: Severity) -> bool:
        """Return whether any finding has this severity or a worse one."""
        return any(self.severities[word] for word in SEVERITIES[: SEVERITIES.index(severity) + 1])

    def summary(self, fixed: int = 0) -> str:
        """Return the counts as a sentence, with the number of findings that were fixed."""
        words = SEVERITIES if self.severities["danger"] else SEVERITIES[1:]
        counts = ", ".join(counted(self.severities[word], word) for word in words)
        left_out = f"; {self.ignored} ignored by comments" if self.ignored else ""
        mended = f"; {fixed} fixed" if fixed else ""
        mended += f"; --fix mends {self.fixable}" if self.fixable else ""
        rejected = self.skills - self.loadable
        found = f"{counted(self.skills, 'skill')}, {rejected or 'none'} rejected"
        if self.outside:
            found += f", {self.outside} outside the specification"
            found += " (`--profile spec` says why)" if self.leads_to_spec else ""
        found += f"; {counts}"
        return f"{found}{mended}{left_out}."


# A format yields each line as soon as its judgements are available.


def text(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield `path:line:column: severity code message`, the source line and the fix.

    Control and invisible characters of untrusted text are made visible.
    """
    for judgement in judged:
        lines = with_plain_line_ends(judgement.text).split("\n")
        for finding in judgement.findings:
            yield "\n".join(_text(judgement, finding, lines))
        yield from _consequences(judgement, {finding.severity for finding in judgement.findings})


def as_json(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield a JSON list with one object per skill."""
    before, page = "[", explanations.path().as_uri()
    for judgement in judged:
        findings: list[Json] = [
            {**finding.as_json(), "url": f"{page}#{finding.code}"} for finding in judgement.findings
        ]
        skill = {**judgement.as_json(), "findings": findings}
        yield before + json.dumps(skill, indent=2)
        before = ","
    yield "]" if before == "," else "[]"


def github(judged: Iterable[Judgement]) -> Iterator[str]:
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
            yield f"::{_GITHUB.get(finding.severity, finding.severity)} {properties}::{message}"


FORMATS: Mapping[str, Callable[..., Iterator[str]]] = {
    "text": text,
    "json": as_json,
    "github": github,
}


def errors_only(judgement: Judgement) -> Judgement:
    """Return a judgement with only its dangers and errors."""
    errors = tuple(finding for finding in judgement.findings if finding.severity in FAILING)
    return replace(judgement, findings=errors)


COLOURS: Mapping[Severity, str] = {
    "danger": "magenta",
    "error": "red",
    "warning": "yellow",
    "info": "blue",
}
_GITHUB = {"danger": "error", "info": "notice"}  # the others have the same name there
_LINES_OF_A_REPAIR = 3


def _text(judgement: Judgement, finding: Finding, lines: list[str]) -> Iterator[str]:
    place = visible(judgement.place(finding))
    line = f":{finding.line}:{finding.column or 1}" if finding.line else ""
    word = click.style(finding.severity, fg=COLOURS[finding.severity], bold=True)
    place = click.style(place + line, bold=True)
    mark = " [fix]" if finding in judgement.fixable else ""
    yield f"{place}: {word} {finding.code} {visible(finding.message)}{mark}"
    if finding.line and finding.path == judgement.document and finding.line <= len(lines):
        yield from _source(finding, lines[finding.line - 1])
    yield click.style(f"    {visible(finding.fix)}", dim=True)


def _consequences(judgement: Judgement, found: Collection[Severity]) -> Iterator[str]:
    """Yield a sentence each about the consequences of the dangers and the errors of a skill."""
    path = visible(judgement.path)
    if "danger" in found:
        yield click.style(f"{path}: dangerous; by default it waits for review.", bold=True)
    if "error" in found and not judgement.loadable:
        yield click.style(f"{path}: {'rejected' if judgement.name else 'no skill'}.", bold=True)
    elif "error" in found:
        broken = "has errors" if judgement.spec_valid else "is outside the specification"
        word = judgement.acceptance
        acceptance = f'acceptance = "{word}"{" (the default)" if word == "lenient" else ""}'
        passes = "does not reject" if "danger" in found else "still publishes"
        add = ", but `skilldrop add` needs its description written" if judgement.is_template else ""
        yield f"{path}: {broken}; a root with {acceptance} {passes} it{add}."


def _source(finding: Finding, line: str) -> Iterator[str]:
    shown, caret = excerpt(line, finding.column)
    number = str(finding.line)
    if not shown:
        return
    yield f"    {click.style(f'{number} |', dim=True)} {shown}"
    if caret:
        yield f"    {' ' * len(number)} {click.style('|', dim=True)} " + click.style(
            caret, fg=COLOURS[finding.severity], bold=True
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


def excerpt(line: str, column: int | None = None) -> tuple[str, str | None]:
    """Return the printable line, and a second line with a caret under the column.

    `column` counts characters from 1. Without one, or beyond the end of the line, the second
    value is None.
    """
    if column is None or not 1 <= column <= len(line) + 1:
        return _start_of(line, WIDTH), None
    before = line[: column - 1]
    mark = "…" if len(before) > _BEFORE else ""
    before = terminal.cut_before(mark + visible(before[-_BEFORE:]), _BEFORE + 1)
    used = terminal.width(before)
    return before + _start_of(line[column - 1 :], WIDTH - used), " " * used + "^"


def _start_of(text: str, columns: int) -> str:
    # A line may contain a million combining marks, which have no width.
    mark = "…" if len(text) > columns else ""
    return terminal.cut(visible(text[:columns]) + mark, columns + 1)


def _escaped(value: str, also: str = "") -> str:
    for character in f"%\r\n{also}":
        value = value.replace(character, f"%{ord(character):02X}")
    return value
