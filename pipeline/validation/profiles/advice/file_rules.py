"""Rules of advice about a skill's files: which its texts name, and how long they are."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from operator import attrgetter
from posixpath import basename
from typing import TypeAlias

from catalog.model.finding import Finding, FindingType
from catalog.model.paths import linked
from catalog.text import humanize, tokens
from catalog.text.visible import printable, quoted
from pipeline.roots.names import SKILL_MD
from pipeline.roots.text_files import FILE_BYTES, is_document, may_be_native
from pipeline.roots.words import found, searched
from pipeline.validation.profiles.advice import codes
from pipeline.validation.references import MOST_REFERENCES, Reference, commands, references
from pipeline.validation.skill import MOST_ALIKE, Skill, Text
from pipeline.validation.skill_references import is_below, may_link, nested_skills

_ENDINGS = searched((".md", ".txt", ".py", ".sh", ".js"))  # of `.json`, its start
_ENDING = re.compile(r"\.(?:md|txt|py|sh|js|json)\b(?!/)", re.IGNORECASE)
_STEM = re.compile(r"(?<![\w./~@-])(?:[\w-]{1,64}/){0,3}[\w-]{1,64}\Z")
_LONGEST_MENTION = 100
_OF_EVERY_PROJECT = frozenset(
    ("skill.md", "readme.md", "changelog.md", "license.md", "license.txt", "contributing.md")
)
_Place: TypeAlias = tuple[Text, Reference]  # a reference and the text that contains it
REFERENCE_TOKENS = 5_000
"""Source: Agent Skills specification, Progressive disclosure, which asks for small files."""

_MOST_CANDIDATES = 50  # a folder with more files is a library or a data set
_FOLDERS = ("scripts/", "references/", "reference/")
_OF_TOOLS = frozenset(
    """
    conftest.py go.mod go.sum license license.txt license.md makefile package.json
    package-lock.json pyproject.toml readme.md requirements.txt tsconfig.json uv.lock yarn.lock
    """.split()
)
"""Names of files that tools read, or that are for people."""


def references_exist(skill: Skill) -> Iterator[Finding]:
    """Find references to files that are missing, outside the folder, deep, or in another case."""
    paths = _paths(skill)
    in_lower_case = {path.lower(): path for path in paths}
    wrong_case, outside, missing, deep = (list[_Place]() for _ in range(4))
    for text in skill.texts:
        if text.is_script:
            continue
        links = _links(skill, text, paths)
        wrong = _in_another_case(text, links, paths, in_lower_case)
        wrong_case += [(text, link) for link in wrong]
        inside = [link for link in links if not link.leads_outside]
        if len(inside) < len(links):
            outside += [(text, link) for link in links if _is_outside(skill, text, link)]
        if skill.is_whole:
            missing += [(text, link) for link in _missing(skill, text, inside, in_lower_case)]
        if text.is_body:
            known = [link for link in inside if link.target in paths]
            deep += [(text, link) for link in known if _is_deep(link.target)]
    yield from _first(codes.REFERENCE_CASE, wrong_case)
    yield from _first(codes.REFERENCE_OUTSIDE_FOLDER, outside)
    yield from _first(codes.REFERENCE_MISSING, missing, lambda target: _same_name(target, paths))
    yield from _first(codes.REFERENCE_DEEP, deep)


def files_are_referenced(skill: Skill) -> Iterator[Finding]:
    """Find scripts and references that no text mentions which an agent reaches from SKILL.md."""
    files = [
        file.path
        for file in skill.files
        if file.path.startswith(_FOLDERS)
        and (file.is_text or not may_be_native(file.path, file.mode))  # which is another finding
    ]
    if not files or len(files) > _MOST_CANDIDATES or not skill.parsed.body:
        return
    stray = [path for path in files if path not in skill.led_to and _is_for_agents(path)]
    for path in stray[: 1 if len(stray) > MOST_ALIKE else None]:
        more = humanize.count(len(stray) - 1, "more file") if len(stray) > MOST_ALIKE else ""
        message = f"Nothing that an agent reads names {printable(path)}{more and f', or {more}'}."
        yield codes.FILE_UNREFERENCED.at(message, path=path)


def references_are_short(skill: Skill) -> Iterator[Finding]:
    """Find documents of more than about 5,000 tokens to which SKILL.md leads."""
    for file in skill.files:
        if file.path == skill.document or not is_document(file.path):
            continue
        if file.size <= REFERENCE_TOKENS // 2 or file.path not in skill.led_to:
            continue  # a character costs two tokens at most
        text = skill.other_texts.get(file.path, "")
        cost = tokens.estimate_body(text)
        if cost > REFERENCE_TOKENS or file.size > FILE_BYTES:
            size = f"about {cost:,} tokens" if text else f"{file.size:,} bytes"
            message = f"The file has {size}; {REFERENCE_TOKENS:,} tokens are recommended."
            yield codes.REFERENCE_TOO_LONG.at(message, path=file.path)


def _links(skill: Skill, text: Text, paths: Mapping[str, None]) -> list[Reference]:
    """Return the references of a text, with targets relative to the skill's folder."""
    links = chain(references(text.content), commands(text.content))
    return [
        link if text.is_body else replace(link, target=_from_top(text.path, link.target, paths))
        for link in links
        if not link.leads_to_machine
        and (not link.is_loose or link.target.partition("/")[0] in paths)
    ]


