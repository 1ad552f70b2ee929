"""Rows of a batch of changes: accepted content, rejections and removals."""

from collections.abc import Sequence
from datetime import datetime

from catalog.database.queries import Row, Writer
from catalog.model import finding as model_finding
from catalog.model.change import Change, Judged, Removal
from catalog.model.naming import bare_name, qualified_name, skill_id
from catalog.model.skill import LOST_ROOT, Place, Rejection, SkillRecord
from catalog.model.values import FolderOutcome, ReviewState, Trigger
from catalog.reading.skills import versions
from catalog.writing.rows import reviews
from catalog.writing.rows.unit_of_work import PRESENT, UnitOfWork


def write_batch(
    db: Writer,
    changes: Sequence[Change],
    *,
    trigger: Trigger,
    at: datetime,
    scan: int | None,
    named_after: str,
) -> UnitOfWork:
    """Write a batch in the caller's transaction, before shadowing is decided.

    Return the work with its results. New versions get names after `named_after`. Raises
    sqlite3.Error.
    """
    work = UnitOfWork(db, trigger, at, scan, named_after)
    work.load(changes)
    for change in changes:
        if isinstance(change, Removal):
            _remove(work, change)
            continue
        if change.moved_from in work.old:  # the new place already has a row, with its history
            _remove(work, Removal(*change.moved_from))
            change = change._replace(moved_from=None)
        if isinstance(change.verdict, SkillRecord):
            accept(work, change.verdict, change)
        else:
            _reject(work, change.verdict, change)
    work.write()
    return work


def accept(work: UnitOfWork, record: SkillRecord, judged: Judged) -> None:
    """Store accepted content: the row of the skill, and a version if the content is new."""
    old = work.old.get(judged.places[0])
    review = reviews.state_of(work.db, record, old["id"] if old else None, work.policies)
    if old and (kept := _kept(work, old, record, review)):
        _accept_behind(work, record, judged, old, kept, review)
        return
    fields = {**judged.columns.skill, **SETTLED, "pinned_version_id": None}
    if review in reviews.UNPUBLISHABLE:
        fields |= reviews.unpublished(work.db, review, record.digest) | {"shadowed_by": None}
    content = judged.columns
    before = work.newest_version(old["id"]) if old else None
    stored = before if old and old["digest"] and _is_of(before, record) else None
    is_described = stored and stored["described"] == content.version["described"]
    if old and is_described and work.is_unchanged(old, fields, record.findings, record.fingerprint):
        return
    skill = old["id"] if old else next(work.new_skills)
    work.described.append(skill)
    if stored:
        work.update_version(stored, content, record.place.root, review)
        version = int(stored["id"])
    else:
        version = work.add_version(skill, record, content, work.moment(old), review, before)
    is_new = not old or version != old["current_version_id"]
    if is_new:
        work.supersede(old)
    if review not in reviews.UNPUBLISHABLE and not (old and old["status"] in PRESENT):
        fields |= {"status": "active", "status_reason": None}  # until shadowing is decided
    fields |= {"id": skill, "current_version_id": version}
    new = version if is_new else None
    work.change(judged, old, fields, record.findings, _outcome(judged, old), new, review)


def _is_of(version: Row | None, record: SkillRecord) -> bool:
    """Return whether a version has the content of a record."""
    content = (record.digest, record.skill_id)
    return version is not None and (version["digest"], version["skill_id"]) == content


def _outcome(judged: Judged, old: Row | None) -> FolderOutcome:
    """Return the outcome of accepted content, given the row of its skill."""
    if judged.moved_from and judged.moved_from[0] != LOST_ROOT:
        return "renamed"
    if judged.moved_from:
        return "added"
    return "updated" if old and old["status"] in PRESENT else "added"


def _kept(
    work: UnitOfWork, old: Row, record: SkillRecord, review: ReviewState | None
) -> Row | None:
    """Return the version that a skill stays at: of its pin, or until a review; else None."""
    if old["pinned_version_id"] and not _is_reranked(old, record.place):
        return work.version_row(old["pinned_version_id"])
    if review in reviews.UNPUBLISHABLE and old["status"] in PRESENT:
        return reviews.newest_publishable(work.db, old["id"], but=record.digest)
    return None


