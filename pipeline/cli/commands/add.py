"""The command that copies skills into a root."""

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
    help="Which root.  [default: the first of level project]",
)
@click.option("--replace", is_flag=True, help="Put it in the place of what has its name there.")
@as_json_option
@click.pass_context
def add(
    context: click.Context,
    sources: tuple[Path, ...],
    root_name: str | None,
    replace: bool,
    as_json: bool,
) -> int:
    """Copy skill folders or archives into a root whole; exit 1 where one would be rejected.

    Each is judged first as the root would judge it. A service that runs takes it in at once, else
    the next `scan` does.

    \b
    Examples:
      skilldrop add ~/drafts/word-count
      skilldrop add skills.zip --root enterprise --replace
    """
    root = root_named(settings_of(context).root_specs, root_name)
    done = []
    for addition in add_to(sources, root, replace=replace):
        done.append(addition)
        if not as_json:
            click.echo(_told(addition))
    if as_json:
        click.echo(to_json([addition.as_json() for addition in done]))
    return DONE if all(addition.is_added for addition in done) else FINDINGS


def _told(done: Addition) -> str:
    """Say whether a source was added, and what there is to say of its skills."""
    lines = [
        f"{visible(one.file(found))}{f':{found.line}' if found.line else ''}: "
        f"{found.severity} {found.code} {visible(found.message)}"
        for one in done.judgements
        for found in one.findings
    ]
    place = visible(text_path(str(done.place)))
    lines.append(
        f"Added {place}."
        if done.is_added
        else f"Not added to {place}: mend what is an error above, then add it again."
    )
    return "\n".join(lines)
