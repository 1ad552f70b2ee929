"""Tree of folders from a list of files (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a tree: a file, or a folder with the total size of its files."""

    depth: int
    name: str
    path: str
    size: int
    file: Mapping[str, Any] | None = None


def grow(files: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Return the lines of a tree: SKILL.md, then files before folders, each by name."""
    return list(_lines(files, "", 0))


def _lines(files: Sequence[Mapping[str, Any]], folder: str, depth: int) -> Iterator[Line]:
    subfolders: dict[str, list[Mapping[str, Any]]] = {}
    direct = []
    for file in files:
        name, _, rest = file["path"][len(folder) :].partition("/")
        if rest:
            subfolders.setdefault(name, []).append(file)
        else:
            direct.append(file)
    for file in sorted(direct, key=lambda file: (file["kind"] != "skill_md", file["path"])):
        yield Line(depth, file["path"][len(folder) :], file["path"], file["size"], file)
    for name, contents in sorted(subfolders.items()):
        path = f"{folder}{name}/"
        yield Line(depth, name, path, sum(file["size"] for file in contents))
        yield from _lines(contents, path, depth + 1)
