"""Kinds of files of a skill: texts that rules read within a budget, native code, LFS pointers."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from posixpath import splitext

from catalog.model.finding import Finding
from pipeline.roots.codes import GIT_LFS_POINTER

FILE_BYTES = 64 * 1024
"""Bytes of the largest file that is read."""

SKILL_BYTES = 512 * 1024
"""Bytes that are read of one skill besides its SKILL.md, in the order of its paths."""

SKILL_FILES = 200
"""Number of files that are read of one skill."""

DOCUMENTS = frozenset("md markdown mdx txt rst".split())
"""File name extensions of texts that an agent reads."""

_SCRIPTS = frozenset(
    "py sh bash zsh fish js mjs cjs ts mts cts tsx jsx rb pl php lua r ps1 psm1 bat cmd go".split()
)
_NOT_FOR_AGENTS = frozenset("tests test __tests__ evals fixtures node_modules .git".split())

_CACHED_PATHS = 1024  # several rules ask about the same paths


def chosen(entries: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield the paths of the files to read, given the path and the bytes of each file."""
    left, files = SKILL_BYTES, SKILL_FILES
    for path, size in entries:
        if files and size <= min(FILE_BYTES, left) and is_read(path):
            left, files = left - size, files - 1
            yield path


def is_read(path: str) -> bool:
    """Whether a file is a text that an agent reads or runs, by its path."""
    folder = path.rpartition("/")[0]
    if folder and not _NOT_FOR_AGENTS.isdisjoint(folder.split("/")):
        return False
    return is_document(path) or is_script(path)


@lru_cache(_CACHED_PATHS)
def is_document(path: str) -> bool:
    """Whether a file is a text for reading, by its path."""
    return _extension(path) in DOCUMENTS


@lru_cache(_CACHED_PATHS)
def is_script(path: str) -> bool:
    """Whether a file is the source of a program, by its path."""
    extension = _extension(path)
    return extension in _SCRIPTS or (not extension and path.startswith("scripts/"))


def _extension(path: str) -> str:
    return splitext(path)[1].removeprefix(".").lower()


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