def _accept_behind(
    work: UnitOfWork,
    record: SkillRecord,
    judged: Judged,
    old: Row,
    kept: Row,
    review: ReviewState | None,
) -> None:
    """Store accepted content as a version, while the skill stays at another one."""
    place, skill = judged.places[0], old["id"]
    fields = SETTLED | {"seen_digest": record.digest, "root": place[0], "path": place[1]}
    fields["files_left_out"] = judged.columns.skill["files_left_out"]
    before = work.newest_version(skill)
    stored = before if _is_of(before, record) else None
    content = judged.columns
    if stored:
        work.update_version(stored, content, record.place.root, review)
    fields |= _at_version(work, old, kept)
    if _is_reranked(old, record.place):
        old = old | {"current_version_id": kept["id"]}
        fields |= work.readdressed(old, _with_level(old, record.place))
    elif (
        stored
        and stored["review"] == review
        and work.is_unchanged(old, fields, record.findings, record.fingerprint)
    ):
        return
    version = None
    if not stored:
        version = work.add_version(skill, record, content, work.moment(old), review, before)
    work.change(judged, old, fields, record.findings, _outcome(judged, old), version, review)


def _at_version(work: UnitOfWork, old: Row, kept: Row) -> Row:
    """Return the columns that put a skill at a stored version, and search its text."""
    fields: Row = {}
    if old["status"] not in PRESENT:
        fields = {"status": "active", "status_reason": None}
    if old["current_version_id"] != kept["id"]:
        fields |= versions.restored(kept)
    if fields:
        work.described.append(old["id"])
    return fields


def _reject(work: UnitOfWork, rejection: Rejection, judged: Judged) -> None:
    """Store the reasons for a rejection; the last good version stays, unless it has a secret."""
    place = judged.places[0]
    old = work.old.get(place)
    findings = rejection.findings
    if old and old["status"] in PRESENT and not work.has_file(old, rejection.refused):
        findings = (*findings, model_finding.LAST_GOOD_VERSION_STANDS.at())
        fields = SETTLED | {
            "seen_digest": rejection.digest,
            "root": place[0],
            "path": place[1],
            "newest_rejected_at": old["newest_rejected_at"] or work.moment(old),
            "files_left_out": judged.columns.skill["files_left_out"],
        }
        if _is_reranked(old, rejection.place):
            fields |= work.readdressed(old, _with_level(old, rejection.place))
    else:
        errors = [each.message for each in findings if each.severity == "error"]
        fields = {
            **SETTLED,
            **judged.columns.skill,
            "status": "rejected",
            "status_reason": " ".join(dict.fromkeys(errors)),
            "pinned_version_id": None,
            "shadowed_by": None,
        }
    if old and work.is_unchanged(old, fields, findings, rejection.fingerprint):
        return
    skill = old["id"] if old else next(work.new_skills)
    if old and fields.get("status") == "rejected":  # its files are lost or refused
        work.described.append(skill)
    work.change(judged, old, fields | {"id": skill}, findings, "rejected")


def _is_reranked(row: Row, place: Place) -> bool:
    """Return whether a place has another level or namespace than the row of its skill."""
    return (row["level"], row["namespace"]) != (place.level, place.namespace)


def _with_level(row: Row, place: Place) -> Row:
    """Return the columns that depend on the level and the namespace of a root."""
    name = bare_name(row["name"], row["namespace"])
    return {
        "level": place.level,
        "plugin": place.plugin,
        "namespace": place.namespace,
        "name": qualified_name(name, place.namespace),
        "skill_id": skill_id(name, place.namespace, place.path),
    }


def _remove(work: UnitOfWork, removal: Removal) -> None:
    """Mark a skill as removed; its history stays."""
    row = work.old.get(removal.places[0])
    if row is None or row["status"] == "removed":
        return
    fields = SETTLED | {
        "status": "removed",
        "status_reason": None,
        "fingerprint": "",
        "files_left_out": "[]",
        "shadowed_by": None,
    }
    work.described.append(row["id"])
    work.change(removal, row, fields, (), "removed")


SETTLED: Row = {
    "pending_since": None,
    "pending_reason": None,
    "held_cause": None,
    "newest_rejected_at": None,
}
"""Columns of a folder whose content was judged."""
