"""Mentions of a skill's files in its texts, which lead an agent from SKILL.md to each file."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename, dirname, splitext

from pipeline.roots.text_files import is_script

MOST_PATHS = 500
"""Further files count as mentioned; an ordinary skill has a dozen."""

_FOLDER = re.compile(r"(?<![\w.@-])[\w.@-]{1,64}/(?!\w|\.\w)|`[\w.@/*-]{1,64}`")


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
        folders = {match[0].strip("`/*") for match in _FOLDER.finditer(lower)}
        prefixes = tuple(start for start in folders if len(start) > 2 and start[-1] in "-_")
        new = [
            path
            for path in left
            if basename(path).lower().startswith(prefixes)
            or _is_in(path.lower(), lower, folders, is_script(reader))
        ]
        found.update(new)
        left = [path for path in left if path not in found]
        unread += [(path, texts[path]) for path in new if path in texts]
    return frozenset(found)


def _is_in(path: str, text: str, folders: Iterable[str], in_script: bool) -> bool:
    name = basename(path)
    if name in text:
        return True
    stem = splitext(name)[0]
    if any(form in text for form in ((stem,) if in_script else (f"/{stem}", f"`{stem}`"))):
        return True
    if "/" in path and f"{dirname(path)}/{stem}".replace("/", ".") in text:
        return True
    return any(part in folders or basename(part) in folders for part in _folders(path))


def _folders(path: str) -> Iterator[str]:
    while path := dirname(path):
        yield path
