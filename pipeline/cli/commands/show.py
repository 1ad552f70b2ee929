"""Command that shows one skill and how to install it."""

from typing import Any

import click

from catalog.database import connection
from catalog.filesystem import token_file
from catalog.model.fields import DECLARED
from catalog.reading import card
from catalog.site import address
from catalog.text.suggestions import few
from catalog.text.visible import visible
from pipeline.cli.options import DONE, as_json_option, settings_of, site_address, to_json
from pipeline.cli.output import skills
from pipeline.cli.output.skills import file_list
from pipeline.roots.names import SKILL_MD


@click.command()
@click.argument("skill")
@as_json_option
@click.pass_context
def show(context: click.Context, skill: str, as_json: bool) -> int:
    """Show the facts on the page of SKILL, and the commands that install it.

    \b
    Examples:
      skilldrop show csv-profile
      skilldrop show csv-profile --json
    """
    settings = settings_of(context)
    db = connection.open_catalog(settings.catalog_path)
    host, port = site_address(next(db.query("SELECT * FROM health")), settings)
    site = settings.site.url or address.url(host or settings.site.host, port)
    needs_token = bool(token_file.load(settings.tokens_path))
    facts = card.of_skill(db, skill, site, needs_token=needs_token)
    click.echo(to_json(facts) if as_json else _text(facts))
    return DONE


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


def _text(facts: dict[str, Any]) -> str:
    reason = f": {facts['status_reason']}" if facts["status_reason"] else ""
    lines = [
        click.style(visible(facts["name"]), bold=True),
        visible(facts["description"] or ""),
        visible(f"status    {facts['status']}{reason}"),
        f"version   {facts['version'] or 'none'}",
        visible(f"folder    {facts['root']}/{facts['path']}"),
        visible(f"location  {facts['location']}"),
    ]
    lines += [visible(f"{label:9} {facts[key]}") for label, key in _VALUES if facts[key]]
    lines += [visible(f"{label:9} {few(facts[key])}") for label, key in _LISTS if facts[key]]
    if facts["files"]:
        sizes = [(file["path"], file["size"]) for file in facts["files"]]
        lines.append(file_list(facts["skill_md_name"] or SKILL_MD, sizes))
    lines += skills.details(facts)
    for line in facts["install"]:
        note = f" ({line['note']})" if line["note"] else ""
        lines += ["", f"{line['client']}{note}:", f"  {line['text']}"]
    if facts["install_note"]:
        lines += ["", facts["install_note"]]
    return "\n".join(lines)
