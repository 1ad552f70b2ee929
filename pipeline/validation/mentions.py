"""Mentions of a skill's files in its texts, which lead an agent from SKILL.md to each file."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from posixpath import basename, dirname, splitext

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
    left = list(paths[:MOST_PATHS])
    unread = [("", body)]
    while unread and left:
        reader, text = unread.pop()
        lower = text.lower()
        in_script = is_script(reader)
        new = [path for path in left if _is_named(path.lower(), lower, in_script)]
        if len(new) < len(left) and not in_script:
            folders = _folders_named(lower)
            starts = tuple(word for word in folders if len(word) > 2 and word[-1] in "-_")
            unnamed = frozenset(left).difference(new)
            new += [path for path in unnamed if _is_below(path.lower(), folders, starts)]
        found.update(new)
        left = [path for path in left if path not in found]
        unread += [(path, texts[path]) for path in new if path in texts]
    return frozenset(found)


def _is_named(path: str, text: str, in_script: bool) -> bool:
    name = basename(path)
    if name in text:
        return True
    stem = splitext(name)[0]
    if stem in text and (in_script or f"/{stem}" in text or f"`{stem}`" in text):
        return True
    return "/" in path and f"{dirname(path)}/{stem}".replace("/", ".") in text


def _folders_named(text: str) -> set[str]:
    """Return the names of folders in a text, and what is in its code spans."""
    ends = islice(_FOLDER_END.finditer(text), _MOST_FOLDERS)
    named = (_FOLDER.search(text[max(end.start() - 64, 0) : end.start()]) for end in ends)
    in_code = (match[0].strip("`/*") for match in _IN_CODE.finditer(text))
    return {*(match[0] for match in named if match), *islice(in_code, _MOST_FOLDERS)}


def _is_below(path: str, named: set[str], starts: tuple[str, ...]) -> bool:
    """Return whether a folder of a file is named, or how the file's name starts: `query-`."""
    if basename(path).startswith(starts):
        return True
    folder = path
    while folder := dirname(folder):
        if folder in named or basename(folder) in named:
            return True
    return False
