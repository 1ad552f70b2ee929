"""Places that an author names: a skill folder, a tree of them, an archive or a SKILL.md."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catalog.model import paths as model_paths
from catalog.model.errors import RootUnreadable
from catalog.model.paths import is_archive
from pipeline.roots import reader
from pipeline.roots.archives.codes import ARCHIVE_UNREADABLE
from pipeline.roots.archives.opening import open_archive
from pipeline.roots.codes import OUTSIDE_SKILLS
from pipeline.roots.local import walk
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.root_directory import RootDirectory
from pipeline.roots.local.tree_walk import Archive, LooseFinding
from pipeline.roots.names import is_skill_md

_PATHS = 256  # most paths into which a tree is divided


@dataclass(frozen=True, slots=True)
class Target:
    """Place to search for skills."""

    name: str  # path as given by the author
    root: Path
    under: str  # relative to the root
    alone: bool  # only this folder, without nested skills

    @property
    def named(self) -> str:
        """Real path that the author named."""
        return f"{self.root}/{self.under}".rstrip("/")

    def paths(self) -> list[str]:
        """Return paths that together make up the target, enough to keep all cores busy."""
        if self.alone:
            return [self.under]
        return walk.taken_apart(self.root, [self.under], _PATHS) or [self.under]

    def entries(
        self, root: RootDirectory, path: str, limits: Limits
    ) -> Iterator[Folder | LooseFinding]:
        """Yield the skill folders at or below a path, and findings outside of them.

        root is the open root of the target.
        """
        if self.alone:
            folder = reader.look(root, path, limits)
            yield from [folder] if folder else []
            return
        for entry in walk.walk(root, path, limits):
            if isinstance(entry, Archive):
                yield from _in_archive(entry)
            elif isinstance(entry, Folder) or (
                isinstance(entry, LooseFinding) and entry.finding.code not in OUTSIDE_SKILLS
            ):
                yield entry

    def full_name(self, path: str) -> str:
        """Return a path of the root in the form that the author used."""
        if self.under.endswith("!"):
            return f"{self.name}{path[len(self.under) - 1 :]}"
        below = path[len(self.under) :].lstrip("/")
        if self.name in (".", "/"):
            return f"{self.name}{below}".removeprefix("." if below else "")
        return f"{self.name}/{below}" if below else self.name


def _in_archive(archive: Archive) -> Iterator[Folder | LooseFinding]:
    try:
        with open_archive(archive) as folders:
            yield from folders
    except OSError as error:
        yield LooseFinding(
            archive.path,
            ARCHIVE_UNREADABLE.at(f"The archive cannot be read: {error.strerror or error}."),
        )


def target_of(path: Path) -> Target:
    """Return the place that an author's path names. Raises RootUnreadable for another kind."""
    alone = is_skill_md(path.name)
    if alone:
        path = path.parent
    elif not path.is_dir():
        if path.is_file() and is_archive(path.name):
            file = Path(os.path.realpath(path))
            name = model_paths.text_path(str(path))
            return Target(name, file.parent, f"{model_paths.text_path(file.name)}!", alone)
        name = model_paths.text_path(str(path))
        raise RootUnreadable(f"{name} is neither a folder, an archive nor a SKILL.md.")
    # Links are resolved: a skill has the name of its real folder.
    folder, name = Path(os.path.realpath(path)), model_paths.text_path(str(path))
    if reader.is_skill_folder(folder):
        return Target(name, folder.parent, model_paths.text_path(folder.name), alone)
    return Target(name, folder, "", False)
