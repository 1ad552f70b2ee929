"""Findings about files and folders in a root that are not part of any skill."""

import re
from collections.abc import Iterator, Sequence

from catalog.model.finding import Finding
from catalog.model.paths import is_archive
from catalog.text import humanize
from catalog.text.visible import quoted
from pipeline.roots.codes import (
    ARCHIVE_NOT_READ,
    FILE_OUTSIDE_SKILLS,
    FOLDER_IGNORED,
    FOLDER_WITHOUT_SKILL,
    IGNORE_PATTERN_UNUSABLE,
    SKILL_MD_MISNAMED,
)
from pipeline.roots.file_kinds import SKILL_MD, is_skill_md
from pipeline.roots.ignore_files import GITIGNORE
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.local.directory import Directory, Listing
from pipeline.roots.local.folder import LooseFinding

_SHOWN = 2  # names in a message
_FIX_OF_GROUP = (
    "Add a SKILL.md if the folder is one skill. If there are skills below it, move these files "
    "into the folders of their skills, or name them in a .skillignore."
)

_MISNAMED = re.compile(
    r"skills?(?:[ ._-]?\(?(?:copy|\d+)\)?)?(?:\.(?:md|markdown|mdx|mdown|mkd|txt))*[ .]*", re.I
)
_UNREAD_ARCHIVES = (
    *(".rar", ".7z", ".zipx", ".cab", ".ace", ".arj", ".lzh", ".tar.lz", ".tar.lzma", ".tar.z"),
    *(".tar.bz2", ".tar.xz", ".tar.zst", ".tbz", ".tbz2", ".txz", ".tzst", ".taz", ".tlz"),
)
_OF_PROJECTS = re.compile(
    r"(?:readme|licen[cs]e|copying|notices?|third[_-]party[_-]notices|changelog|changes|history"
    r"|contributing|code[_-]of[_-]conduct|security|support|authors|contributors|maintainers"
    r"|codeowners|governance|agents|claude|gemini)(?:[-_.].*)?"
    r"|makefile|justfile|taskfile\.ya?ml|dockerfile|package(?:-lock)?\.json|pyproject\.toml"
    r"|uv\.lock|(?:marketplace|plugin|manifest|index|catalog|skills)\.(?:json|ya?ml)|skilldrop\.toml",
    re.I,
)
"""Files that a repository of skills has beside them."""


def of_entries(here: Directory, listing: Listing) -> Iterator[LooseFinding]:
    """Yield the findings about entries of a directory outside of skills.

    A .skillignore is obeyed in silence; a .gitignore may not have meant skills.
    """
    for name, decision in sorted(listing.ignored.items()):
        bare = name.rstrip("/")
        if decision.file.name == GITIGNORE and (bare != name or is_archive(name)):
            message = f"{decision.file.path} has the pattern {quoted(decision.pattern)}."
            end = "" if bare != name else "!"
            yield LooseFinding(f"{here.text_of(bare)}{end}", FOLDER_IGNORED.at(message))
    for name in sorted(listing.files):
        if finding := _of_file(here, name):
            yield LooseFinding(here.text_of(name), finding)


def _of_file(here: Directory, name: str) -> Finding | None:
    """Return the finding about a file outside of skills; those in folders are reported together."""
    if name in IGNORE_FILES:
        return _of_ignore_file(here, name)
    if _is_hidden(here.text) or name.startswith("."):
        return None
    if _is_misnamed(name):
        return SKILL_MD_MISNAMED.at(f"{quoted(name)} is not read; did you mean {SKILL_MD}?")
    if name.lower().endswith(_UNREAD_ARCHIVES):
        return ARCHIVE_NOT_READ.at()
    if here.text or not _is_outside(name):
        return None
    return FILE_OUTSIDE_SKILLS.at()


def _of_ignore_file(here: Directory, name: str) -> Finding | None:
    for file in here.ignore_files:
        if (file.folder, file.name) == (here.text, name) and file.unusable:
            line, why = file.unusable[0]
            return IGNORE_PATTERN_UNUSABLE.at(
                f"The pattern in line {line} cannot be used, {why}.", line=line
            )
    return None


def of_folder(here: Directory, listing: Listing) -> Finding | None:
    """Return the finding about the contents of a folder that is no skill; None for a root.

    A folder with only folders, or also the usual files of a project, is not reported.
    """
    if not here.text or here.links or listing.skill_mds or _is_hidden(here.text):
        return None
    names = sorted(filter(_is_outside, listing.files))
    if not names:
        if listing.directories or listing.others or listing.ignored:
            return None
        if any(is_archive(name) or _of_file(here, name) for name in listing.files):
            return None
        names = sorted(listing.files)
    if not names:
        return FOLDER_WITHOUT_SKILL.at("The folder is empty.")
    return FOLDER_WITHOUT_SKILL.at(
        f"The folder contains {_few(names)}, and no {SKILL_MD}.",
        fix=_FIX_OF_GROUP if listing.directories else None,
    )


def _is_hidden(path: str) -> bool:
    """Whether a path leads through a folder whose name begins with a dot."""
    return path.startswith(".") or "/." in path


def _is_outside(name: str) -> bool:
    """Whether a file is none that a collection of skills usually has."""
    return not (
        name.startswith(".")
        or is_archive(name)
        or is_skill_md(name)
        or _is_misnamed(name)
        or name.lower().endswith(_UNREAD_ARCHIVES)
        or _OF_PROJECTS.fullmatch(name)
    )


def _is_misnamed(name: str) -> bool:
    return not is_skill_md(name) and bool(_MISNAMED.fullmatch(name))


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(map(quoted, names[:_SHOWN]))
    rest = len(names) - _SHOWN
    return f"{shown} and {humanize.count(rest, 'other file')}" if rest > 0 else shown
