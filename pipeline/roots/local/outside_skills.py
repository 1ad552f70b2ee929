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
from pipeline.roots.ignore_files import GITIGNORE, Decision
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.local.directory import Directory, Listing
from pipeline.roots.names import SKILL_MD, is_skill_md

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


def of_directory(here: Directory, listing: Listing) -> Iterator[tuple[str, Finding]]:
    """Yield the path and finding of a directory outside of skills, and of entries in it."""
    for name, decision in sorted(listing.ignored.items()):
        bare = name.rstrip("/")
        if bare != name or is_archive(name):
            yield from of_ignored(here, bare, decision, "" if bare != name else "!")
    for name in sorted(listing.files):
        if finding := of_file(here, name):
            yield here.child(name).text, finding
    if finding := of_folder(here, listing):
        yield here.text, finding


def of_file(here: Directory, name: str) -> Finding | None:
    """Return the finding about a file outside of skills; in folders, these are told together."""
    if name in IGNORE_FILES:
        return _of_ignore_file(here, name)
    if is_hidden(here.text) or name.startswith("."):
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


def of_ignored(
    here: Directory, name: str, decision: Decision, end: str = ""
) -> Iterator[tuple[str, Finding]]:
    """Yield the path and finding of an ignored folder or archive, which ends with `end`.

    A .skillignore is obeyed in silence; a .gitignore may not have meant skills.
    """
    if decision.file.name == GITIGNORE:
        message = f"{decision.file.path} has the pattern {quoted(decision.pattern)}."
        yield f"{here.child(name).text}{end}", FOLDER_IGNORED.at(message)


def of_folder(here: Directory, listing: Listing) -> Finding | None:
    """Return the finding about the contents of a folder that is no skill; None for a root.

    A folder with nothing but folders, or with the usual files of a project beside them, is quiet.
    """
    if not here.text or here.links or listing.skill_mds or is_hidden(here.text):
        return None
    names = sorted(filter(_is_outside, listing.files))
    if not names:
        if listing.directories or listing.others or listing.ignored:
            return None
        if any(is_archive(name) or of_file(here, name) for name in listing.files):
            return None
        names = sorted(listing.files)
    if not names:
        return FOLDER_WITHOUT_SKILL.at("The folder is empty.")
    if len(listing.files) < listing.file_count:  # which ones are listed depends on the disk
        told = humanize.count(listing.file_count, "file")
    else:
        told = _few(names)
    return FOLDER_WITHOUT_SKILL.at(
        f"The folder holds {told}, and no {SKILL_MD}.",
        fix=_FIX_OF_GROUP if listing.directories else None,
    )


def is_hidden(path: str) -> bool:
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
