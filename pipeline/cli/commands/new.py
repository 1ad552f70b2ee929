"""Command that writes the skeleton of a skill."""

from pathlib import Path

import click

from catalog.text.display import visible
from pipeline.authoring import skeleton
from pipeline.cli.options import DONE, PATH


@click.command()
@click.argument("name")
@click.option(
    "--in",
    "parent",
    type=PATH,
    default=Path(),
    help="Directory that gets the folder.  [default: the current one]",
)
def new(name: str, parent: Path) -> int:
    """Write a skill called NAME to fill in: a folder with a SKILL.md.

    As written, it passes every profile that `validate` checks by default.

    \b
    Examples:
      skilldrop new csv-profile
      skilldrop new csv-profile --in ~/drafts
    """
    folder = visible(str(skeleton.make(name, parent)))
    click.echo(
        f"Made {folder}. Fill in {folder}/SKILL.md, check it with `skilldrop validate {folder}`, "
        f"and hand it over with `skilldrop add {folder}`."
    )
    return DONE
