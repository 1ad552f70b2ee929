"""Command for authors of runtimes: validates outcome files."""

from pathlib import Path

import click

from catalog.model.outcome import BadOutcome, JudgedOutcome, RunOutcome
from catalog.text.display import visible
from pipeline.cli.options import DONE, FINDINGS, as_json_option, to_json
from pipeline.cli.output.terminal import counted
from pipeline.outcomes.collect import judge_file


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@as_json_option
def outcome(files: tuple[Path, ...], as_json: bool) -> int:
    """Validate outcome FILES, which runtimes write after each run of a skill.

    \b
    Examples:
      skilldrop outcome run-17.json
      skilldrop outcome var/outcomes/*/*.json --json
    """
    judged = {file: judge_file(file) for file in files}
    if as_json:
        click.echo(
            to_json(
                [
                    {
                        "path": str(file),
                        "valid": isinstance(result, RunOutcome),
                        "findings": [finding.as_json() for finding in result.findings],
                    }
                    for file, result in judged.items()
                ]
            )
        )
    else:
        click.echo("\n".join(_rendered(str(file), result) for file, result in judged.items()))
    return FINDINGS if any(isinstance(result, BadOutcome) for result in judged.values()) else DONE


def _rendered(path: str, result: JudgedOutcome) -> str:
    """Return the findings of an outcome file and, if it is valid, a summary of its content."""
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
