"""The command for those who write runtimes: judges what these say of a run."""

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
    """Validate outcome FILES by hand: what a runtime would drop after a run of a skill.

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
                        "valid": isinstance(said, RunOutcome),
                        "findings": [found.as_json() for found in said.findings],
                    }
                    for file, said in judged.items()
                ]
            )
        )
    else:
        click.echo("\n".join(_told(str(file), said) for file, said in judged.items()))
    return FINDINGS if any(isinstance(said, BadOutcome) for said in judged.values()) else DONE


def _told(path: str, said: JudgedOutcome) -> str:
    """Say of an outcome file what it holds, or what is wrong with it."""
    lines = [
        f"{visible(path)}{f':{found.line}' if found.line else ''}: {found.severity}"
        f" {found.code} {visible(found.message)}\n    {found.fix}"
        for found in said.findings
    ]
    if isinstance(said, RunOutcome):
        lines.append(
            f"{visible(path)}: {visible(said.status or 'no status')}, "
            f"{counted(len(said.steps), 'step')}, "
            f"{counted(len(said.memory_writes), 'memory write')}"
        )
    return "\n".join(lines)