def _from_top(path: str, target: str, paths: Mapping[str, None]) -> str:
    """Return the target of a file's reference, which starts at its folder or at the skill's."""
    beside = linked(path, target)
    if beside in paths or target.startswith("/"):
        return target if target.startswith("/") else beside
    is_of_top = target in paths or target.partition("/")[0] in paths or "../" in beside
    return target if is_of_top and not target.startswith("../") else beside


def _first(
    kind: FindingType, places: list[_Place], fix: Callable[[str], str | None] | None = None
) -> Iterator[Finding]:
    """Yield a finding for each of the first references; the last one counts the others."""
    for count, (text, link) in enumerate(places[:MOST_ALIKE], 1):
        message = f"{text.name} names {quoted(link.target)}{_MESSAGES[kind]}"
        if count == MOST_ALIKE < len(places):
            more = humanize.count(len(places) - MOST_ALIKE, "more reference")
            message += f" The same is true of {more}."
        yield text.finding(kind, message, fix=fix(link.target) if fix else None, offset=link.offset)


_MESSAGES = {
    codes.REFERENCE_CASE: ", but the file's name has other capital letters.",
    codes.REFERENCE_OUTSIDE_FOLDER: ", which is outside the skill's folder.",
    codes.REFERENCE_MISSING: ", which is not in the skill's folder.",
    codes.REFERENCE_DEEP: ", more than one folder below SKILL.md.",
}


def _paths(skill: Skill) -> dict[str, None]:
    """Return every file and directory of the skill."""
    paths = {".": None, "": None}
    for file in skill.files:
        path = file.path
        while path not in paths:
            paths[path] = None
            path = path.rpartition("/")[0]
    del paths[""]
    return paths


def _is_outside(skill: Skill, text: Text, link: Reference) -> bool:
    """Return whether a reference leads out of the folder, and to no file of another skill."""
    return link.leads_outside and not (
        not link.target.startswith("/")
        and may_link(text.path)
        and skill.in_other_skill(link.target)
    )


def _missing(
    skill: Skill, text: Text, inside: list[Reference], real: Container[str]
) -> list[Reference]:
    """Return the references to missing files, except to those of other skills in the folder.

    `real` contains the paths in lower case, as another case is another finding.
    """
    missing = [link for link in inside if link.target.lower() not in real]
    if not missing or not may_link(text.path):
        return missing
    nested = [at for at in nested_skills(missing) if skill.in_other_skill(f"{at}/{SKILL_MD}")]
    return [link for link in missing if not is_below(nested, link.target)]


def _in_another_case(
    text: Text, named: list[Reference], paths: Container[str], real: Mapping[str, str]
) -> list[Reference]:
    """Return the references and plain mentions that differ from a file's path in case alone.

    `real` contains the paths by their forms in lower case.
    """
    if len(real) < 3:
        return []  # only the folder and SKILL.md
    mentions = _mentions(text.content, tuple(real)) if text.is_body else ()
    wrong = {
        link.target: link
        for link in chain(mentions, named)
        if link.target not in paths
        and link.target.lower() in real
        and basename(link.target).lower() not in _OF_EVERY_PROJECT
    }
    return sorted(wrong.values(), key=attrgetter("offset"))[: MOST_ALIKE + 1]


def _mentions(body: str, paths: tuple[str, ...]) -> Iterator[Reference]:
    """Yield the first plain mentions in a text that end with one of the paths in lower case."""
    words = found(body)
    offsets = sorted(chain.from_iterable(words.get(ending, ()) for ending in _ENDINGS))
    endings = filter(None, (_ENDING.match(body, at) for at in offsets))
    for ending in islice(endings, MOST_REFERENCES):
        start = max(ending.start() - _LONGEST_MENTION, 0)
        if not body[start : ending.end()].lower().endswith(paths):
            continue
        if stem := _STEM.search(body[start : ending.start()]):
            yield Reference(stem[0] + ending[0], start + stem.start())


def _is_deep(target: str) -> bool:
    """Return whether a file is more than one folder down; assets/templates/ counts as one."""
    return target.replace("assets/templates/", "templates/", 1).count("/") > 1


def _same_name(target: str, paths: Iterable[str]) -> str | None:
    """Return the advice to write the path of the only file with the same name, if any.

    A SKILL.md in a folder below is that of another skill.
    """
    name = basename(target).lower()
    if name == SKILL_MD.lower():
        return "If that is another skill, let its folder lie beside this one: agents get them so."
    matches = [path for path in paths if basename(path).lower() == name]
    return f"Write {printable(matches[0])}, the file's path." if len(matches) == 1 else None


def _is_for_agents(path: str) -> bool:
    name = basename(path).lower()
    return not (name.startswith((".", "_")) or name in _OF_TOOLS or "/tests/" in path)
