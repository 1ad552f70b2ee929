"""Rules of advice about the files of a skill and the references to them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from operator import attrgetter
from posixpath import basename, dirname

from catalog.model.finding import Finding, FindingType
from catalog.text import humanize
from catalog.text.quoting import printable, quoted
from pipeline.validation.profiles.advice.codes import (
    FILE_UNREFERENCED,
    REFERENCE_CASE,
    REFERENCE_DEEP,
    REFERENCE_MISSING,
    REFERENCE_OUTSIDE_FOLDER,
)
from pipeline.validation.references import MOST_REFERENCES, Reference, references
from pipeline.validation.skill import Skill

MOST_ALIKE = 10
"""Number of findings of one code that are listed individually."""

_ENDING = re.compile(r"\.(?:md|txt|py|sh|js|json)\b(?!/)", re.IGNORECASE)
_STEM = re.compile(r"(?<![\w./~@-])(?:[\w-]{1,64}/){0,3}[\w-]{1,64}\Z")
_LONGEST_MENTION = 100
_OF_EVERY_PROJECT = frozenset(
    ("skill.md", "readme.md", "changelog.md", "license.md", "license.txt", "contributing.md")
)
_MOST_CANDIDATES = 50
_FOLDERS = ("scripts/", "references/", "reference/")


def references_exist(skill: Skill) -> Iterator[Finding]:
    """Find references to files that are missing, outside the folder, deep, or in another case."""
    paths = _paths(skill)
    named = [link for link in references(skill.parsed.body) if not link.leads_to_machine]
    yield from _first(skill, REFERENCE_CASE, _in_another_case(skill, named, paths))
    if not named:
        return
    outside = [link for link in named if link.leads_outside]
    inside = [link for link in named if not link.leads_outside]
    deep = [link for link in inside if link.target in paths and _is_deep(link.target)]
    yield from _first(skill, REFERENCE_OUTSIDE_FOLDER, outside)
    yield from _first(
        skill,
        REFERENCE_MISSING,
        _missing(inside, paths) if skill.is_whole else [],
        fix=lambda target: _same_name(target, paths),
    )
    yield from _first(skill, REFERENCE_DEEP, deep)


def files_are_referenced(skill: Skill) -> Iterator[Finding]:
    """Find a skill whose body leads to none of its scripts and references.

    If the body names one of its files, that file may name the others.
    """
    files = [file.path for file in skill.files if file.path.startswith(_FOLDERS)]
    if not files or len(files) > _MOST_CANDIDATES or not skill.parsed.body:
        return
    body = skill.parsed.body.lower()
    others = (file.path for file in skill.files if file.path != skill.document)
    if any(name in body for path in others for name in _names(path)):
        return
    more = f" and {humanize.count(len(files) - 1, 'more file')}" if len(files) > 1 else ""
    yield FILE_UNREFERENCED.at(
        f"Nothing in the body names {printable(files[0])}{more}.", path=files[0]
    )


def _names(path: str) -> tuple[str, ...]:
    """Return the texts that name a file, in lower case: its name, its stem or its folder."""
    name = basename(path).lower()
    stem = name.rpartition(".")[0] or name
    return (name, stem, f"{dirname(path).lower()}/", f"`{dirname(path).lower()}`")


def _first(
    skill: Skill,
    kind: FindingType,
    links: list[Reference],
    fix: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Finding]:
    """Yield a finding for each of the first references; the last one counts the others."""
    for count, link in enumerate(links[:MOST_ALIKE], 1):
        message = _MESSAGES[kind.code].format(quoted(link.target))
        if count == MOST_ALIKE < len(links):
            more = humanize.count(len(links) - MOST_ALIKE, "more reference")
            message += f" The same is true of {more}."
        yield skill.finding_in_body(kind, message, fix=fix(link.target), offset=link.offset)


_MESSAGES = {
    REFERENCE_OUTSIDE_FOLDER.code: "The body names {}, which is outside the skill's folder.",
    REFERENCE_MISSING.code: "The body names {}, which is not in the skill's folder.",
    REFERENCE_CASE.code: "The body names {}, but the file's name has other capital letters.",
    REFERENCE_DEEP.code: "The body names {}, more than one folder below SKILL.md.",
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


def _missing(inside: list[Reference], paths: Iterable[str]) -> list[Reference]:
    """Return the references to missing files, except to files of a nested skill.

    The files of a nested skill are not among this skill's; a reference to its SKILL.md shows
    that it exists.
    """
    known = {path.lower() for path in paths}  # another case is another finding
    missing = [link for link in inside if link.target.lower() not in known]
    nested = {dirname(link.target) for link in missing if _is_nested_skill(link)}
    return [link for link in missing if nested.isdisjoint(_with_parents(link.target))]


def _in_another_case(
    skill: Skill, named: list[Reference], paths: Mapping[str, None]
) -> list[Reference]:
    """Return the references and plain mentions that differ from a file's path in case alone."""
    if len(skill.files) < 2:
        return []
    real = {path.lower(): path for path in paths}
    mentions = _mentions(skill.parsed.body, tuple(real))
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
    for ending in islice(_ENDING.finditer(body), MOST_REFERENCES):
        start = max(ending.start() - _LONGEST_MENTION, 0)
        if not body[start : ending.end()].lower().endswith(paths):
            continue
        if stem := _STEM.search(body[start : ending.start()]):
            yield Reference(stem[0] + ending[0], start + stem.start())


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        path = dirname(path)


def _is_deep(target: str) -> bool:
    """Return whether a file is more than one folder down; assets/templates/ counts as one."""
    return target.replace("assets/templates/", "templates/", 1).count("/") > 1


def _is_nested_skill(reference: Reference) -> bool:
    """Return whether a reference names a SKILL.md in a folder below."""
    return reference.target.lower().endswith("/skill.md")


def _same_name(target: str, paths: Iterable[str]) -> str | None:
    """Return the advice to write the path of the only file with the same name, if any."""
    name = basename(target).lower()
    matches = [path for path in paths if basename(path).lower() == name]
    return f"Write {printable(matches[0])}, the file's path." if len(matches) == 1 else None
