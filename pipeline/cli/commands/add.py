"""Command that copies skills into a root."""

from pathlib import Path

import click

from catalog.model.paths import text_path
from catalog.text.display import visible
from pipeline.authoring.add import Addition, root_named
from pipeline.authoring.add import add as add_to
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, FINDINGS, as_json_option, to_json


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--root",
    "root_name",
    metavar="PATH|LEVEL",
    help="Root to copy to.  [default: the first root of level project]",
)
@click.option("--replace", is_flag=True, help="Replace an entry of the same name.")
@click.option("--fix", is_flag=True, help="Mend the copy of a folder as `validate --fix` does.")
@as_json_option
@click.pass_context
def add(
    context: click.Context,
    sources: tuple[Path, ...],
    root_name: str | None,
    replace: bool,
    fix: bool,
    as_json: bool,
) -> int:
    """Copy skill folders or archives into a root; exit 1 if one would be rejected.

    Each is first validated with the settings of the root, and copied whole or not at all. A
    running service picks it up at once; otherwise the next `scan` does.

    \b
    Examples:
      skilldrop add ~/drafts/word-count
      skilldrop add skills.zip --root enterprise --replace
    """
    root = root_named(settings_of(context).root_specs, root_name)
    additions = []
    for addition in add_to(sources, root, replace=replace, fix=fix):
        additions.append(addition)
        if not as_json:
            click.echo(_rendered(addition))
    if as_json:
        click.echo(to_json([addition.as_json() for addition in additions]))
    return DONE if all(addition.is_added for addition in additions) else FINDINGS


def _rendered(addition: Addition) -> str:
    """Return the findings of a source, and a line that says whether it was added."""
    lines = [
        f"{visible(judgement.file(finding))}{f':{finding.line}' if finding.line else ''}: "
        f"{finding.severity} {finding.code} {visible(finding.message)}"
        for judgement in addition.judgements
        for finding in judgement.findings
    ]
    place = visible(text_path(str(addition.place)))
    lines.append(
        f"Added {place}{f'; {addition.fixed} fixed' if addition.fixed else ''}."
        if addition.is_added
        else f"Not added to {place}: fix the errors above, then add it again."
    )
    return "\n".join(lines)
