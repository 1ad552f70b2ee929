"""Scan of some paths of a root: unchanged folders, and verdicts on the others."""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from catalog.model.change import Judged
from catalog.model.paths import top_of_archive
from catalog.model.skill import FolderStats, RootSpec
from pipeline.roots.archives import refusal
from pipeline.roots.local import walk as local_walk
from pipeline.roots.local.folder import Folder
from pipeline.roots.local.root_directory import IO_ERRORS
from pipeline.roots.local.tree_walk import Archive, LooseFinding, SameFolder
from pipeline.roots.source import Source, open_source
from pipeline.roots.units import changed_lately
from pipeline.service.scanning.results import (
    NewFolder,
    ScanOptions,
    ScanResult,
    ScanScope,
    Unchanged,
    UnreadableDirectory,
    Unsettled,
)

log = logging.getLogger(__name__)

MOST_UNCHANGED = 256
"""Unchanged folders in one result: enough to cost little, few enough to be stored at once."""


def scan(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult]:
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


def _one_by_one(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | SameFolder]:
    archived: Mapping[str, Mapping[str, str]] | None = None
    began_ns = time.time_ns()
    stats = {} if options.deep else scope.stats
    with open_source(scope.root.path, options.limits, scope.known, stats) as source:
        for path in scope.paths:
            for entry in source.walk(path):
                if isinstance(entry, SameFolder):
                    yield entry
                elif isinstance(entry, LooseFinding):
                    yield entry
                    if entry.finding.code in local_walk.UNLISTED:
                        yield UnreadableDirectory(entry.path)
                elif isinstance(entry, Archive):
                    archived = _by_archive(scope.known) if archived is None else archived
                    known = archived.get(entry.path, {})
                    yield from _scan_archive(scope.root, source, entry, known, options)
                else:
                    yield from (
                        UnreadableDirectory(f"{entry.path}/{problem.path}")
                        for problem in entry.problems
                        if problem.code in local_walk.UNLISTED
                    )
                    yield _scan_folder(scope, source, entry, options, began_ns)


def _scan_folder(
    scope: ScanScope, source: Source, folder: Folder, options: ScanOptions, began_ns: int
) -> ScanResult:
    known = scope.known.get(folder.path)
    if known == folder.fingerprint and not options.deep:
        stats = source.stats_of(folder, began_ns)
        return Unchanged((folder.path,), {folder.path: stats} if stats else {})
    if changed_lately(folder.changed_ns, time.time_ns(), options.quiet):
        return Unsettled(folder.path)
    if known is None and not options.new_folders:
        return NewFolder(folder.path)
    return judge()(scope.root, source, folder)


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
) -> Iterator[ScanResult]:
    """Yield a result for each skill in an archive; all settle, change and disappear together."""
    if refusal.is_whole(archive, list(known.values())) and not options.deep:
        yield Unchanged(tuple(known))
    elif changed_lately(archive.changed_ns, time.time_ns(), options.quiet):
        yield from map(Unsettled, known or [archive.path])
    elif not options.new_folders:
        yield NewFolder(archive.path)
    else:
        try:
            with source.open_archive(archive) as folders:
                if refusal.is_refused(folders[0]):
                    folders = refusal.refused_at(folders[0], list(known) or [archive.path])
                for folder in folders:
                    yield judge()(spec, source, folder)
        except OSError as error:
            log.debug("%s%s", archive.root, archive.file, exc_info=True)
            reason = f"Reading it failed: {error.strerror}." if error.errno in IO_ERRORS else None
            yield from (Unsettled(path, reason) for path in known or [archive.path])


def judge() -> Callable[[RootSpec, Source, Folder], Judged | Unsettled]:
    """Return the function that judges a folder, with all rules imported.

    They take a quarter of a command's start, and a scan of unchanged folders does not need them.
    """
    from pipeline.service.scanning.judging import judge_folder

    return judge_folder
