"""Scan of some paths of a root: unchanged folders, and verdicts on the others."""

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

from catalog.database import queries
from catalog.model import naming
from catalog.model.change import Judged
from catalog.model.naming import qualified_name, skill_id
from catalog.model.paths import top_of_archive
from catalog.model.skill import FolderStats, Place, RootSpec, SkillRecord, Verdict
from catalog.model.values import Json
from catalog.text.humanize import iso
from catalog.writing.rows import derived
from pipeline.roots import internal_errors, words
from pipeline.roots.archives import reader as archives
from pipeline.roots.local.folder import (
    UNLISTED,
    Archive,
    Folder,
    Limits,
    LooseFinding,
    SameFolder,
    UnenteredFolder,
    failure,
)
from pipeline.roots.local.root_directory import IO_ERRORS
from pipeline.roots.snapshot import without_secrets
from pipeline.roots.source import Source, open_source
from pipeline.watch.settling import changed_lately

log = logging.getLogger(__name__)


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
    judges: bool = True  # judge folders; otherwise only yield Unread


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
class Unread:
    """Folder or archive that must be judged, and is not read yet."""

    path: str
    known: Mapping[str, str] = field(default_factory=dict)  # fingerprints of an archive's skills
    is_tree: bool = False  # the walk did not enter it, so the skills below it are to be judged, too


@dataclass(frozen=True, slots=True)
class UnreadableDirectory:
    """Directory that cannot be listed, so that known folders below it may still exist."""

    path: str


ScanResult: TypeAlias = (
    Unchanged | Unsettled | NewFolder | UnreadableDirectory | LooseFinding | Judged
)


MOST_UNCHANGED = 256
"""Unchanged folders in one result: enough to cost little, few enough to be stored at once."""


def scan(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | Unread]:
    """Yield the results for all folders and archives in a scope, and for each loose finding.

    It reads only the root, so it can run in any process with access to it. Raises RootUnreadable.
    """
    unchanged: list[str] = []
    stats: dict[str, FolderStats] = {}
    for result in _one_by_one(scope, options):
        if isinstance(result, SameFolder):
            unchanged.append(result.path)
        elif isinstance(result, Unchanged):
            unchanged += result.paths
            stats |= result.stats
        else:
            yield result
        if len(unchanged) >= MOST_UNCHANGED:
            yield Unchanged(unchanged, stats)
            unchanged, stats = [], {}
    if unchanged:
        yield Unchanged(unchanged, stats)


def _one_by_one(
    scope: ScanScope, options: ScanOptions
) -> Iterator[ScanResult | SameFolder | Unread]:
    archived: Mapping[str, Mapping[str, str]] | None = None
    began_ns = time.time_ns()
    stats = {} if options.deep else scope.stats
    with open_source(scope.root.path, options.limits, scope.known, stats) as source:
        for path in scope.paths:
            # Without known skills, whoever judges a folder walks it, too.
            for entry in source.walk(path, enters_skills=options.judges or bool(scope.known)):
                if isinstance(entry, SameFolder):
                    yield entry
                elif isinstance(entry, UnenteredFolder):
                    yield Unread(entry.path, is_tree=True)
                elif isinstance(entry, LooseFinding):
                    yield entry
                    if entry.finding.code in UNLISTED:
                        yield UnreadableDirectory(entry.path)
                elif isinstance(entry, Archive):
                    archived = _by_archive(scope.known) if archived is None else archived
                    known = archived.get(entry.path, {})
                    yield from _scan_archive(scope.root, source, entry, known, options)
                else:
                    yield from (
                        UnreadableDirectory(f"{entry.path}/{problem.path}")
                        for problem in entry.problems
                        if problem.code in UNLISTED
                    )
                    yield _scan_folder(scope, source, entry, options, began_ns)


def _scan_folder(
    scope: ScanScope, source: Source, folder: Folder, options: ScanOptions, began_ns: int
) -> ScanResult | Unread:
    known = scope.known.get(folder.path)
    if known == folder.fingerprint and not options.deep:
        stats = source.stats_of(folder, began_ns)
        return Unchanged((folder.path,), {folder.path: stats} if stats else {})
    if changed_lately(folder.changed_ns, time.time_ns(), options.quiet):
        return Unsettled(folder.path)
    if known is None and not options.new_folders:
        return NewFolder(folder.path)
    return judge_folder(scope.root, source, folder) if options.judges else Unread(folder.path)


