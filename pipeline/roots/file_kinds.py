"""Kinds of files by name: junk, SKILL.md, texts that rules read, native code, LFS pointers."""

import re
from collections.abc import Iterable, Iterator

from catalog.model.finding import Finding
from catalog.model.skill import FileEntry
from pipeline.roots.codes import GIT_LFS_POINTER

SKILL_MD = "SKILL.md"
COMMON_SPELLINGS = (SKILL_MD, "skill.md", "Skill.md", "SKILL.MD")
"""Spellings that are looked for on the way to a path, where no directory is listed."""

# Names that are left out of every skill and are not looked into, by their kind.
_OF_SYSTEM = "of a desktop or file system"
_OF_EDITOR = "temporary file of an editor"
_INCOMPLETE = "copy that is not complete"
_NAMES = {
    "version control": ".git .hg .svn .jj".split(),
    # `venv` without its dot may be a skill's name
    "installed or cached by a tool": """
        node_modules __pycache__ .venv .tox .nox .mypy_cache .pytest_cache .ruff_cache
    """.split(),
    _OF_SYSTEM: [
        "System Volume Information",
        *"""
        .DS_Store .AppleDouble .Spotlight-V100 .Trashes .fseventsd .TemporaryItems
        .DocumentRevisions-V100 __MACOSX Thumbs.db desktop.ini Desktop.ini $RECYCLE.BIN .directory
        lost+found
        """.split(),
    ],
    "of a server or synchroniser": """
        @eaDir #recycle #snapshot .snapshot .snapshots ~snapshot .zfs .stfolder .stversions
        .dropbox.cache .~tmp~
    """.split(),
    _OF_EDITOR: ["4913"],  # vim tests its write permission with it
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names}
_STARTS = {
    "._": _OF_SYSTEM,  # macOS resource forks
    ".Trash-": _OF_SYSTEM,  # freedesktop.org
    ".nfs": "deleted while open",
    ".fuse_hidden": "deleted while open",
    ".goutputstream-": _OF_EDITOR,  # GNOME, before the rename
    ".~lock.": _OF_EDITOR,  # LibreOffice
    "~$": _OF_EDITOR,  # Microsoft Office
    ".#": _OF_EDITOR,  # Emacs locks
    ".skilldrop-": _INCOMPLETE,  # skilldrop's own, before the rename
}
_ENDS = {
    **dict.fromkeys((".part", ".partial", ".crdownload", ".tmp"), _INCOMPLETE),
    **dict.fromkeys((".swp", ".swo", "~"), _OF_EDITOR),  # vim, and backups of most editors
}
_ALL_STARTS, _ALL_ENDS = tuple(_STARTS), tuple(_ENDS)


def is_junk(name: str) -> bool:
    """Whether a file or directory of this name is ignored everywhere."""
    return bool(why_junk(name))


def why_junk(name: str) -> str:
    """Return the kind of names for which a file or directory is ignored; "" if it is not."""
    if kind := _KINDS.get(name):
        return kind
    if name.startswith(_ALL_STARTS):
        return next(kind for start, kind in _STARTS.items() if name.startswith(start))
    if name.endswith(_ALL_ENDS):
        return next(kind for end, kind in _ENDS.items() if name.endswith(end))
    is_auto_save = len(name) > 1 and name[0] == "#" == name[-1]  # of Emacs
    return _OF_EDITOR if is_auto_save else ""


def is_skill_md(name: str) -> bool:
    """Whether this is SKILL.md in any mixture of upper and lower case."""
    return name.lower() == "skill.md"


SKILL_BYTES = 1024 * 1024
"""Bytes that are judged of one skill besides its SKILL.md, in the order of `chosen`."""

SKILL_FILES = 200
"""Number of files that are judged of one skill."""

DOCUMENTS = frozenset("md markdown mdx txt rst".split())
"""File name extensions of texts that an agent reads."""

_SCRIPTS = frozenset(
    "py sh bash zsh fish js mjs cjs ts mts cts tsx jsx rb pl php lua r ps1 psm1 bat cmd go".split()
)
_BUILDS = frozenset(
    "makefile dockerfile containerfile justfile rakefile gemfile vagrantfile jenkinsfile".split()
)
_NOT_FOR_AGENTS = frozenset("tests test __tests__ evals fixtures node_modules .git".split())

_UNREAD = 2  # rank of other texts


def chosen(entries: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield the paths of the texts to judge, given the path and the bytes of each.

    Scripts come first, then other texts that an agent reads, each part in the given order.
    """
    left, files = SKILL_BYTES, SKILL_FILES
    for path, size in sorted(entries, key=lambda entry: _rank(entry[0])):
        if files and size <= left:
            left, files = left - size, files - 1
            yield path


def is_read(path: str) -> bool:
    """Whether a file is a text that an agent reads or runs, by its path."""
    return _rank(path) < _UNREAD


def _rank(path: str) -> int:
    folder = path.rpartition("/")[0]
    if folder and not _NOT_FOR_AGENTS.isdisjoint(folder.split("/")):
        return _UNREAD
    extension = _extension(path)
    return 1 if extension in DOCUMENTS else 0 if is_script(path) else _UNREAD


def is_script(path: str) -> bool:
    """Whether a file is the source of a program, by its path."""
    extension = _extension(path)
    return extension in _SCRIPTS or (not extension and path.startswith("scripts/"))


def is_executed(path: str, text: str) -> bool:
    """Whether a program runs a text: as a script, or as the recipe of a build."""
    name = path.rpartition("/")[2].lower()
    return is_script(path) or name in _BUILDS or text.startswith("#!")


def is_source(file: FileEntry) -> bool:
    """Whether a file should be a text that an agent reads or runs, by its path and mode."""
    return is_read(file.path) and not may_be_native(file.path, file.mode)


def _extension(path: str) -> str:
    _, dot, ending = path.rpartition("/")[2].lstrip(".").rpartition(".")
    return ending.lower() if dot else ""


NATIVE = frozenset(
    """
    a apk app bin bundle class com cpl deb dex dll dmg dylib elf exe jar ko lib msi node o obj pyc
    pyd pyo rpm run scr so sys war wasm xpi
""".split()
)
"""File name extensions of native code."""

_LIBRARY = re.compile(r"\.so(?:\.\d+)+$")


def may_be_native(path: str, mode: int) -> bool:
    """Whether a file is native code, provided that it is not text."""
    _, dot, ending = path.rpartition("/")[2].lstrip(".").rpartition(".")
    if not dot:
        return mode == 0o755  # typical of compiled programs
    return ending.lower() in NATIVE or (ending.isdecimal() and bool(_LIBRARY.search(path)))


_FIRST_LINE = b"version https://git-lfs.github.com/spec/v1\n"
_MOST_BYTES = 1024
"""Source of both: Git LFS specification, The Pointer."""


def pointer(path: str, head: bytes) -> Finding | None:
    """Return the finding for a file that is a pointer, given its first bytes; else None."""
    if not head.startswith(_FIRST_LINE) or len(head) >= _MOST_BYTES or b"\noid " not in head:
        return None
    return GIT_LFS_POINTER.at(
        f"{path} is a pointer of Git LFS, and agents get it instead of the file's content.",
        path=path,
    )
