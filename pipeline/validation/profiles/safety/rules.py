"""Rules of safety: content that could deceive a reader, mislead an agent or run on its machine.

They read the frontmatter, the body, and the texts of all files, whether linked or not.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias

from catalog.model.finding import Finding
from catalog.model.skill import FileEntry
from catalog.text import humanize
from catalog.text.suggestions import few
from catalog.text.visible import (
    BIDI,
    CHARACTER_PART,
    FLAG_PART,
    JOINERS,
    LONGEST_QUOTE,
    MARKS,
    NEVER_SEEN,
    SELECTORS,
    TAGS,
    beyond_ascii,
    printable,
    quoted,
)
from pipeline.parsing.markdown import block_at
from pipeline.roots.file_kinds import may_be_native
from pipeline.roots.words import found, lower
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.safety import codes
from pipeline.validation.profiles.safety.dangers import Danger, dangers
from pipeline.validation.skill import MOST_ALIKE, Skill, Text

_HIDDEN = {
    "invisible": (codes.INVISIBLE_CHARACTERS, "an invisible character"),
    "bidi": (codes.BIDI_CHARACTERS, "a bidirectional control"),
    "tag": (codes.TAG_CHARACTERS, "a tag character"),
}
_ALIKE = frozenset({"LATIN", "GREEK", "CYRILLIC", "ARMENIAN"})
_PROMPT_FIELDS = ("name", "displayName", "description", "when_to_use")
_TAG = re.compile(
    r"</\s*[a-z]"
    r"|<\s*(?:available_skills|skills?|name|description|location|system|instructions?|assistant"
    r"|developer|human|function_calls|tool_use|tool_result|invoke)\b[^<>]{0,100}>"
    r"|<!--|-->|<!\[CDATA\[|\]\]>|<\|[a-z_]{1,40}\|>|\[/?INST\]",
    re.IGNORECASE,
)

_TOOL = re.compile(r"([^\s()]{1,200})(?:\(([^()\n]{0,1000})\))?")
_SHELLS = frozenset({"bash", "powershell", "shell", "sh", "zsh", "terminal", "execute"})
_ANYTHING = re.compile(r"[*:/\s]*")
_RUNS_ANYTHING = re.compile(
    r"(?:ba|z|da|fi|k)?sh(?::| -\w*c\b| \*| $)|(?:sudo|su|eval|exec|env|xargs|pwsh|powershell"
    r"|cmd)[: ]\W*$"
)


def no_hidden_text(skill: Skill) -> Iterator[Finding]:
    """Find invisible characters, bidi controls and tags in fields, texts and file names."""
    for each in skill.judged:
        for hidden in hidden_in(each.content):
            message = _message(hidden, each.name)
            yield each.finding(_HIDDEN[hidden.kind][0], message, offset=hidden.offset)
    for file in skill.files:
        for hidden in hidden_in(file.path):
            yield _HIDDEN[hidden.kind][0].at(_message(hidden, "The file's name"), path=file.path)


def no_mixed_scripts(skill: Skill) -> Iterator[Finding]:
    """Find a word of the name that mixes scripts which look alike; Chinese may mix."""
    name = skill.frontmatter.get("name")
    if not isinstance(name, str) or name.isascii():
        return
    for word in re.findall(r"[^\W_]+", name):
        scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
        if len(scripts & _ALIKE) > 1:
            message = f"The word {quoted(word)} mixes letters of scripts that look alike."
            yield skill.finding(codes.NAME_CONFUSABLE, message, field="name")


def no_markup_in_the_prompt(skill: Skill) -> Iterator[Finding]:
    """Find markup in fields put into prompts that could close or open a tag there."""
    for field in _PROMPT_FIELDS:
        value = skill.frontmatter.get(field)
        if isinstance(value, str) and (tag := _TAG.search(value)):
            yield skill.finding(
                codes.MARKUP_IN_PROMPT,
                f"{field} contains {quoted(tag[0])}, which could close or open a tag in a prompt.",
                field=field,
            )


def no_dangers(skill: Skill) -> Iterator[Finding]:
    """Find dangerous commands and requests to ignore instructions or hide something.

    Those that a text only names, and a text of which not all is judged, are reported, too.
    """
    counts: Counter[str] = Counter()
    for text in skill.judged:
        if text.is_cut:
            yield text.finding(codes.JUDGED_IN_PART, offset=0)
        named: list[Danger] = []
        for danger in dangers(text.content, text.words, _quotes(text)):
            if danger.is_named or _is_in_fence(text, danger):
                named.append(danger)
                continue
            counts[danger.kind.code] += 1
            if counts[danger.kind.code] <= MOST_ALIKE:
                is_cut = danger.kind == codes.JUDGED_IN_PART
                message = None if is_cut else f"{text.name} contains {quoted(danger.words)}."
                yield text.finding(danger.kind, message, offset=danger.offset)
        if named:
            more = f" and {humanize.count(len(named) - 1, 'other')}" if named[1:] else ""
            message = f"{text.name} only names {quoted(named[0].words)}{more}."
            yield text.finding(codes.DANGER_NAMED, message, offset=named[0].offset)


def no_dangers_in_names(skill: Skill) -> Iterator[Finding]:
    """Find names of files that are commands or requests, however their words are joined."""
    names = _JOINTS.sub(" ", "\n|\n".join(file.path for file in skill.files))
    for danger in islice(dangers(names, found(lower(names))), MOST_ALIKE):
        path = skill.files[names.count("\n", 0, danger.offset) // 2].path
        yield danger.kind.at(f"The file's name contains {quoted(danger.words)}.", path=path)


def all_texts_are_judged(skill: Skill) -> Iterator[Finding]:
    """Find files whose texts are not judged."""
    if paths := skill.unjudged:
        yield codes.NOT_JUDGED.at(f"Not judged for safety: {few(paths, _MOST_NAMED)}.")


def no_links_to_machine(skill: Skill) -> Iterator[Finding]:
    """Find links to the reader's machine: its system folders, home folders or drives."""
    to_machine = (
        (text, link)
        for text in skill.texts
        if not text.is_script
        for link in text.references
        if link.sign == "machine" and text.content[link.offset] == "]"  # not an address in HTML
    )
    for text, reference in islice(to_machine, MOST_ALIKE):
        message = f"A link points to {quoted(reference.target)}, a place on the reader's machine."
        yield text.finding(codes.LINK_TO_MACHINE, message, offset=reference.offset)


