"""Formats in JSON: `json` and `discovery`."""

import json
from collections.abc import Mapping

from catalog.model import naming
from catalog.prompt_index.formats.form import Candidate, Form, FormatOptions, Layout, line
from catalog.text.truncate import shorten
from catalog.text.visible import one_line

DISCOVERY_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
"""Schema of the Agent Skills discovery index that `discovery` follows."""

MOST_DESCRIPTION = 1024
"""Characters of a description in a discovery index."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


def json_(options: FormatOptions) -> Form:
    """Return the form of one JSON object: skills, or lines for them, and the number left out."""
    instruction = f'"instruction": {_text(options.instruction)},\n' if options.instruction else ""
    files = f'"files": {_text(options.pattern)}, ' if options.pattern else ""
    return Form(
        Layout(_entry, head='"skills": [', between=",", foot="\n]"),
        Layout(
            lambda skill, words: _text(line(skill, words, options)),
            head=f'"skills": [],\n"by_name": {{{files}"skills": [\n',
            between=",\n",
            foot="\n]}",
        ),
        start="{",
        head=instruction,
        foot="}\n",
        search_first=f'"search_first": {_text(options.search_first)},\n',
        left_out=lambda count: f',\n"left_out": {_encode({"count": count})}',
    )


def _entry(skill: Candidate, description: str) -> str:
    entry: dict[str, object] = {
        "name": one_line(skill.name),
        "description": one_line(description),
        "location": one_line(skill.location),
    }
    if not skill.user_invocable:
        entry["user_invocable"] = False
    return f"\n{_encode(entry)}"


def discovery(_: FormatOptions) -> Form:
    """Return the form of the Agent Skills discovery index 0.2.0.

    A description is cut only where it is longer than the format allows.
    """
    return Form(
        Layout(
            lambda skill, description: (
                "\n"
                + discovery_entry(
                    install_fields(skill.skill_id, skill.name, description),
                    "skill-md",
                    skill.location,
                    skill.skill_md_hash,
                )
            ),
            between=",",
        ),
        start=f'{{"$schema": "{DISCOVERY_SCHEMA}",\n"skills": [',
        foot="\n]}\n",
        whole_only=True,
    )


def discovery_entry(fields: Mapping[str, str], kind: str, url: str, sha256: str) -> str:
    """Return the entry of a skill in a discovery index, from its `install_fields`.

    kind is skill-md for a SKILL.md alone, or archive; sha256 is that of its bytes.
    """
    artifact = {"type": kind, "url": one_line(url), "digest": f"sha256:{sha256}"}
    return _encode({"name": fields["name"], "type": kind, **fields, **artifact})


def install_fields(skill_id: str, name: str, description: str) -> dict[str, str]:
    """Return the name and description of a skill within the limits of discovery.

    A name that installers would not accept is replaced by the install name, and kept as title.
    """
    install_name = naming.install_name(skill_id)
    return {
        "name": install_name,
        "description": _short(one_line(description)),
        **({} if name == install_name else {"title": one_line(name)}),
    }


def _short(text: str) -> str:
    """Return a text or its beginning, within the limit also as installers count: in UTF-16."""
    limit = MOST_DESCRIPTION
    cut = shorten(text, limit)
    while (excess := len(cut.encode("utf-16-le", "replace")) // 2 - MOST_DESCRIPTION) > 0:
        limit -= (excess + 1) // 2
        cut = shorten(text, limit)
    return cut


def _text(text: str) -> str:
    return _encode(one_line(text))
