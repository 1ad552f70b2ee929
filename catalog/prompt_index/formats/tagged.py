"""Formats in XML elements: `xml`, `xml-compact` and `semibot`."""

from collections import Counter
from collections.abc import Sequence

from catalog.prompt_index import messages
from catalog.prompt_index.formats.form import Form, FormatOptions, Item, Layout, Listed, line
from catalog.text.sanitize import in_attribute, in_xml

_MOST_FILES = 6


def xml(options: FormatOptions) -> Form:
    """Return the form with an element for each field of a skill, as the specification has it."""
    return _with_lines(options, _xml_entry, options.instruction)


def xml_compact(options: FormatOptions) -> Form:
    """Return the form with one element a skill, whose location follows from a pattern."""
    files = f' files="{in_attribute(options.pattern)}"' if options.pattern else ""

    def entry(skill: Listed, description: str) -> str:
        file = _compact_location(skill, options)
        opening = f'<skill name="{in_attribute(skill.name)}"{file}{_mark(skill)}'
        return f"{opening}>{in_xml(description)}</skill>\n" if description else f"{opening}/>\n"

    return Form(
        Layout(entry),
        start=f"<available_skills{files}>\n",
        head=_instruction(options.instruction),
        foot="</available_skills>\n",
        search_first=_search_first(options),
        left_out=lambda count: _left_out(options, count),
    )


def semibot(options: FormatOptions) -> Form:
    """Return the form with the folder of a skill, its description, and a line of its files."""
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
    return _with_lines(
        options, entry, default if options.instruction is None else options.instruction
    )


def _xml_entry(skill: Listed, description: str) -> str:
    return (
        f"<skill{_mark(skill)}>\n<name>{in_xml(skill.name)}</name>\n"
        f"<description>{in_xml(description)}</description>\n"
        f"<location>{in_xml(skill.location)}</location>\n</skill>\n"
    )


def _with_lines(options: FormatOptions, entry: Item, instruction: str | None) -> Form:
    files = f' files="{in_attribute(options.pattern)}"' if options.pattern else ""
    return Form(
        Layout(entry),
        Layout(
            lambda skill, words: f"{in_xml(line(skill, words, options))}\n",
            head=f"<by_name{files}>\n",
            foot="</by_name>\n",
        ),
        start="<available_skills>\n",
        head=_instruction(instruction),
        foot="</available_skills>\n",
        search_first=_search_first(options),
        left_out=lambda count: _left_out(options, count),
    )


def _instruction(instruction: str | None) -> str:
    return f"{in_xml(instruction)}\n" if instruction else ""


def _search_first(options: FormatOptions) -> str:
    return f"<search_first>{in_xml(options.search_first)}</search_first>\n"


def _left_out(options: FormatOptions, count: int) -> str:
    return f"<left_out>{in_xml(options.left_out(count))}</left_out>\n"


def _mark(skill: Listed) -> str:
    return "" if skill.user_invocable else ' user_invocable="false"'


def _compact_location(skill: Listed, options: FormatOptions) -> str:
    """Return the attribute of a location that does not follow from the name."""
    is_plain = skill.name == skill.skill_id and not skill.version and skill.follows_pattern
    return "" if options.pattern and is_plain else f' file="{in_attribute(skill.location)}"'


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
