"""Command that writes the skeleton of a skill."""

from pathlib import Path

import click

from catalog.text.visible import visible
from pipeline.authoring import skeleton
from pipeline.cli.options import DONE, PATH
from pipeline.dialects.registry import OWNERS, dialect_named


@click.command()
@click.argument("name")
@click.option(
    "--in",
    "parent",
    type=PATH,
    default=Path(),
    help="Directory for the folder.  [default: the current one]",
)
@click.option(
    "--profile",
    type=click.Choice(list(OWNERS)),
    help="Write a package that passes this profile, too.",
)
def new(name: str, parent: Path, profile: str | None) -> int:
    """Write a skill called NAME to fill in: a folder with a SKILL.md.

    The new skill passes every profile that `validate` checks by default. With --profile it is a
    package for the system of that profile, too.

    \b
    Examples:
      skilldrop new csv-profile
      skilldrop new csv-profile --in ~/drafts
    """
    texts = dialect_named(profile).skeleton if profile else skeleton.PLAIN
    folder = visible(str(skeleton.make(name, parent, texts)))
    click.echo(
        f"Made {folder}. Fill in {folder}/SKILL.md, check it with `skilldrop validate {folder}`, "
        f"and add it to a root with `skilldrop add {folder}`."
    )
    return DONE
