"""Rules of advice about a skill's files: which its texts name, and how long they are."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from posixpath import basename
from typing import TypeAlias

from catalog.model.finding import Finding, FindingType
from catalog.model.paths import linked, os_path
from catalog.pull.site import NOT_ON_WINDOWS
from catalog.text import humanize
from catalog.text.suggestions import few
from catalog.text.visible import printable, quoted
from pipeline.roots.file_kinds import SKILL_MD, is_read, is_script
from pipeline.validation.profiles.advice import codes
from pipeline.validation.references import Reference, commands
from pipeline.validation.skill import MOST_ALIKE, Skill, Text, mentioned
from pipeline.validation.skill_references import is_below, may_link, nested_skills

_LICENSE_FILE = re.compile(r"(?<![\w/])((?:LICEN[CS]E|COPYING|NOTICE)[\w-]{0,40}\.(?:txt|md))\b")
_Place: TypeAlias = tuple[Text, Reference]  # a reference and the text that contains it
_Linking: TypeAlias = tuple[Text, list[Reference]]  # a text and its references

_MOST_CANDIDATES = 50  # a folder with more files is a library or a data set
_CLAIMS = ("link", "order")
"""How a text says that the skill has a file; other mentions may be of the reader's project."""
_ON_SKILLS = re.compile(
    r"\b(?:creat|writ|author|build|develop|mak|design)\w*-(?:\w+-)?skills?\b"
    r"|\bskills?-(?:creat|writ|author|build|develop|mak|design|guide|shar|format|template)"
)
"""Names of skills that teach to write skills, whose files are examples."""
_TO_FILL_IN = re.compile(r"(?:^|/)templates/|[_-](?:example|sample|template)[_.-]")
_OF_TESTS = re.compile(r"^tests?[_-]|[_.-](?:tests?|spec)\.\w+$")
_OF_DOCUMENTS = ("references/", "reference/", "assets/", "templates/")
_FOLDERS = ("scripts/", "references/", "reference/")
_OF_TOOLS = frozenset(
    """
    conftest.py go.mod go.sum license license.txt license.md makefile package.json
    package-lock.json pyproject.toml readme.md requirements.txt tsconfig.json uv.lock yarn.lock
    """.split()
)
"""Names of files that tools read, or that are for people."""


def references_are_sound(skill: Skill) -> Iterator[Finding]:
    """Find references to files that are missing, outside the folder or in another case.

    Also find the documents that SKILL.md leads to only through another one: A → B → C.
    """
    readable = (text for text in skill.texts if may_link(text.path) or not text.is_script)
    linking = [(text, _links(skill, text)) for text in readable]
    yield from _wrong(skill, linking if not _ON_SKILLS.search(skill.folder) else ())
    yield from _indirect(skill, linking)


def _wrong(skill: Skill, linking: Iterable[_Linking]) -> Iterator[Finding]:
    real = frozenset(map(str.lower, skill.paths))
    places: dict[FindingType, list[_Place]] = {kind: [] for kind in _MESSAGES}
    for text, links in linking:
        if not may_link(text.path) or _TO_FILL_IN.search(text.path):
            continue
        others = _folders_of_others(skill, links, real)
        kinds = [_problem(skill, text, link, real, others) for link in links]
        if not text.is_body and len(links) > 2 and {*kinds} == {codes.REFERENCE_MISSING}:
            continue  # copied from elsewhere: nothing that it links is here
        for kind, link in zip(kinds, links, strict=True):
            if kind:
                places[kind].append((text, link))
    for kind, found_here in places.items():
        yield from _first(skill, kind, found_here)


def _indirect(skill: Skill, linking: Iterable[_Linking]) -> Iterator[Finding]:
    chains: dict[str, _Place] = {}
    others = {*skill.other_texts}
    for text, links in linking:
        if text.is_body:
            others.difference_update(link.target for link in links)
        for link in links if not (text.is_body or text.is_script) else ():
            if link.target in others and _is_document(link.target):
                chains.setdefault(link.target, (text, link))
    direct = mentioned(skill.parsed.body, {}, list(chains)) if chains else ()
    deep = [place for target, place in chains.items() if target not in direct]
    yield from _first(skill, codes.REFERENCE_DEEP, deep)


def license_file_exists(skill: Skill) -> Iterator[Finding]:
    """Find a license that names a file which is missing."""
    named = _LICENSE_FILE.search(skill.declared.license or "")
    if named and skill.is_whole and named[1].lower() not in map(str.lower, skill.paths):
        message = f"license names {quoted(named[1])}{_MESSAGES[codes.REFERENCE_MISSING]}"
        yield skill.finding(codes.REFERENCE_MISSING, message, field="license")


def files_are_referenced(skill: Skill) -> Iterator[Finding]:
    """Find scripts and documents that no text mentions which an agent reaches from SKILL.md."""
    files = [
        file.path
        for file in skill.files
        if file.path.startswith(_FOLDERS) and (is_script(file.path) or may_link(file.path))
    ]
    if not files or len(files) > _MOST_CANDIDATES or not skill.parsed.body:
        return
    if any(is_script(path) and path not in skill.other_texts for path in skill.led_to):
        return  # a script too large to read may name them
    stray = [path for path in files if path not in skill.led_to and _is_for_agents(path)]
    for path in stray[: 1 if len(stray) > MOST_ALIKE else None]:
        more = humanize.count(len(stray) - 1, "more file") if len(stray) > MOST_ALIKE else ""
        message = f"Nothing that an agent reads names {printable(path)}{more and f', or {more}'}."
        yield codes.FILE_UNREFERENCED.at(message, path=path)


