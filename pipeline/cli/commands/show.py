"""Command that shows one skill and how to install it."""

from collections.abc import Iterator
from typing import Any

import click

from catalog.database.queries import Database
from catalog.filesystem import token_file
from catalog.model.fields import DECLARED
from catalog.reading import card
from catalog.site import address
from catalog.text.suggestions import few
from catalog.text.visible import visible
from pipeline.cli.options import Answer, site_address, with_catalog, with_json
from pipeline.cli.output import skills
from pipeline.cli.output.skills import file_list
from pipeline.config.settings import Settings
from pipeline.roots.names import SKILL_MD


@click.command()
@click.argument("skill")
@with_json
@with_catalog
def show(settings: Settings, db: Database, skill: str) -> Answer:
    """Show the facts on the page of SKILL, and the commands that install it.

    \b
    Examples:
      skilldrop show csv-profile
      skilldrop show csv-profile --json
    """
    host, port = site_address(next(db.query("SELECT * FROM health")), settings)
    site = settings.site.url or address.url(host or settings.site.host, port)
    needs_token = bool(token_file.load(settings.tokens_path))
    facts = card.of_skill(db, skill, site, needs_token=needs_token)
    return Answer(facts, _lines(facts))


_VALUES = [
    (column.short or column.label.lower(), name)
    for name, column in DECLARED.items()
    if column.label
]
_LISTS = (
    ("tags", "tags"),
    ("versions", "versions"),
    ("uses", "uses"),
    ("needs", "needs"),
    ("used by", "used_by"),
)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    reason = f": {facts['status_reason']}" if facts["status_reason"] else ""
    yield click.style(visible(facts["name"]), bold=True)
    yield visible(facts["description"] or "")
    yield visible(f"status    {facts['status']}{reason}")
    yield f"version   {facts['version'] or 'none'}"
    yield visible(f"folder    {facts['root']}/{facts['path']}")
    yield visible(f"location  {facts['location']}")
    yield from (visible(f"{label:9} {facts[key]}") for label, key in _VALUES if facts[key])
    yield from (visible(f"{label:9} {few(facts[key])}") for label, key in _LISTS if facts[key])
    if facts["files"]:
        sizes = [(file["path"], file["size"]) for file in facts["files"]]
        yield file_list(facts["skill_md_name"] or SKILL_MD, sizes)
    yield from skills.details(facts)
    for line in facts["install"]:
        note = f" ({line['note']})" if line["note"] else ""
        yield f"\n{line['client']}{note}:\n  {line['text']}"
    if facts["install_note"]:
        yield f"\n{facts['install_note']}"
