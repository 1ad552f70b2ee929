"""Looks at many skill folders: which ones must be read, and what those are judged to be."""

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from catalog.naming import qualified_name, skill_id
from catalog.record import (
    Inventory,
    Json,
    Judged,
    Place,
    Rejection,
    RootSpec,
    SkillRecord,
    StepTrace,
)
from catalog.store import Known
from pipeline import disk
from pipeline.disk import Folder, Limits, Stray
from pipeline.findings.registry import finding
from pipeline.ingest import judge
from pipeline.parse import parse

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A folder whose fingerprint the catalog has."""

    path: str


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A folder that changed a moment ago."""

    path: str


def survey(root: RootSpec, under: str, known: Mapping[str, Known], *, quiet: float,
           limits: Limits, deep: bool = False) -> Iterator[Unchanged | Unsettled | Folder | Stray]:
    """Yield what is at or below a path of a root; a Folder is one that must be read.

    quiet is for how many seconds a folder must not have changed; deep has folders read whose
    fingerprint is known as well. Raises RootUnreadable.
    """
    for found in disk.walk(Path(root.path), under, limits):
        if isinstance(found, Stray):
            yield found
            continue
        old = known.get(found.path)
        if old and old.fingerprint == found.fingerprint and not deep:
            yield Unchanged(found.path)
        elif changed_lately(found, time.time_ns(), quiet):
            yield Unsettled(found.path)
        else:
            yield found


def changed_lately(folder: Folder, now_ns: int, quiet: float) -> bool:
    """Tell whether a folder changed less than `quiet` seconds ago by its own time stamps.

    A stamp further in the future than that comes from another clock and says nothing.
    """
    return abs(now_ns - folder.changed_ns) < quiet * 1e9


def judge_folder(root: RootSpec, folder: Folder, limits: Limits) -> Judged | None:
    """Read, parse and judge one folder; None if it changed meanwhile.

    It depends on nothing but the folder, so it can run in any process that sees the root.
    """
    try:
        return _judge(root, folder, limits)
    except Exception as error:  # a bug of ours must not stop the other folders
        log.debug("%s/%s", root.path, folder.path, exc_info=True)
        place = place_of(root, folder.path)
        name = folder.path.rpartition("/")[2]
        return Judged(
            Rejection(
                place=place, skill_id=skill_id(name, place.plugin, folder.path),
                name=qualified_name(name, place.plugin), fingerprint=folder.fingerprint,
                digest=None, inventory=Inventory.of(()),
                findings=(finding("internal-error", f"{type(error).__name__}: {error}"),),
            ), (), _now(), 0.0)


def _judge(root: RootSpec, folder: Folder, limits: Limits) -> Judged | None:
    steps = _Steps()
    snapshot = disk.read(Path(root.path), folder, limits)
    if snapshot is None:
        return None
    steps.add("read", folder.path,
              {"files": len(snapshot.files), "bytes": sum(f.size for f in snapshot.files)})
    parsed = None
    if snapshot.skill_md_name:
        parsed = parse(snapshot.skill_md, snapshot.skill_md_name)
        steps.add("parse", snapshot.skill_md_name, {"findings": len(parsed.findings)})
    verdict = judge(snapshot, parsed, place_of(root, folder.path),
                    acceptance=root.acceptance, profiles=root.profiles)
    steps.add("validate", root.profiles, {"accepted": isinstance(verdict, SkillRecord),
                                          "findings": len(verdict.findings)})
    return Judged(verdict, tuple(steps.traces), steps.started_at, steps.total_ms)


def place_of(root: RootSpec, path: str) -> Place:
    """Return where a skill folder lies; in a plugin root the first folder is its plugin."""
    plugin = path.partition("/")[0] if root.level == "plugin" else None
    return Place(root.path, path, root.level, plugin)


class _Steps:
    """Step traces as they are made, each lasting from the one before it."""

    def __init__(self) -> None:
        self.started_at = _now()
        self.traces: list[StepTrace] = []
        self._first = self._last = time.perf_counter()

    def add(self, name: str, given: Json, got: Json) -> None:
        now = time.perf_counter()
        self.traces.append(StepTrace(
            step_id=str(len(self.traces) + 1), step_name=name, timestamp=_now(),
            duration=round((now - self._last) * 1000, 3), input=given, output=got,
        ))
        self._last = now

    @property
    def total_ms(self) -> float:
        return round((self._last - self._first) * 1000, 3)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