def names_fit_windows(skill: Skill) -> Iterator[Finding]:
    """Find names that Windows cannot have, or that differ only in case, which it ignores."""
    paths = [file.path for file in skill.files if file.path != skill.document]
    refused = [path for path in (skill.folder, *paths) if NOT_ON_WINDOWS.search(os_path(path))]
    refused += (f"{path} twice" for path, n in Counter(map(str.lower, paths)).items() if n > 1)
    if refused:
        yield codes.NAME_NOT_ON_WINDOWS.at(f"Windows cannot have {few(refused)}.")


def _links(skill: Skill, text: Text) -> list[Reference]:
    """Return the references of a text, with targets relative to the skill's folder."""
    run, paths = commands(text.content, text.words, text.blocks), skill.paths
    return [
        link if text.is_body else link._replace(target=_from_top(text.path, link.target, paths))
        for link in chain(text.references, run)
        if link.sign != "machine"
        and (link.sign in _CLAIMS or link.leads_outside or link.target.partition("/")[0] in paths)
    ]


def _from_top(path: str, target: str, paths: Container[str]) -> str:
    """Return the target of a file's reference, which starts at its folder or at the skill's."""
    beside = linked(path, target)
    if beside in paths or target.startswith("/"):
        return target if target.startswith("/") else beside
    is_of_top = target in paths or target.partition("/")[0] in paths or "../" in beside
    return target if is_of_top and not target.startswith("../") else beside


def _first(skill: Skill, kind: FindingType, places: list[_Place]) -> Iterator[Finding]:
    """Yield a finding for each of the first references; the last one counts the others."""
    for count, (text, link) in enumerate(places[:MOST_ALIKE], 1):
        message = f"{text.name} names {quoted(link.target)}{_MESSAGES.get(kind, _DEEP)}"
        if count == MOST_ALIKE < len(places):
            more = humanize.count(len(places) - MOST_ALIKE, "more reference")
            message += f" The same is true of {more}."
        fix = _same_name(skill, link.target) if kind is codes.REFERENCE_MISSING else None
        yield text.finding(kind, message, fix=fix, offset=link.offset)


_DEEP = ", which SKILL.md itself does not name."
_MESSAGES = {
    codes.REFERENCE_CASE: ", but the file's name has other capital letters.",
    codes.REFERENCE_OUTSIDE_FOLDER: ", which is outside the skill's folder.",
    codes.REFERENCE_MISSING: ", which is not in the skill's folder.",
}


def _problem(
    skill: Skill, text: Text, link: Reference, real: Container[str], others: Iterable[str]
) -> FindingType | None:
    """Return the kind of a reference's finding, if any.

    `real` contains the paths in lower case.
    """
    target = link.target
    signs = ("." not in basename(target), target.startswith("/"), not text.is_body)
    if target in skill.paths or (sum(signs) > 1 and not target.startswith("../")):
        return None  # or an address of a web site, as in copied pages
    if link.leads_outside:
        is_shipped = not target.startswith("/") and skill.in_other_skill(target)
        return None if is_shipped else codes.REFERENCE_OUTSIDE_FOLDER
    if target.lower() in real:
        return codes.REFERENCE_CASE
    is_claimed = link.sign in _CLAIMS or (
        text.is_body and (link.sign == "command" or target.startswith(_OF_DOCUMENTS))
    )
    is_missing = is_claimed and skill.is_whole and not is_below(others, target)
    return codes.REFERENCE_MISSING if is_missing else None


def _folders_of_others(skill: Skill, links: list[Reference], real: Container[str]) -> list[str]:
    """Return the folders below of other skills, whose SKILL.md a text links."""
    missing = (at for at in links if not (at.leads_outside or at.target.lower() in real))
    return [at for at in nested_skills(missing) if skill.in_other_skill(f"{at}/{SKILL_MD}")]


def _same_name(skill: Skill, target: str) -> str | None:
    """Return the advice to write the path of the only file with the same name, if any.

    A SKILL.md in a folder below is that of another skill.
    """
    name = basename(target).lower()
    if name == SKILL_MD.lower():
        return "If that is another skill, put its folder beside this one, as agents get it."
    matches = [file.path for file in skill.files if basename(file.path).lower() == name]
    return f"Write {printable(matches[0])}, the file's path." if len(matches) == 1 else None


def _is_document(path: str) -> bool:
    """Return whether a file is a text to read, and not one to fill in or copy, or for people."""
    is_other = path.startswith("assets/") or path.lower() == "readme.md"
    return may_link(path) and not is_other and not _TO_FILL_IN.search(path)


def _is_for_agents(path: str) -> bool:
    name = basename(path).lower()
    is_of_tools = name.startswith((".", "_")) or name in _OF_TOOLS
    return is_read(path) and not is_of_tools and not _OF_TESTS.search(name)
