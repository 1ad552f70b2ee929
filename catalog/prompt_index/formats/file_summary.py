"""Line of a skill's files: documents by name, the files of a folder by their number."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from catalog.prompt_index import messages
from catalog.prompt_index.formats.form import FileGroup
from catalog.prompt_index.messages import Language

_FIRST = ("REFERENCE.md", "FORMS.md")  # in the order of the Agent Skills specification
_MOST_FILES = 6
_MOST_FOLDERS = 12
_OF_PROJECTS = re.compile(r"\..*|(?:licen[cs]e|copying|notice|readme|changelog)\b.*", re.IGNORECASE)
"""Names beside SKILL.md that no instruction of a skill is about."""


@lru_cache(maxsize=10_000)  # an entry is tried in several lengths
def line(skill_md: str, groups: tuple[FileGroup, ...], language: Language) -> str:
    """Return the line that begins with SKILL.md; beyond a limit, the rest is `… (5)`."""
    documents = [
        group.path
        for group in groups
        if "/" not in group.path and group.path != skill_md and not _OF_PROJECTS.match(group.path)
    ]
    folders = [
        messages.of_folder(language, group.path, group.files)
        if group.path.endswith("/")
        else group.path
        for group in groups
        if "/" in group.path
    ]
    documents.sort(key=lambda name: (*(name != first for first in _FIRST), name))
    parts = (skill_md, *_limited(documents, _MOST_FILES), *_limited(folders, _MOST_FOLDERS))
    return messages.FILES[language] + ", ".join(parts)


def grouped(paths: Iterable[str]) -> Iterator[FileGroup]:
    """Yield the groups of the files with these paths, sorted."""
    for (folder, slash), group in groupby(sorted(paths), lambda path: path.partition("/")[:2]):
        members = list(group)
        is_one = len(members) == 1
        yield FileGroup(members[0] if is_one else folder + slash, len(members))


def _limited(names: Sequence[str], most: int) -> Iterator[str]:
    yield from names[:most]
    if len(names) > most:
        yield f"… ({len(names) - most})"
