"""Command that explains a finding."""

import difflib

import click

from pipeline.cli.options import DONE
from pipeline.cli.output import rule_page, terminal
from pipeline.cli.output.finding_types import REGISTRY


@click.command()
@click.argument("code", required=False)
def rule(code: str | None) -> int:
    """Explain the finding CODE, with examples; without CODE, list all codes.

    \b
    Examples:
      skilldrop rule name-not-folder
      skilldrop rule | grep safety
    """
    if code is None:
        for kind in REGISTRY.values():
            terminal.echo(f"{kind.code:32} {kind.profile:12} {kind.severity:8} {kind.summary}")
        return DONE
    if code not in REGISTRY:
        near = difflib.get_close_matches(code, REGISTRY, n=1)
        hint = f"did you mean {near[0]}?" if near else "`skilldrop rule` lists all codes."
        raise click.UsageError(f"There is no finding {code!r}; {hint}")
    terminal.echo(rule_page.page(REGISTRY[code]))
    return DONE
