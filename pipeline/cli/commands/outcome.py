"""Command for authors of runtimes that validates outcome files."""

from pathlib import Path

import click

from catalog.model.outcome import BadOutcome, JudgedOutcome, RunOutcome
from catalog.text.visible import visible
from pipeline.cli.options import DONE, FINDINGS, Answer, with_json
from pipeline.cli.output.terminal import counted
from pipeline.outcomes.collect import judge_file


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@with_json
def outcome(files: tuple[Path, ...]) -> Answer:
    """Validate outcome FILES, the reports of runtimes about runs of skills.

    \b
    Examples:
      skilldrop outcome run-17.json
      skilldrop outcome runs/*.json --json
    """
    judged = [(file, judge_file(file)) for file in files]
    return Answer(
        [_as_json(str(file), result) for file, result in judged],
        (_rendered(str(file), result) for file, result in judged),
        FINDINGS if any(isinstance(result, BadOutcome) for _, result in judged) else DONE,
    )


def _as_json(path: str, result: JudgedOutcome) -> dict[str, object]:
    return {
        "path": path,
        "valid": isinstance(result, RunOutcome),
        "findings": [finding.as_json() for finding in result.findings],
    }


def _rendered(path: str, result: JudgedOutcome) -> str:
    """Return the findings about an outcome and, if it is valid, a summary of its content."""
    lines = [
        f"{visible(path)}{f':{finding.line}' if finding.line else ''}: {finding.severity}"
        f" {finding.code} {visible(finding.message)}\n    {finding.fix}"
        for finding in result.findings
    ]
    if isinstance(result, RunOutcome):
        lines.append(
            f"{visible(path)}: {visible(result.status or 'no status')}, "
            f"{counted(len(result.steps), 'step')}, "
            f"{counted(len(result.memory_writes), 'memory write')}"
        )
    return "\n".join(lines)