def _by_archive(known: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
    """Return the fingerprints of skills in archives, by archive and path."""
    fingerprints: dict[str, dict[str, str]] = defaultdict(dict)
    for path, fingerprint in known.items():
        if top := top_of_archive(path):
            fingerprints[top][path] = fingerprint
    return fingerprints


def _scan_archive(
    spec: RootSpec,
    source: Source,
    archive: Archive,
    known: Mapping[str, str],
    options: ScanOptions,
) -> Iterator[ScanResult | Unread]:
    """Yield a result for each skill in an archive; all settle, change and disappear together."""
    if archives.is_whole(archive, list(known.values())) and not options.deep:
        yield Unchanged(tuple(known))
    elif changed_lately(archive.changed_ns, time.time_ns(), options.quiet):
        yield from map(Unsettled, known or [archive.path])
    elif not options.new_folders:
        yield NewFolder(archive.path)
    elif not options.judges:
        yield Unread(archive.path, known)
    else:
        yield from _judge_archive(spec, source, archive, known)


def judge_unread(
    spec: RootSpec, unread: Sequence[Unread], options: ScanOptions
) -> Iterator[ScanResult]:
    """Yield the results for folders and archives that a walk found. Raises RootUnreadable."""
    trees = tuple(each.path for each in unread if each.is_tree)
    for result in scan(ScanScope(spec, trees, {}), options):
        assert not isinstance(result, Unread)
        yield result
    with open_source(spec.path, options.limits) as source:
        for each in unread:
            if each.is_tree:
                continue
            entry = source.at(each.path)
            if isinstance(entry, Archive):
                yield from _judge_archive(spec, source, entry, each.known)
            elif isinstance(entry, Folder):
                yield judge_folder(spec, source, entry)
            else:
                yield Unsettled(each.path)


def _judge_archive(
    spec: RootSpec, source: Source, archive: Archive, known: Mapping[str, str]
) -> Iterator[ScanResult]:
    try:
        with archives.open_archive(archive) as folders:
            for folder in archives.known_at(folders, list(known) or [archive.path]):
                yield judge_folder(spec, source, folder)
    except OSError as error:
        log.debug("%s%s", archive.root, archive.file, exc_info=True)
        reason = f"Reading it failed: {error.strerror}." if error.errno in IO_ERRORS else None
        yield from (Unsettled(path, reason) for path in known or [archive.path])


def import_rules() -> None:
    """Import the parser and all rules, and compile their words, before the first folder is judged.

    They take a quarter of a command's start, and a scan of unchanged folders does not need them.
    """
    import pipeline.validation.verdict  # noqa: F401
    from pipeline.dialects.registry import profiles

    profiles()
    words.found(b"")


def judge_folder(
    spec: RootSpec, source: Source, folder: Folder, place: Place | None = None
) -> Judged | Unsettled:
    """Read, parse and validate one folder; Unsettled if it is unreadable or changes meanwhile.

    With a place, it is judged as the content of that place.
    """
    place = place or place_of(spec, folder.path, is_alias=folder.is_alias)
    try:
        return _judge(spec, source, folder, place)
    except Exception as error:  # noqa: BLE001  # other folders go on
        name = folder.path.rpartition("/")[2]
        verdict = internal_errors.rejection(
            place,
            skill_id(name, place.namespace, folder.path),
            qualified_name(name, place.namespace),
            folder.fingerprint,
            error,
        )
        return derived.judged(verdict, "[]", _now(), 0.0)


def _judge(spec: RootSpec, source: Source, folder: Folder, place: Place) -> Judged | Unsettled:
    from pipeline.dialects.registry import dialects, profiles_named
    from pipeline.parsing.document import parse
    from pipeline.validation.verdict import assess, verdict_of

    steps = _Steps()
    snapshot = source.read(folder)
    if snapshot is None or (reason := failure(snapshot.problems)):
        return Unsettled(folder.path, reason if snapshot else None)
    snapshot = without_secrets(snapshot, spec.secrets)
    steps.add(
        "read",
        folder.path,
        {"files": len(snapshot.files), "bytes": sum(f.size for f in snapshot.files)},
    )
    parsed = None
    if snapshot.skill_md_name:
        parsed = parse(snapshot.skill_md, snapshot.skill_md_name)
        steps.add("parse", snapshot.skill_md_name, {"findings": len(parsed.findings)})
    assessed = assess(
        snapshot,
        parsed,
        place,
        acceptance=spec.acceptance,
        profiles=profiles_named(spec.profiles),
        dialects=dialects(),
    )
    if spec.report and parsed and assessed.skill:
        texts = {snapshot.skill_md_name or "": parsed.text, **assessed.skill.other_texts}
        reported = spec.report(assessed.findings, texts, snapshot.skill_md_name)
        assessed = assessed._replace(findings=reported)
    verdict = verdict_of(assessed, snapshot, parsed, place)
    steps.add(
        "validate",
        spec.profiles,
        {"accepted": isinstance(verdict, SkillRecord), "findings": len(verdict.findings)},
    )
    return steps.judged(verdict)


class _Steps:
    """Steps of one folder, in the form of StepTraces; each starts at the end of the previous."""

    def __init__(self) -> None:
        self.started_at = _now()
        self._traces: list[dict[str, Json]] = []
        self._first = self._last = time.perf_counter()

    def add(self, name: str, step_input: Json, output: Json) -> None:
        now = time.perf_counter()
        self._traces.append(
            {
                "stepId": str(len(self._traces) + 1),
                "stepName": name,
                "input": step_input,
                "output": output,
                "duration": round((now - self._last) * 1000, 3),  # milliseconds
                "error": None,
                "timestamp": _now(),
            }
        )
        self._last = now

    def judged(self, verdict: Verdict) -> Judged:
        took_ms = round((self._last - self._first) * 1000, 3)
        return derived.judged(verdict, queries.to_json(self._traces), self.started_at, took_ms)


def _now() -> str:
    return iso(datetime.now(UTC))


def place_of(root: RootSpec, path: str, *, is_alias: bool = False) -> Place:
    """Return the place of a skill folder, with its namespace.

    In a plugin root the first folder names the plugin; an archive, without its file extension. If
    the root is the folder `skills` of one plugin, this names the skills that lie directly in it.
    """
    is_direct = all(above.endswith("!") for above in path.split("/")[:-1])  # or in archives
    rule = naming.OF_PLUGIN if root.level == "plugin" else root.namespace
    namespace = (is_direct and root.plugin) or naming.namespace_of(path, rule)
    return Place(root.path, path, root.level, namespace, is_alias)
