"""Scope, options and results of a scan, which processes send to each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from catalog.model import naming
from catalog.model.change import Judged
from catalog.model.skill import FolderStats, Place, RootSpec
from pipeline.roots.local.folder import Limits
from pipeline.roots.local.tree_walk import LooseFinding


@dataclass(frozen=True, slots=True)
class ScanScope:
    """Some paths of a root, and the stored fingerprints of the folders below them."""

    root: RootSpec
    paths: tuple[str, ...]  # relative to the root; "" is all of it
    known: Mapping[str, str]
    stats: Mapping[str, FolderStats] = field(default_factory=dict)  # of folders that have any


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Options that decide which folders count as unchanged and which are read."""

    limits: Limits
    quiet: float  # seconds for which a folder must not have changed
    deep: bool = False  # also read folders with a known fingerprint
    new_folders: bool = True  # judge unknown folders; otherwise only yield NewFolder


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Folders whose fingerprints have not changed."""

    paths: Sequence[str]
    stats: Mapping[str, FolderStats] = field(default_factory=dict)  # to be stored


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Folder that changed a moment ago, changed during reading, or could not be read."""

    path: str
    failure: str | None = None  # a sentence, if it could not be read


@dataclass(frozen=True, slots=True)
class NewFolder:
    """Unknown folder that is not read yet, or a changed archive."""

    path: str


@dataclass(frozen=True, slots=True)
class UnreadableDirectory:
    """Directory that cannot be listed, so that known folders below it may still exist."""

    path: str


ScanResult: TypeAlias = (
    Unchanged | Unsettled | NewFolder | UnreadableDirectory | LooseFinding | Judged
)


def place_of(root: RootSpec, path: str, *, is_alias: bool = False) -> Place:
    """Return the place of a skill folder, with its namespace.

    In a plugin root the first folder names the plugin; an archive, without its file extension.
    """
    rule = naming.OF_PLUGIN if root.level == "plugin" else root.namespace
    return Place(root.path, path, root.level, naming.namespace_of(path, rule), is_alias)
