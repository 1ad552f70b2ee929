"""Command that writes the skeleton of a skill."""

from pathlib import Path

import click

from catalog.text.visible import visible
from pipeline.authoring import skeleton
from pipeline.cli.options import DONE, PATH


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
    type=click.Choice(["apexbridge"]),
    help="Write a package that passes this profile, too.",
)
def new(name: str, parent: Path, profile: str | None) -> int:
    """Write a skill called NAME to fill in: a folder with a SKILL.md.

    The new skill passes every profile that `validate` checks by default. With --profile apexbridge
    it is a package for ApexBridge, with a script.

    \b
    Examples:
      skilldrop new csv-profile
      skilldrop new csv-profile --in ~/drafts
      skilldrop new unit-converter --profile apexbridge
    """
    folder = visible(str(skeleton.make(name, parent, is_apexbridge=bool(profile))))
    click.echo(
        f"Made {folder}. Fill in {folder}/SKILL.md, check it with `skilldrop validate {folder}`, "
        f"and add it to a root with `skilldrop add {folder}`."
    )
    return DONE
