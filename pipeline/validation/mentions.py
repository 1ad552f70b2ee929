"""Mentions of a skill's files in its texts, which lead an agent from SKILL.md to each file."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from posixpath import splitext
from typing import NamedTuple, Self

from pipeline.roots.text_files import is_script

MOST_PATHS = 500
"""Further files count as mentioned; an ordinary skill has a dozen."""

_MOST_FOLDERS = 1_000  # names of folders, and code spans, in one text

# The patterns start with a literal, to which the regex engine skips.
_FOLDER_END = re.compile(r"/(?!\w|\.\w)")
_FOLDER = re.compile(r"[\w.@-]{1,64}\Z")
_IN_CODE = re.compile(r"`[\w.@/*-]{1,64}`")


def mentioned(body: str, texts: Mapping[str, str], paths: Sequence[str]) -> frozenset[str]:
    """Return the paths that a body mentions, or a text that is itself mentioned.

    A mention is the name of a file or of its folder, or how its name starts, as in `query-`; in a
    script the name without its extension suffices, as in an import.
    """
    found = set(paths[MOST_PATHS:])
    left = [_File.of(path) for path in paths[:MOST_PATHS]]
    unread = [("", body)]
    while unread and left:
        reader, text = unread.pop()
        lower = text.lower()
        in_script = is_script(reader)
        new = [file for file in left if file.is_named(lower, in_script)]
        if len(new) < len(left) and not in_script:
            folders = _folders_named(lower)
            starts = tuple(word for word in folders if len(word) > 2 and word[-1] in "-_")
            found.update(file.path for file in new)
            unnamed = [file for file in left if file.path not in found]
            new += [file for file in unnamed if file.is_below(folders, starts)]
        found.update(file.path for file in new)
        left = [file for file in left if file.path not in found]
        unread += [(file.path, texts[file.path]) for file in new if file.path in texts]
    return frozenset(found)


class _File(NamedTuple):
    """A file and the words that mention it, in lower case."""

    path: str
    name: str
    stem: str  # the name without its extension
    module: str  # the path as in an import: `scripts.run`
    folders: frozenset[str]  # the paths of all folders above it, and their names

    @classmethod
    def of(cls, path: str) -> Self:
        folder, _, name = path.lower().rpartition("/")
        stem = splitext(name)[0]
        folders = set[str]()
        module = f"{folder}/{stem}".replace("/", ".") if folder else name
        while folder:
            above, _, last = folder.rpartition("/")
            folders |= {folder, last}
            folder = above
        return cls(path, name, stem, module, frozenset(folders))

    def is_named(self, text: str, in_script: bool) -> bool:
        stem = self.stem
        if stem not in text:
            return False  # true of most names, so the speed depends on this test
        if in_script or f"/{stem}" in text or f"`{stem}`" in text:
            return True
        return self.name in text or self.module in text

    def is_below(self, named: set[str], starts: tuple[str, ...]) -> bool:
        """Return whether a folder of the file is named, or how its name starts: `query-`."""
        return self.name.startswith(starts) or not self.folders.isdisjoint(named)


def _folders_named(text: str) -> set[str]:
    """Return the names of folders in a text, and what is in its code spans."""
    ends = islice(_FOLDER_END.finditer(text), _MOST_FOLDERS)
    named = (_FOLDER.search(text[max(end.start() - 64, 0) : end.start()]) for end in ends)
    in_code = (match[0].strip("`/*") for match in _IN_CODE.finditer(text))
    return {*(match[0] for match in named if match), *islice(in_code, _MOST_FOLDERS)}
