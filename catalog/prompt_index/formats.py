"""Formats of a prompt index; in each, no text of a skill can end its own entry."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from catalog.prompt_index import messages
from catalog.prompt_index.messages import Language
from catalog.text.sanitize import in_attribute, in_code, in_markdown, in_xml, one_line

DISCOVERY_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
"""Schema of the Agent Skills discovery index that `discovery` follows."""


class Listed(Protocol):
    """Fields of a skill that formats write."""

    @property
    def name(self) -> str:
        """Qualified name."""

    @property
    def skill_id(self) -> str:
        """Slug of the name, which is also the folder of its packages."""

    @property
    def location(self) -> str:
        """Path or URL of its SKILL.md."""

    @property
    def follows_pattern(self) -> bool:
        """Whether its location follows from its skill_id."""

    @property
    def version(self) -> str | None:
        """Version that its location names; None where it names none."""

    @property
    def user_invocable(self) -> bool:
        """Whether people may start it, too."""

    @property
    def files(self) -> Sequence[str]:
        """Paths of its scripts, references and templates."""

    @property
    def skill_md_hash(self) -> str:
        """SHA-256 of its SKILL.md, 64 hex digits."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """Settings of the text around the entries."""

    language: Language = "en"
    instruction: str | None = None  # None: that of the format
    how_to_search: str | None = None  # None: the default sentence
    pattern: str | None = None  # of the folder of a skill NAME; None where there is none for all


@dataclass(frozen=True, slots=True)
class Names:
    """Layout of the skills listed by name only."""

    head: str
    line: Callable[[Listed], str]
    between: str
    foot: str


@dataclass(frozen=True, slots=True)
class Form:
    """Layout of an index: its entries, names, and the text around them."""

    head: str
    entry: Callable[[Listed, str], str]  # from a skill and its description, whole or cut
    foot: str
    between: str = ""  # separates two entries
    after_entries: str = ""
    names: Names | None = None  # None: whole entries only
    left_out: Callable[[int], str] = lambda count: ""

    @property
    def frame(self) -> int:
        """Number of characters around the entries."""
        return len(self.head) + len(self.after_entries) + len(self.foot)

    def compose(self, entries: Sequence[str], names: Sequence[str], left_out: str) -> str:
        """Return the whole text."""
        block = ""
        if names and self.names:
            block = f"{self.names.head}{self.names.between.join(names)}{self.names.foot}"
        return (
            f"{self.head}{self.between.join(entries)}{self.after_entries}{block}{left_out}"
            f"{self.foot}"
        )


@dataclass(frozen=True, slots=True)
class Format:
    """Format of an index."""

    ending: str  # of the published file
    form: Callable[[FormatOptions], Form]


# <available_skills>, as agents know it


def _xml(options: FormatOptions) -> Form:
    return _tagged(options, _xml_entry, options.instruction)


def _xml_entry(skill: Listed, description: str) -> str:
    return (
        f"<skill{_mark(skill)}>\n<name>{in_xml(skill.name)}</name>\n"
        f"<description>{in_xml(description)}</description>\n"
        f"<location>{in_xml(skill.location)}</location>\n</skill>\n"
    )


def _semibot(options: FormatOptions) -> Form:
    files = messages.FILES[options.language]

    def entry(skill: Listed, description: str) -> str:
        folder, _, skill_md = skill.location.rpartition("/")
        listed = in_xml(", ".join([skill_md, *_summarized(skill.files)]))
        return (
            f'<skill name="{in_attribute(skill.name)}" path="{in_attribute(folder)}/"'
            f"{_mark(skill)}>\n"
            f"{in_xml(description)}\n{files}{listed}\n</skill>\n"
        )

    default = messages.INSTRUCTION[options.language]
    return _tagged(options, entry, default if options.instruction is None else options.instruction)


def _tagged(
    options: FormatOptions, entry: Callable[[Listed, str], str], instruction: str | None
) -> Form:
    files = f' files="{in_attribute(options.pattern)}"' if options.pattern else ""
    return Form(
        head="<available_skills>\n" + (f"{in_xml(instruction)}\n" if instruction else ""),
        entry=entry,
        foot="</available_skills>\n",
        names=Names(
            f"<by_name{files}>\n",
            lambda skill: f"{in_xml(_named(skill, options))}\n",
            "",
            "</by_name>\n",
        ),
        left_out=lambda count: f"<left_out>{in_xml(_left_out(options, count))}</left_out>\n",
    )


def _mark(skill: Listed) -> str:
    return "" if skill.user_invocable else ' user_invocable="false"'


_MOST_FILES = 6


def _summarized(paths: Sequence[str]) -> list[str]:
    """Return the only file of a folder by its path, several as `scripts/ (8)`."""
    tops = [path.partition("/") for path in paths]
    counts = Counter(top for top, slash, _ in tops if slash)
    summary = list(
        dict.fromkeys(
            f"{top}/ ({counts[top]})" if counts[top] > 1 else f"{top}{slash}{rest}"
            for top, slash, rest in tops
        )
    )
    more = len(summary) - _MOST_FILES
    return [*summary[:_MOST_FILES], f"… ({more})"] if more > 0 else summary


# Markdown: a line for each skill


def _markdown(options: FormatOptions) -> Form:
    head = f"{in_markdown(options.instruction)}\n\n" if options.instruction else ""
    pattern = in_code(options.pattern) if options.pattern else None
    return Form(
        head=head,
        entry=lambda skill, description: _markdown_entry(skill, description, options),
        foot="",
        names=Names(
            f"\n{messages.by_name(options.language, pattern)}\n\n",
            lambda skill: f"- {in_markdown(_named(skill, options))}\n",
            "",
            "",
        ),
        left_out=lambda count: f"\n{one_line(_left_out(options, count))}\n",
    )


def _markdown_entry(skill: Listed, description: str, options: FormatOptions) -> str:
    mark = "" if skill.user_invocable else f", {messages.FOR_AGENTS_ONLY[options.language]}"
    return (
        f"- **{in_markdown(skill.name)}** ({in_code(skill.location)}{mark}): "
        f"{in_markdown(description)}\n"
    )


# JSON

_encode = json.JSONEncoder(ensure_ascii=False).encode


def _json(options: FormatOptions) -> Form:
    instruction = f'"instruction": {_text(options.instruction)},\n' if options.instruction else ""
    files = f'"files": {_text(options.pattern)}, ' if options.pattern else ""
    return Form(
        head=f'{{{instruction}"skills": [',
        entry=_json_entry,
        between=",",
        after_entries="\n]",
        foot="}\n",
        names=Names(
            f',\n"by_name": {{{files}"names": [',
            lambda skill: _text(_named(skill, options)),
            ", ",
            "]}",
        ),
        left_out=lambda count: (
            ',\n"left_out": '
            + _encode({"count": count, "say": one_line(_left_out(options, count))})
        ),
    )


def _json_entry(skill: Listed, description: str) -> str:
    entry: dict[str, object] = {
        "name": one_line(skill.name),
        "description": one_line(description),
        "location": one_line(skill.location),
    }
    if not skill.user_invocable:
        entry["user_invocable"] = False
    return f"\n{_encode(entry)}"


def _discovery(_: FormatOptions) -> Form:
    """Return the form of the Agent Skills discovery index 0.2.0, which cuts no description."""
    return Form(
        head=f'{{"$schema": "{DISCOVERY_SCHEMA}",\n"skills": [',
        entry=_discovery_entry,
        between=",",
        after_entries="\n]",
        foot="}\n",
    )


def _discovery_entry(skill: Listed, description: str) -> str:
    return "\n" + discovery_entry(
        skill.skill_id, "skill-md", description, skill.location, skill.skill_md_hash
    )


def discovery_entry(name: str, kind: str, description: str, url: str, sha256: str) -> str:
    """Return the entry of a skill in a discovery index.

    kind is skill-md for a SKILL.md alone, or archive; sha256 is that of its bytes.
    """
    return _encode(
        {
            "name": name,
            "type": kind,
            "description": one_line(description),
            "url": one_line(url),
            "digest": f"sha256:{sha256}",
        }
    )


def _text(text: str) -> str:
    return _encode(one_line(text))


# Shared by the formats


def _named(skill: Listed, options: FormatOptions) -> str:
    """Return a name, and where the pattern needs more than the name, the missing parts."""
    if options.pattern is None:
        return skill.name
    parts = [skill.skill_id] if skill.name != skill.skill_id else []
    parts += [skill.version] if skill.version else []
    if not skill.follows_pattern:
        parts = [skill.location]
    return f"{skill.name} ({', '.join(parts)})" if parts else skill.name


def _left_out(options: FormatOptions, count: int) -> str:
    return messages.left_out(options.language, count, options.how_to_search)


FORMATS: dict[str, Format] = {
    "xml": Format(".xml", _xml),
    "semibot": Format(".xml", _semibot),
    "markdown": Format(".md", _markdown),
    "json": Format(".json", _json),
    "discovery": Format(".json", _discovery),
}
