"""A list of files as the tree of folders that it is (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a tree: a folder with all its files' size, or a file."""

    depth: int
    name: str
    path: str
    size: int
    file: Mapping[str, Any] | None = None


def grow(files: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Return the lines of a tree: SKILL.md, then files before folders, each by name."""
    return list(_lines(files, "", 0))


def _lines(files: Sequence[Mapping[str, Any]], folder: str, depth: int) -> Iterator[Line]:
    below: dict[str, list[Mapping[str, Any]]] = {}
    here = []
    for file in files:
        name, _, rest = file["path"][len(folder) :].partition("/")
        if rest:
            below.setdefault(name, []).append(file)
        else:
            here.append(file)
    for file in sorted(here, key=lambda file: (file["kind"] != "skill_md", file["path"])):
        yield Line(depth, file["path"][len(folder) :], file["path"], file["size"], file)
    for name, inside in sorted(below.items()):
        path = f"{folder}{name}/"
        yield Line(depth, name, path, sum(file["size"] for file in inside))
        yield from _lines(inside, path, depth + 1)
