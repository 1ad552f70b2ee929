"""The forms a prompt index can have; each turns skills into text that cannot break out of it."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from catalog.prompt_index import messages
from catalog.prompt_index.messages import Language
from catalog.text.sanitize import in_attribute, in_code, in_markdown, in_xml, one_line

DISCOVERY_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
"""The version of the Agent Skills discovery index that `discovery` writes."""


class Listed(Protocol):
    """What a format says of one skill."""

    @property
    def name(self) -> str:
        """The qualified name."""

    @property
    def skill_id(self) -> str:
        """The slug of the name, under which its package lies."""

    @property
    def location(self) -> str:
        """The path or URL of its SKILL.md."""

    @property
    def follows_pattern(self) -> bool:
        """Whether its location follows from its skill_id."""

    @property
    def version(self) -> str | None:
        """The version that its location names; None where it names none."""

    @property
    def user_invocable(self) -> bool:
        """Whether people are meant to start it, too."""

    @property
    def files(self) -> Sequence[str]:
        """The paths of its scripts, references and templates."""

    @property
    def skill_md_hash(self) -> str:
        """SHA-256 of its SKILL.md, 64 hex digits."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What a configuration may say about the words around the entries."""

    language: Language = "en"
    instruction: str | None = None  # None: the format's own
    how_to_search: str | None = None  # None: our own
    where: str | None = None  # the folder of the skill NAME, where one pattern holds for all


@dataclass(frozen=True, slots=True)
class Names:
    """How the skills that are listed by name alone stand together."""

    head: str
    line: Callable[[Listed], str]
    between: str
    foot: str