def no_native_binaries(skill: Skill) -> Iterator[Finding]:
    """Find compiled programs and libraries, which cannot be read as text."""
    for file in islice(filter(_is_native, skill.files), MOST_ALIKE):
        yield codes.NATIVE_BINARY.at(path=file.path)


def tools_are_restricted(skill: Skill) -> Iterator[Finding]:
    """Find allowed-tools that let the agent do anything without asking for permission."""
    tools = skill.declared.allowed_tools
    if tools and (broad := [tool[0] for tool in _TOOL.finditer(tools) if _is_broad(tool)]):
        message = f"allowed-tools allows anything without asking: {printable(', '.join(broad))}."
        yield skill.finding(codes.ALLOWED_TOOLS_BROAD, message, field="allowed-tools")


SAFETY = Profile(
    "safety",
    codes.TYPES,
    (
        no_hidden_text,
        no_mixed_scripts,
        no_markup_in_the_prompt,
        no_dangers,
        no_dangers_in_names,
        all_texts_are_judged,
        tools_are_restricted,
        no_links_to_machine,
        no_native_binaries,
    ),
)


Kind: TypeAlias = Literal["invisible", "bidi", "tag"]

_ANY = re.compile(f"[{JOINERS}{SELECTORS}{NEVER_SEEN}{BIDI}{MARKS}{TAGS}]")
_UNSEEN = re.compile(f"[{JOINERS}{SELECTORS}{NEVER_SEEN}]")
_EACH = f"{_UNSEEN.pattern}(?<!{CHARACTER_PART})"
_INVISIBLE = re.compile(f"{_EACH}(?:{_EACH})*+")  # it starts with a set, to which the engine skips
_BIDI, _BIDI_OR_MARK = re.compile(f"[{BIDI}]++"), re.compile(f"[{BIDI}{MARKS}]++")
_IN_TAG, _FLAG = re.compile(f"[{TAGS}]++"), re.compile(FLAG_PART)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")
_SHOWN = 2 * LONGEST_QUOTE  # some tags are no letters
_TAG_LETTERS = {
    0xE0000 + code: chr(code) if chr(code).isprintable() else None for code in range(128)
}


