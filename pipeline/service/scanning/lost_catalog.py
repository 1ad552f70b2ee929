"""Takeover from a lost catalog: its published skills and the decisions of people."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path

from catalog.model.change import Judged
from catalog.model.naming import is_skill_id, is_version
from catalog.model.skill import LOST_ROOT, RootSpec, SkillRecord
from catalog.text.humanize import count
from catalog.text.suggestions import few
from catalog.writing.packages.inspection import PackagesListing, list_packages
from catalog.writing.rows import derived
from catalog.writing.store import Store
from catalog.writing.takeover import LostPackage, lost_place
from pipeline.config.settings import Settings
from pipeline.processes import at_work
from pipeline.roots.local.folder import Limits
from pipeline.roots.source import open_source
from pipeline.service.scanning.scanner import judge_folder, place_of
from pipeline.service.scanning.synchronizer import can_list_all

log = logging.getLogger("skilldrop")

MOST_OLDER = 20
"""Older versions of a skill that are taken over, at most."""
BATCH = 64
"""Maximum number of packages that are judged and stored together."""


def take_over(store: Store, settings: Settings) -> None:
    """Store the knowledge of a lost catalog, before the roots are configured and scanned.

    The published version of a skill is then one from before the present rules of its root. Raises
    sqlite3.Error and OSError.
    """
    listing = list_packages(settings.packages_folder)
    kept = store.decisions.kept()
    has_decisions = bool(kept.pins or kept.preferences or kept.reviews or kept.links)
    lost = store.takeover.begin(listing, datetime.now(UTC), has_decisions=has_decisions)
    if not store.takeover.is_under_way:
        return
    versions = (path.partition("/")[2] for path in listing.packages)
    store.packager.named_after = max(versions, default="")
    reviews, links = store.decisions.take_reviews(datetime.now(UTC)), store.decisions.take_links()
    pinned = list(_pinned(store, settings))
    published = _published(store, settings, listing, {each.path for each in pinned})
    packages = [*pinned, *published]
    taken: set[str] = set()
    for of_skills in _histories(packages, store.takeover.unnamed(listing)):
        taken.update(_taken(store, settings, of_skills))
    if not lost:
        return  # an earlier start has said it
    skills = sum(each.path in taken for each in packages)
    log.warning(
        "the catalog %s; a new one is built from the roots, with %s, %s, %s, %s, %s and %s taken "
        "over",
        lost,
        count(skills, "published skill"),
        count(len(taken) - skills, "older version"),
        count(reviews, "review"),
        count(sum(each.is_pinned and each.path in taken for each in packages), "pin"),
        count(len(kept.preferences), "preference"),
        count(links, "directory of links", "directories of links"),
    )
    if refused := sorted(each.path for each in packages if each.path not in taken):
        log.warning(
            "%s of the packages in %s cannot be taken over, because they have other files than "
            "expected or await an approval: %s",
            len(refused),
            settings.packages_folder,
            few(refused),
        )


def _histories(
    packages: Sequence[LostPackage], unnamed: Iterable[str]
) -> Iterator[list[LostPackage]]:
    """Yield packages and the older ones of their skills, oldest first, one of a skill at a time."""
    of_skill: dict[str, list[str]] = defaultdict(list)
    for path in sorted(unnamed):
        of_skill[path.partition("/")[0]].append(path)
    histories = []
    for package in packages:
        of_one = of_skill[package.path.partition("/")[0]]
        older = [path for path in of_one if path < package.path][-MOST_OLDER:]
        histories.append(
            [*(LostPackage(path, package.root, package.place) for path in older), package]
        )
    for together in zip_longest(*histories):
        yield [each for each in together if each]


def _pinned(store: Store, settings: Settings) -> Iterator[LostPackage]:
    roots = {root.path: root for root in settings.root_specs}
    for (root, path), pin in store.decisions.lost_pins().items():
        if is_skill_id(pin.skill_id) and is_version(pin.version):
            spec = roots.get(root) or RootSpec(root)
            package_path = f"{pin.skill_id}/{pin.version}"
            yield LostPackage(package_path, spec, place_of(spec, path), pin.digest, is_pinned=True)


def _published(
    store: Store, settings: Settings, listing: PackagesListing, pinned: set[str]
) -> Iterator[LostPackage]:
    if settings.publish == "in-place":
        return
    roots = {root.path: root for root in settings.root_specs}
    missing = (root for root in settings.root_specs if not can_list_all([root]))
    likely = next(missing, settings.root_specs[0])
    formers = store.takeover.formers()
    for path in store.takeover.published(listing):
        if path in pinned:
            continue
        former = formers.get(path)
        if not former:
            place = lost_place(path.partition("/")[0], likely.level)
            yield LostPackage(path, replace(likely, path=LOST_ROOT), place)
            continue
        spec = roots.get(former.root) or RootSpec(former.root, former.level)
        yield LostPackage(path, spec, place_of(spec, former.path), former.digest)


def _taken(store: Store, settings: Settings, packages: Sequence[LostPackage]) -> Iterator[str]:
    """Judge packages, store those that are as expected, and yield their package_paths."""
    judge = partial(_judged, settings.packages_folder, settings.limits)
    pieces = [packages[start : start + BATCH] for start in range(0, len(packages), BATCH)]
    with at_work(judge, pieces) as results:
        for piece, found in zip(pieces, results, strict=True):
            taken = store.takeover.take(
                [(package, judged) for package, judged in zip(piece, found, strict=True) if judged],
                datetime.now(UTC),
            )
            yield from (package.path for package in taken)


def _judged(folder: Path, limits: Limits, packages: Sequence[LostPackage]) -> list[Judged | None]:
    """Return the verdict on each package in a folder; None if it is no skill or not as expected.

    It also runs in other processes.
    """
    if not folder.is_dir():
        return [None] * len(packages)
    results: list[Judged | None] = []
    with open_source(folder, limits) as source:
        for package in packages:
            spec = replace(package.root, acceptance="permissive", secrets="report")
            skill = source.folder(package.path)
            judged = judge_folder(spec, source, skill, package.place) if skill else None
            results.append(_as_expected(judged, package) if isinstance(judged, Judged) else None)
    return results


def _as_expected(judged: Judged, package: LostPackage) -> Judged | None:
    verdict = judged.verdict
    if not isinstance(verdict, SkillRecord) or package.digest not in (None, verdict.digest):
        return None
    verdict = verdict._replace(skill_id=package.path.partition("/")[0])
    return derived.judged(verdict, "[]", judged.started_at, judged.took_ms)
