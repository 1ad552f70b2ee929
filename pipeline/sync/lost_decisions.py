"""Decisions of people that a lost catalog had, taken over from the journal by a new one."""

import logging
from datetime import datetime

from catalog.model.change import Judged
from catalog.model.naming import is_version
from catalog.model.skill import RootSpec, SkillRecord
from catalog.text.humanize import count
from catalog.text.times import iso
from catalog.writing.journal import Pin
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.sync.places import place_of

log = logging.getLogger("skilldrop")


def take_over(store: Store, settings: Settings) -> None:
    """Store the reviews and pins of a lost catalog, before anything is published.

    The content of a pinned version is read from its package. Raises sqlite3.Error and OSError.
    """
    if not store.decisions.are_lost:
        return
    reviews = store.decisions.take_reviews()
    roots = {root.path: root for root in settings.root_specs}
    pins = 0
    for (root, path), pin in store.decisions.lost_pins().items():
        judged = _judged(settings, roots[root], path, pin) if root in roots else None
        if judged:
            store.decisions.take_pin(judged, pin)
            pins += 1
        else:
            log.warning(
                "the pin of %s/%s to version %s is lost with the files of that version",
                root,
                path,
                pin.version,
            )
    if reviews or pins:
        log.warning(
            "the catalog had lost %s and %s; they were taken over from the journal of decisions",
            count(reviews, "review"),
            count(pins, "pin"),
        )


def _judged(settings: Settings, root: RootSpec, path: str, pin: Pin) -> Judged | None:
    """Return the verdict on the package of a pinned version, as the content of its folder."""
    if not is_version(pin.version) or not settings.packages_folder.is_dir():
        return None
    from pipeline.roots.local_source import open_local  # few catalogs lose a pin
    from pipeline.sync.engines.judging import judge_folder

    place = place_of(root, path)
    with open_local(str(settings.packages_folder), settings.limits, {}, {}) as packages:
        folder = packages.folder(f"{pin.skill_id}/{pin.version}")
        judged = judge_folder(root, packages, folder, place) if folder else None
    if not isinstance(judged, Judged) or not isinstance(judged.verdict, SkillRecord):
        return None
    if judged.verdict.digest != pin.digest:
        return None
    return judged._replace(steps="[]", started_at=iso(datetime.fromisoformat(judged.started_at)))