class Hidden(NamedTuple):
    """Hidden characters of one kind in one text."""

    kind: Kind
    offset: int  # of the first, in characters
    number: int
    start: str  # the first characters


def hidden_in(text: str) -> tuple[Hidden, ...]:
    """Return the hidden characters of a text, one value per kind, in the order of their offsets.

    Joiners in emoji and in scripts that need them, single variation selectors, flags spelled in
    tags, and directional marks in right-to-left text are not hidden. Source: Unicode Technical
    Standards #39 and #51, Standard Annex #9.
    """
    if text.isascii() or not _ANY.search(beyond := beyond_ascii(text)):
        return ()
    if _IN_TAG.search(beyond):
        text = _FLAG.sub(lambda flag: " " * len(flag[0]), text)
    bidi = _BIDI if _RIGHT_TO_LEFT.search(beyond) else _BIDI_OR_MARK
    found_here: list[Hidden] = []
    kinds: Iterable[tuple[Kind, re.Pattern[str], re.Pattern[str]]] = (
        ("invisible", _UNSEEN, _INVISIBLE),
        ("bidi", bidi, bidi),
        ("tag", _IN_TAG, _IN_TAG),
    )
    for kind, rough, exact in kinds:
        if rough.search(beyond) and (first := exact.search(text)):
            characters = "".join(exact.findall(text, first.start()))
            found_here.append(Hidden(kind, first.start(), len(characters), characters[:_SHOWN]))
    return tuple(sorted(found_here, key=attrgetter("offset")))


_MOST_NAMED = 5
_JOINTS = re.compile(r"[-_.]+")  # of the words of a file name
_WITH_TEMPLATES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".go")


def _quotes(text: Text) -> str:
    """Return the marks around texts in a script; none in a document."""
    quotes = "'\"`" if text.path.endswith(_WITH_TEMPLATES) else "'\""
    return quotes if text.is_script else ""


def _is_in_fence(text: Text, danger: Danger) -> bool:
    """Return whether a document shows an override in a code fence."""
    if text.is_script or danger.kind != codes.INSTRUCTION_OVERRIDE:
        return False
    return bool(block_at([b for b in text.blocks if not b.is_comment], danger.offset))


def _message(hidden: Hidden, place: str) -> str:
    code, others = f"U+{ord(hidden.start[0]):04X}", hidden.number - 1
    more = f" and {others:,} more" if others else ""
    spelled = hidden.start.translate(_TAG_LETTERS) if hidden.kind == "tag" else ""
    spelling = f", which spell {quoted(spelled)}" if spelled else ""
    return f"{printable(place)} contains {_HIDDEN[hidden.kind][1]}, {code}{more}{spelling}."


def _is_native(file: FileEntry) -> bool:
    return not file.is_text and may_be_native(file.path, file.mode)


def _is_broad(tool: re.Match[str]) -> bool:
    name, pattern = tool[1].lower(), tool[2]
    if not name.strip("*"):
        return True
    if pattern is None:
        return name in _SHELLS
    if _ANYTHING.fullmatch(pattern):
        return True
    return name in _SHELLS and bool(_RUNS_ANYTHING.match(f"{pattern} "))
