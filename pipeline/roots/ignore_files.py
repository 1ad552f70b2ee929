"""Ignore files, .skillignore and .gitignore, and the decision of their patterns on a path."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from catalog.text.visible import quoted

SKILLIGNORE, GITIGNORE = ".skillignore", ".gitignore"
NAMES = (SKILLIGNORE, GITIGNORE)
"""Names of ignore files; in one folder, the patterns of the first take precedence."""
MOST_BYTES = 256 * 1024
"""Size of the largest ignore file that is read."""
_MOST_WORK = 200_000
_WORK_PER_STAR = 64
_STARS = re.compile(r"\*+")


class IgnoreFile(NamedTuple):
    """Patterns of one ignore file, in the syntax of gitignore(5)."""

    folder: str  # in which it lies, in the same form as the paths to decide on
    name: str
    lines: tuple[str, ...]
    unusable: tuple[tuple[int, str], ...] = ()  # lines that cannot be matched, and why

    @property
    def path(self) -> str:
        """Path of the file."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


class DecidingPattern(NamedTuple):
    """Pattern that decides whether a path is ignored."""

    file: IgnoreFile
    pattern: str
    is_ignored: bool  # False for a pattern that begins with "!"


class IgnoreFileRefused(Exception):
    """Ignore file that cannot be used, with the reason as a clause."""


def parse(folder: str, name: str, data: bytes) -> IgnoreFile:
    """Return the ignore file with these bytes; IgnoreFileRefused.

    Each star multiplies the work of matching a name, so a file of many stars is refused.
    """
    unusable: list[tuple[int, str]] = []
    try:
        lines = tuple(_patterns(data.decode("utf-8-sig").splitlines(), unusable))
    except UnicodeDecodeError:
        raise IgnoreFileRefused("is not valid UTF-8") from None
    if len(data) > MOST_BYTES:
        raise IgnoreFileRefused(f"has more than {MOST_BYTES:,} bytes")
    if sum(_WORK_PER_STAR ** len(_STARS.findall(line)) for line in lines) > _MOST_WORK:
        raise IgnoreFileRefused("has too many patterns with several stars")
    return IgnoreFile(folder, name, lines, tuple(unusable))


def _patterns(lines: Iterable[str], unusable: list[tuple[int, str]]) -> Iterator[str]:
    """Yield the lines that are patterns; add those that cannot be matched to `unusable`."""
    for number, line in enumerate(lines, 1):
        try:
            if _is_pattern(line):
                yield line
        except re.error as error:
            unusable.append((number, f"{quoted(line)}: {error.msg}"))


@lru_cache(4096)
def _is_pattern(line: str) -> bool:
    """Whether a line is a pattern, and no comment, blank or malformed line; re.error."""
    try:
        return spec_of((line,)).patterns[0].include is not None
    except (IndexError, ValueError):
        return False


def decide(files: Iterable[IgnoreFile], path: str) -> DecidingPattern | None:
    """Return the decision of the first file with a matching pattern; None if none matches.

    The files lie in folders above the path, the nearest first. The path of a directory ends with
    "/". The folders on the way to the path must have been decided on before.
    """
    for file in files:
        inner = path[len(file.folder) + 1 :] if file.folder else path
        # `x.zip!/` is an archive
        index = spec_of(file.lines).check_file(inner.replace("!/", "/")).index
        if index is not None:
            line = file.lines[index]
            return DecidingPattern(file, line, not line.startswith("!"))
    return None


@lru_cache(1024)
def spec_of(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """Return patterns compiled by `re`: Hyperscan would take milliseconds for each file."""
    return GitIgnoreSpec.from_lines(patterns, backend="simple")
