"""Output of `validate`: judgements, counts and changes, on the terminal or in a file."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TextIO

import click

from catalog.text.display import visible
from pipeline.authoring.fixes.collection import Fixer
from pipeline.authoring.lint import Judgement
from pipeline.cli.options import DONE, FINDINGS
from pipeline.cli.output import lint, terminal


class LintOutput(NamedTuple):
    """Output in a format, with the options of the command."""

    form: str
    quiet: bool
    statistics: bool
    file: TextIO | None
    docs_url: str | None

    def show(self, judged: Iterable[Judgement], fixer: Fixer) -> lint.Tally:
        """Print judgements as they come, and return their counts."""
        tally = lint.Tally()
        with terminal.progress("skills") as progress:
            counted = tally.counting(judged, progress)
            shown = map(lint.errors_only, counted) if self.quiet else counted
            for lines in self._lines(shown):
                progress.clear()
                self._echo(lines)
        for note in (*tally.notes, *fixer.problems):
            click.echo(f"skilldrop: {note}", err=True)
        if self.form in lint.FOR_READERS:
            self._echo(tally.summary(fixer.fixed))
        return tally

    def show_diff(self, judged: Iterable[Judgement], fixer: Fixer) -> int:
        """Print what the fixer would change; return the exit code."""
        with terminal.progress("skills") as progress:
            for judgement in lint.Tally().counting(judged, progress):
                skill = fixer.draft(judgement)
                for line in skill.diff(judgement.path) if skill else ():
                    progress.clear()
                    self._echo(visible(line))
        found = terminal.counted(fixer.fixed, "finding")
        skills = terminal.counted(fixer.skills, "skill")
        click.echo(f"--fix would mend {found} in {skills}.", err=True)
        return FINDINGS if fixer.skills else DONE

    def _lines(self, shown: Iterable[Judgement]) -> Iterator[str]:
        return (
            lint.statistics(shown, self.form)
            if self.statistics
            else lint.FORMATS[self.form](shown, self.docs_url)
        )

    def _echo(self, lines: str) -> None:
        if self.file is None:
            terminal.echo(lines)
        else:
            self.file.write(f"{click.unstyle(lines)}\n")
