"""Adding of skill folders and archives to a root, checked first and copied whole."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from catalog.filesystem.by_descriptor import remove_made
from catalog.model.errors import NotAdded
from catalog.model.paths import is_archive, text_path
from catalog.model.skill import RootSpec
from catalog.model.values import Json
from pipeline.authoring.atomic_replace import built_beside, exchange, put
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.roots.names import is_junk


@dataclass(frozen=True, slots=True)
class Addition:
    """What became of one source."""

    source: Path
    place: Path  # in the root
    judgements: tuple[Judgement, ...]
    is_added: bool

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "source": text_path(str(self.source)),
            "path": text_path(str(self.place)),
            "added": self.is_added,
            "skills": [one.as_json() for one in self.judgements],
        }


def root_named(roots: Sequence[RootSpec], named: str | None) -> RootSpec:
    """Return the root of that path or level; without one the first of level project, else any.

    Raises NotAdded, naming the roots there are.
    """
    if named is None:
        return next((root for root in roots if root.level == "project"), roots[0])
    wanted = os.path.realpath(os.path.expanduser(named))
    for root in roots:
        if named == root.level or wanted == os.path.realpath(root.path):
            return root
    there_are = ", ".join(f"{root.path} ({root.level})" for root in roots)
    raise NotAdded(f"{named} is no root; there are {there_are}.")


def add(sources: Sequence[Path], root: RootSpec, *, replace: bool = False) -> Iterator[Addition]:
    """Copy each source into a root, and yield what became of it.

    A source with a skill that the root would reject is not copied; its findings say why. Each
    comes whole or not at all: it is copied under a name that no scan reads, then renamed. Raises
    NotAdded, before anything is copied, where a source or its place in the root will not do.
    """
    places = [_place(source, Path(root.path), replace=replace) for source in sources]
    if len(set(places)) < len(places):
        raise NotAdded("Two of the sources have the same name; add them one after the other.")
    for source, place in zip(sources, places, strict=True):
        judged = tuple(judge_paths([source], acceptance=root.acceptance, profiles=root.profiles))
        is_good = all(one.loadable for one in judged)
        if is_good:
            _copy(source, place)
        yield Addition(source, place, judged, is_good)


def _place(source: Path, root: Path, *, replace: bool) -> Path:
    """Return where a source goes; a SKILL.md stands for nothing but itself, and is refused."""
    real = Path(os.path.realpath(source))
    place = root / real.name
    if not root.is_dir():
        raise NotAdded(f"The root {root} cannot be read. Create it, or name another with --root.")
    if not (real.is_dir() or is_archive(real.name)):
        raise NotAdded(f"{source} is neither a folder nor an archive.")
    if real.is_relative_to(root) or root.is_relative_to(real):
        raise NotAdded(f"{source} lies in the root {root} already, or the root in it.")
    if is_junk(real.name):
        raise NotAdded(f"{source} has a name that scans do not read; rename it.")
    if os.path.lexists(place) and not replace:
        raise NotAdded(f"{place} is there already. Add --replace to put the new one in its place.")
    return place


def _copy(source: Path, place: Path) -> None:
    try:
        if source.is_dir():
            _copy_folder(source, place)
        else:
            _copy_file(source, place)
    except (OSError, shutil.Error) as error:
        raise NotAdded(f"{source} was not added: {_first(error)}.") from error


def _copy_folder(source: Path, place: Path) -> None:
    with built_beside(place, source) as built:
        if not os.path.lexists(place):
            put(built, place)
            return
        replaced = place.lstat()
        if old := exchange(built, place, lambda: True):
            remove_made(old, replaced)


def _copy_file(source: Path, place: Path) -> None:
    handle, beside = tempfile.mkstemp(prefix=".skilldrop-", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as target, source.open("rb") as original:
            shutil.copyfileobj(original, target)
            target.flush()
            os.fsync(target.fileno())
        os.chmod(beside, 0o644)  # mkstemp makes it private
        os.replace(beside, place)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _first(error: OSError | shutil.Error) -> str:
    """Return one reason; copytree gathers all of them."""
    reasons = error.args[0] if error.args else None
    if isinstance(reasons, list) and reasons:
        return str(reasons[0][-1])
    return getattr(error, "strerror", None) or str(error)
