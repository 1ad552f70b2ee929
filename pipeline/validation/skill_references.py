"""References of a skill to other skills: links to their files, and declared dependencies."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, islice
from posixpath import dirname, normpath

from catalog.model.paths import linked
from catalog.model.skill import MIXED_FIELDS, SkillReference
from catalog.model.values import Json
from pipeline.parsing.markdown import block_at
from pipeline.roots.file_kinds import is_read
from pipeline.roots.words import searched
from pipeline.validation.references import MOST_REFERENCES, Reference
from pipeline.validation.skill import Skill, Text

DECLARING = ("depends_on", "depends-on", "dependsOn", "required_skills", "skill_dependencies")
"""Fields that name skills, at the top level or in `metadata`."""
MOST_DECLARED = 100
"""Names of one skill that are read, at most."""

_MARKDOWN = (".md", ".markdown")
_NESTED_SKILL_MD = "/skill.md"
_LEADING_OUT = searched(("../", "/skill.md"))
_IN_CODE = re.compile(
    r"(?<=[`\s\"'=])((?:\.\./)+[\w@+-][\w.@+-]{0,100}/(?:SKILL\.md"
    r"|(?:scripts|references?|assets|templates)/[\w./@+-]{1,200}\.\w{1,8}))[^`\n]{0,200}`"
)
_LIST = re.compile(r"[\s,，、;；]+")
_NAME = re.compile(r"[\w.:-]*[^\W_][\w.:-]*")
_VERSION = re.compile(r"\s*[@<>=~^!].*", re.DOTALL)


def of(skill: Skill) -> tuple[SkillReference, ...]:
    """Return the references to other skills, those of each file in their order, then declared ones.

    A skill in a folder below counts, too, if its SKILL.md is linked: its files are its own.
    A path in a code span counts if it leads to a SKILL.md, or to a usual folder of another skill.
    """
    files = frozenset(file.path.lower() for file in skill.files)
    others = (text for text in skill.others if may_link(text.path))
    found = chain.from_iterable(_links(text, files) for text in (skill.body, *others))
    return (*islice(found, MOST_REFERENCES), *islice(_declared(skill), MOST_DECLARED))


def may_link(path: str) -> bool:
    """Return whether the references of a file to other skills are read."""
    return path.lower().endswith(_MARKDOWN) and is_read(path)


def nested_skills(missing: Iterable[Reference]) -> set[str]:
    """Return the folders whose SKILL.md is linked, of references to files that are missing."""
    return {
        dirname(link.target) for link in missing if link.target.lower().endswith(_NESTED_SKILL_MD)
    }


def is_below(folders: Iterable[str], path: str) -> bool:
    """Return whether a path lies in one of the folders."""
    return any(path.startswith(f"{folder}/") for folder in folders)


def _links(text: Text, files: Container[str]) -> Iterator[SkillReference]:
    """Yield the references of a text that lead to files of other skills.

    `files` contains the paths of the skill's own files, in lower case.
    """
    path, content = text.path, text.content
    if text.words.keys().isdisjoint(_LEADING_OUT):
        return  # true of most texts
    offsets = {link.target: link.offset for link in text.references if link.sign != "machine"}
    offsets |= dict(_in_code(text))
    places = {target: linked(path, target) for target in offsets if not target.startswith("/")}
    inside = [Reference(at, 0) for at in places.values() if at.lower() not in files]
    nested = nested_skills(inside)
    line, end = text.first_line, 0
    for target, place in sorted(places.items(), key=lambda item: offsets[item[0]]):
        if place.startswith("../") or (place.lower() not in files and is_below(nested, place)):
            line, end = line + content.count("\n", end, offsets[target]), offsets[target]
            yield SkillReference("link", target, path, line)


def _in_code(text: Text) -> Iterator[tuple[str, int]]:
    """Yield path and offset of the paths to files of other skills in code spans, last first."""
    for at in reversed(text.words.get("../", [])[:MOST_REFERENCES]):
        before = text.content[max(at - 200, 0) : at].rpartition("\n")[2]
        code = _IN_CODE.match(text.content, at) if "`" in before else None
        if code and not block_at(text.blocks, at):
            yield normpath(code[1]), at


def _declared(skill: Skill) -> Iterator[SkillReference]:
    """Yield the skills that the frontmatter declares to need, each once."""
    metadata = skill.frontmatter.get("metadata")
    known: set[str] = set()
    for prefix, fields in (("", skill.frontmatter), ("metadata.", metadata)):
        if not isinstance(fields, Mapping):
            continue
        for key in (*DECLARING, *MIXED_FIELDS):
            for name in _names(fields.get(key), is_mixed=key in MIXED_FIELDS):
                if name not in known:
                    known.add(name)
                    field = f"{prefix}{key}"
                    position = skill.parsed.positions.get(field)
                    line = position.line if position else 1
                    yield SkillReference("declared", name, skill.document, line, field)


def _names(value: Json, *, is_mixed: bool = False) -> Iterator[str]:
    """Yield the names of skills in a text, a list or a map; versions are dropped.

    Of a field for other software too, a text that is no list may be a sentence.
    """
    if isinstance(value, Mapping):
        skills = value.get("skills")
        named = value.get("skill") or value.get("name")
        yield from _names(named if skills is None else skills)
    elif isinstance(value, list | tuple):
        for item in value:
            if not isinstance(item, str):
                yield from _names(item)
            elif name := _name(item, is_mixed=is_mixed):
                yield name
    elif isinstance(value, str) and not is_mixed:
        yield from filter(None, map(_name, _LIST.split(value)))


def _name(text: str, *, is_mixed: bool = False) -> str | None:
    """Return the name in an item of a list; None if it cannot be that of a skill."""
    name = text.strip() if is_mixed else _VERSION.sub("", text.strip())
    return name if _NAME.fullmatch(name) and len(name) <= 200 else None
