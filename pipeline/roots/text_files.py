"""Choice of the files of a skill whose text rules read: scripts and Markdown, within a budget."""

from collections.abc import Iterable, Iterator
from posixpath import splitext

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


def chosen(entries: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield the paths of the files to read, given the path and the bytes of each file."""
    left, files = SKILL_BYTES, SKILL_FILES
    for path, size in entries:
        if files and size <= min(FILE_BYTES, left) and is_read(path):
            left, files = left - size, files - 1
            yield path


def is_read(path: str) -> bool:
    """Whether a file is a text that an agent reads or runs, by its path."""
    folder, _, name = path.rpartition("/")
    if folder and not _NOT_FOR_AGENTS.isdisjoint(folder.split("/")):
        return False
    return is_document(name) or is_script(path)


def is_document(path: str) -> bool:
    """Whether a file is a text for reading, by its path."""
    return _extension(path) in DOCUMENTS


def is_script(path: str) -> bool:
    """Whether a file is the source of a program, by its path."""
    extension = _extension(path)
    return extension in _SCRIPTS or (not extension and path.startswith("scripts/"))


def _extension(path: str) -> str:
    return splitext(path)[1].removeprefix(".").lower()
