"""All formats of a prompt index, by name."""

import json
from collections.abc import Mapping
from dataclasses import replace

from catalog.model import naming
from catalog.prompt_index.formats import form
from catalog.prompt_index.formats.form import (
    Candidate,
    Form,
    Format,
    FormatOptions,
    Item,
    Layout,
    line,
)
from catalog.text.truncate import shorten
from catalog.text.visible import in_attribute, in_code, in_markdown, in_xml, one_line


def lines(options: FormatOptions) -> Form:
    """Return the form that states once where all skills are, then has a line for each."""
    head = f"{in_xml(form.lines(options.language, options.pattern))}\n"
    return _in_block(options, _line_each(options), None, head)


def markdown(options: FormatOptions) -> Form:
    """Return the form of a Markdown list, with the location of each skill."""
    pattern = in_code(options.pattern) if options.pattern else None
    return Form(
        Layout(lambda skill, description: _markdown_entry(skill, description, options)),
        Layout(
            lambda skill, words: f"- {in_markdown(line(skill, words, options))}\n",
            head=f"{form.by_name(options.language, pattern)}\n\n",
        ),
        search_first=f"{in_markdown(options.search_first)}\n\n",
        left_out=lambda count: f"\n{form.left_out(options.language, count)}\n",
    )


def _markdown_entry(skill: Candidate, description: str, options: FormatOptions) -> str:
    mark = "" if skill.user_invocable else f", {form.FOR_AGENTS_ONLY[options.language]}"
    return (
        f"- **{in_markdown(skill.name)}** ({in_code(skill.location)}{mark}): "
        f"{in_markdown(description)}\n"
    )


def xml(options: FormatOptions) -> Form:
    """Return the form with an element for each field of a skill, as the specification has it."""
    return _with_lines(options, _xml_entry)


def semibot(options: FormatOptions) -> Form:
    """Return the form with the folder of a skill, its description, and a line of its files.

    Source: Semibot's product specification of its skill system, on the loading of skills.
    """
    language = options.language

    def entry(skill: Candidate, description: str) -> str:
        folder, _, skill_md = skill.location.rpartition("/")
        return (
            f'  <skill name="{in_attribute(skill.name)}" path="{in_attribute(folder)}/"'
            f"{_mark(skill)}>\n"
            f"    {in_xml(description)}\n"
            f"    {in_xml(form.file_line(skill_md, skill.files, language))}\n  </skill>\n"
        )

    return _with_lines(options, entry, f"\n{form.INSTRUCTION[language]}\n")


def _xml_entry(skill: Candidate, description: str) -> str:
    return (
        f"<skill{_mark(skill)}>\n<name>{in_xml(skill.name)}</name>\n"
        f"<description>{in_xml(description)}</description>\n"
        f"<location>{in_xml(skill.location)}</location>\n</skill>\n"
    )


def _with_lines(options: FormatOptions, entry: Item, foot: str = "") -> Form:
    files = f' files="{in_attribute(options.pattern)}"' if options.pattern else ""
    in_brief = replace(_line_each(options), head=f"<by_name{files}>\n", foot="</by_name>\n")
    return _in_block(options, Layout(entry), in_brief, foot=foot)


def _line_each(options: FormatOptions) -> Layout:
    return Layout(lambda skill, words: f"{in_xml(line(skill, words, options))}\n")


def _in_block(
    options: FormatOptions, entries: Layout, in_brief: Layout | None, head: str = "", foot: str = ""
) -> Form:
    """Return a form whose skills stand within one element, with a foot below it."""
    return Form(
        entries,
        in_brief,
        start="<available_skills>\n",
        head=head,
        foot=f"</available_skills>\n{foot}",
        search_first=f"<search_first>{in_xml(options.search_first)}</search_first>\n",
        left_out=lambda n: f"<left_out>{form.left_out(options.language, n)}</left_out>\n",
    )


def _mark(skill: Candidate) -> str:
    return "" if skill.user_invocable else ' user_invocable="false"'


# JSON

DISCOVERY_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
"""Schema of the Agent Skills discovery index that `discovery` follows."""

MOST_DESCRIPTION = 1024
"""Characters of a description in a discovery index."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


def json_(options: FormatOptions) -> Form:
    """Return the form of one JSON object: skills, or lines for them, and the number left out."""
    files = f'"files": {_text(options.pattern)}, ' if options.pattern else ""
    return Form(
        Layout(_json_entry, head='"skills": [', between=",", foot="\n]"),
        Layout(
            lambda skill, words: _text(line(skill, words, options)),
            head=f'"skills": [],\n"by_name": {{{files}"skills": [\n',
            between=",\n",
            foot="\n]}",
        ),
        start="{",
        foot="}\n",
        search_first=f'"search_first": {_text(options.search_first)},\n',
        left_out=lambda count: f',\n"left_out": {_encode({"count": count})}',
    )


def _json_entry(skill: Candidate, description: str) -> str:
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


FORMATS: dict[str, Format] = {
    "lines": Format(".txt", lines),
    "xml": Format(".xml", xml),
    "semibot": Format(".txt", semibot, names_packages=True),
    "markdown": Format(".md", markdown),
    "json": Format(".json", json_),
    "discovery": Format(".json", discovery),
}