@dataclass(frozen=True, slots=True)
class Form:
    """What stands around the entries, and how each part reads."""

    head: str
    entry: Callable[[Listed, str], str]  # of a skill and its description, whole or cut
    foot: str
    between: str = ""  # two entries
    after_entries: str = ""
    names: Names | None = None  # a format without them lists whole entries only
    left_out: Callable[[int], str] = lambda count: ""

    @property
    def frame(self) -> int:
        """The characters that stand around any entries."""
        return len(self.head) + len(self.after_entries) + len(self.foot)

    def compose(self, entries: Sequence[str], names: Sequence[str], left_out: str) -> str:
        """Return the whole text of its parts."""
        block = ""
        if names and self.names:
            block = f"{self.names.head}{self.names.between.join(names)}{self.names.foot}"
        return (
            f"{self.head}{self.between.join(entries)}{self.after_entries}{block}{left_out}"
            f"{self.foot}"
        )


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write an index."""

    ending: str  # of the published file
    form: Callable[[FormatOptions], Form]


# <available_skills>, as agents know it


def _xml(wishes: FormatOptions) -> Form:
    return _tagged(wishes, _xml_entry, wishes.instruction)


def _xml_entry(skill: Listed, description: str) -> str:
    return (
        f"<skill{_mark(skill)}>\n<name>{in_xml(skill.name)}</name>\n"
        f"<description>{in_xml(description)}</description>\n"
        f"<location>{in_xml(skill.location)}</location>\n</skill>\n"
    )


def _semibot(wishes: FormatOptions) -> Form:
    files = messages.FILES[wishes.language]

    def entry(skill: Listed, description: str) -> str:
        folder, _, skill_md = skill.location.rpartition("/")
        said = in_xml(", ".join([skill_md, *_summed_up(skill.files)]))
        return (
            f'<skill name="{in_attribute(skill.name)}" path="{in_attribute(folder)}/"'
            f"{_mark(skill)}>\n"
            f"{in_xml(description)}\n{files}{said}\n</skill>\n"
        )

    own = messages.INSTRUCTION[wishes.language]
    return _tagged(wishes, entry, own if wishes.instruction is None else wishes.instruction)


def _tagged(
    wishes: FormatOptions, entry: Callable[[Listed, str], str], instruction: str | None
) -> Form:
    where = f' files="{in_attribute(wishes.where)}"' if wishes.where else ""
    return Form(
        head="<available_skills>\n" + (f"{in_xml(instruction)}\n" if instruction else ""),
        entry=entry,
        foot="</available_skills>\n",
        names=Names(
            f"<by_name{where}>\n",
            lambda skill: f"{in_xml(_named(skill, wishes))}\n",
            "",
            "</by_name>\n",
        ),
        left_out=lambda count: f"<left_out>{in_xml(_rest(wishes, count))}</left_out>\n",
    )


def _mark(skill: Listed) -> str:
    return "" if skill.user_invocable else ' user_invocable="false"'


_MOST_FILES = 6


def _summed_up(paths: Sequence[str]) -> list[str]:
    """Return a lone file of a folder by its path, several as `scripts/ (8)`."""
    tops = [path.partition("/") for path in paths]
    counts = Counter(top for top, slash, _ in tops if slash)
    said = list(
        dict.fromkeys(
            f"{top}/ ({counts[top]})" if counts[top] > 1 else f"{top}{slash}{rest}"
            for top, slash, rest in tops
        )
    )
    more = len(said) - _MOST_FILES
    return [*said[:_MOST_FILES], f"… ({more})"] if more > 0 else said


# Markdown: a line for each skill


def _markdown(wishes: FormatOptions) -> Form:
    head = f"{in_markdown(wishes.instruction)}\n\n" if wishes.instruction else ""
    where = in_code(wishes.where) if wishes.where else None
    return Form(
        head=head,
        entry=lambda skill, said: _markdown_entry(skill, said, wishes),
        foot="",
        names=Names(
            f"\n{messages.by_name(wishes.language, where)}\n\n",
            lambda skill: f"- {in_markdown(_named(skill, wishes))}\n",
            "",
            "",
        ),
        left_out=lambda count: f"\n{one_line(_rest(wishes, count))}\n",
    )


def _markdown_entry(skill: Listed, description: str, wishes: FormatOptions) -> str:
    mark = "" if skill.user_invocable else f", {messages.PEOPLE_DO_NOT_START_IT[wishes.language]}"
    return (
        f"- **{in_markdown(skill.name)}** ({in_code(skill.location)}{mark}): "
        f"{in_markdown(description)}\n"
    )


# JSON

_encode = json.JSONEncoder(ensure_ascii=False).encode


def _json(wishes: FormatOptions) -> Form:
    instruction = f'"instruction": {_text(wishes.instruction)},\n' if wishes.instruction else ""
    where = f'"files": {_text(wishes.where)}, ' if wishes.where else ""
    return Form(
        head=f'{{{instruction}"skills": [',
        entry=_json_entry,
        between=",",
        after_entries="\n]",
        foot="}\n",
        names=Names(
            f',\n"by_name": {{{where}"names": [',
            lambda skill: _text(_named(skill, wishes)),
            ", ",
            "]}",
        ),
        left_out=lambda count: (
            ',\n"left_out": ' + _encode({"count": count, "say": one_line(_rest(wishes, count))})
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
    """Follow the Agent Skills discovery index 0.2.0, in which a skill is whole or absent."""
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
    """Return what a discovery index says of a skill: where its artifact is, and which it is.

    kind is skill-md for a SKILL.md by itself, or archive; sha256 is that of its bytes.
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


# What the formats share


def _named(skill: Listed, wishes: FormatOptions) -> str:
    """Return a name and, where its place does not follow from it, what leads there."""
    if wishes.where is None:
        return skill.name
    leads = [skill.skill_id] if skill.name != skill.skill_id else []
    leads += [skill.version] if skill.version else []
    if not skill.follows_pattern:
        leads = [skill.location]
    return f"{skill.name} ({', '.join(leads)})" if leads else skill.name


def _rest(wishes: FormatOptions, count: int) -> str:
    return messages.left_out(wishes.language, count, wishes.how_to_search)


FORMATS: dict[str, Format] = {
    "xml": Format(".xml", _xml),
    "semibot": Format(".xml", _semibot),
    "markdown": Format(".md", _markdown),
    "json": Format(".json", _json),
    "discovery": Format(".json", _discovery),
}
