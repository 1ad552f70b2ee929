"""Rows of accepted content: a new version of a skill, or one that it gets later."""

from catalog.database import sql as database_sql
from catalog.model.change import ChangeResult, Judged
from catalog.model.naming import bare_name, qualified_name, skill_id
from catalog.model.skill import Place, SkillRecord
from catalog.model.values import FolderOutcome, ReviewState
from catalog.reading import versions
from catalog.text import humanize
from catalog.writing.rows import dialects, fulltext, mapping, references, reviews, texts
from catalog.writing.rows.unit_of_work import PRESENT, UnitOfWork, place_of
from catalog.writing.rows.version_rate import seconds_until_next


def accept(work: UnitOfWork, record: SkillRecord, judged: Judged) -> None:
    """Store accepted content: the row of the skill, and a version if the content is new."""
    place = place_of(judged)
    old = work.old.get(place)
    review = work.review_of(record, old)
    if old and (kept := _kept(work, old, record, review)):
        _accept_behind(work, record, judged, old, kept, review)
        return
    fields = mapping.accepted(record) | SETTLED | {"pinned_version_id": None}
    findings = (*record.findings, *reviews.findings(work.db, None, review, record.digest))
    if review in reviews.UNPUBLISHABLE:
        fields |= reviews.unpublished(work.db, review, record.digest) | {"shadowed_by": None}
    if (
        old
        and work.is_stored(old, fields, findings)
        and dialects.holds(work.db.conn, old["id"], record.dialects)
        and references.holds(work.db.conn, old["id"], record.references)
    ):
        work.touch(old, record.fingerprint)
        work.note_unchanged(place, record.name)
        return
    stored = _stored_version(work, old, record, review)
    if not stored and old and _is_delayed(work, old, record):
        return
    skill = old["id"] if old else work.new_skill()
    if old or record.dialects:
        work.buffer.declared[skill] = record.dialects
    if old or record.references:
        work.buffer.references[skill] = record.references
    if stored:
        work.describe(stored, record)
    version = stored or work.add_version(skill, old, record, fields, work.moment(old), review)
    is_new = not old or version != old["current_version_id"]
    if stored and old and is_new:  # it waited behind the present one
        work.buffer.superseded.append((work.moment(old), old["current_version_id"]))
    if review in reviews.UNPUBLISHABLE:
        work.buffer.texts_gone.append(skill)
    else:
        fields |= _accepted_status(old)
        work.buffer.texts.append(mapping.search_document(skill, version, record))
    fields |= {"id": skill, "fingerprint": record.fingerprint, "current_version_id": version}
    work.write_skill(old, fields)
    work.replace_findings(skill, record.place.root, record.place.path, findings, old)
    work.contested |= {record.skill_id, old["skill_id"]} if old else {record.skill_id}
    new, outcome = version if is_new else None, _outcome(judged, old)
    work.note(skill, place, record.name, outcome, judged, new, old, review=review)


def _accepted_status(old: database_sql.Row | None) -> database_sql.Row:
    """Return the status of published content until shadowing is decided."""
    if old and old["status"] in PRESENT:
        return {"status": old["status"], "status_reason": old["status_reason"]}
    return {"status": "active", "status_reason": None}


def _kept(
    work: UnitOfWork, old: database_sql.Row, record: SkillRecord, review: ReviewState | None
) -> database_sql.Row | None:
    """Return the version that a held skill stays at: of its pin, or until a review; else None."""
    if old["pinned_version_id"] and not is_reranked(old, record.place):
        return work.version_row(old["pinned_version_id"])
    if review in reviews.UNPUBLISHABLE and old["status"] in PRESENT:
        return reviews.newest_publishable(work.db, old["id"], but=record.digest)
    return None


def _stored_version(
    work: UnitOfWork,
    old: database_sql.Row | None,
    record: SkillRecord,
    review: ReviewState | None,
) -> int | None:
    """Return the newest version if it has this content, with its new state; None to add one."""
    if not old or not old["current_version_id"] or not old["digest"]:
        return None
    if stored := work.stored_version(old["id"], record):
        work.set_review(stored, review)
        return int(stored["id"])
    return None


def _outcome(judged: Judged, old: database_sql.Row | None) -> FolderOutcome:
    """Return the outcome of accepted content, given the row of its skill."""
    if judged.moved_from:
        return "renamed"
    return "updated" if old and old["status"] in PRESENT else "added"


def _accept_behind(
    work: UnitOfWork,
    record: SkillRecord,
    judged: Judged,
    old: database_sql.Row,
    kept: database_sql.Row,
    review: ReviewState | None,
) -> None:
    """Store accepted content as a version, while the skill stays at another one."""
    place, skill = place_of(judged), old["id"]
    if not kept["digest"] and old["digest"] == record.digest:
        _restore_content(work, kept["id"], record, old)
    fields = SETTLED | {"seen_digest": record.digest, "root": place[0], "path": place[1]}
    fields["files_left_out"] = database_sql.to_json(record.left_out)
    pinned = kept["version"] if old["pinned_version_id"] == kept["id"] else None
    has_new_rank = is_reranked(old, record.place)
    held = reviews.findings(work.db, None if has_new_rank else pinned, review, record.digest)
    findings = (*record.findings, *held)
    stored = work.stored_version(skill, record)
    if not stored and _is_delayed(work, old, record):
        return
    if stored:
        work.describe(stored["id"], record)
    fields |= _at_version(work, old, kept)
    if has_new_rank:
        old = old | {"current_version_id": kept["id"]}
        fields |= work.readdressed(old, with_level(old, record.place))
    elif stored and stored["review"] == review and work.is_stored(old, fields, findings):
        work.touch(old, record.fingerprint)
        work.note_unchanged(place, old["name"])
        return
    version = None
    if stored:
        work.set_review(stored, review)
    else:
        version = work.add_version(
            skill, None, record, mapping.accepted(record), work.moment(old), review
        )
    work.write_skill(old, fields | {"fingerprint": record.fingerprint})
    work.replace_findings(skill, place[0], place[1], findings, old)
    work.contested |= {record.skill_id, old["skill_id"], str(fields.get("skill_id", ""))}
    outcome = _outcome(judged, old)
    work.note(skill, place, old["name"], outcome, judged, version, old, review=review)


def _at_version(
    work: UnitOfWork, old: database_sql.Row, kept: database_sql.Row
) -> database_sql.Row:
    """Return the columns that put a skill at a stored version, and search its text."""
    fields: database_sql.Row = {}
    if old["status"] not in PRESENT:
        fields = {"status": "active", "status_reason": None}
    if old["current_version_id"] != kept["id"]:
        fields |= versions.restored(kept)
        work.buffer.declared[old["id"]] = dialects.restored(kept)
        work.buffer.references[old["id"]] = references.restored(kept)
    if fields:
        work.buffer.texts.append(fulltext.stored_document(work.db, old["id"], kept))
    return fields


def _restore_content(
    work: UnitOfWork, version: int, record: SkillRecord, old: database_sql.Row
) -> None:
    """Restore the lost content of a version from its folder."""
    row = mapping.version(record, mapping.accepted(record)) | {"skill_id": old["skill_id"]}
    text = {row["skill_md_hash"]: row.pop("skill_md_content")}
    content = row | {"text_id": texts.ids_of(work.db.conn, text)[row["skill_md_hash"]]}
    settings = ", ".join(f"{column} = :{column}" for column in content)
    work.db.execute(f"UPDATE versions SET {settings} WHERE id = :id", content | {"id": version})
    work.buffer.files.extend(mapping.file(version, entry) for entry in record.files)
    work.buffer.declared[old["id"]] = record.dialects
    work.buffer.references[old["id"]] = record.references
    work.buffer.texts.append(mapping.search_document(old["id"], version, record))


def _is_delayed(work: UnitOfWork, old: database_sql.Row, record: SkillRecord) -> bool:
    """Return whether a skill must wait after too many recent versions; mark it if so."""
    wait = seconds_until_next(work.db, work.quota, old["id"], work.clock)
    if not wait:
        return False
    count = old["coalesced"] + (old["seen_digest"] != record.digest)
    allowed = humanize.count(work.quota.versions_per_hour or 0, "version")
    reason = (
        f"changes too often: {allowed} in an hour; "
        f"{humanize.count(count, 'newer state was', 'newer states were')} not stored, and "
        "the newest follows later"
    )
    work.db.execute(
        "UPDATE skills SET pending_since = ifnull(pending_since, ?), pending_reason = ?,"
        " held_cause = NULL, seen_digest = ?, coalesced = ? WHERE id = ?",
        [work.moment(old), reason, record.digest, count, old["id"]],
    )
    work.applied.append(
        ChangeResult(record.place.root, record.place.path, old["name"], "delayed", reason, wait)
    )
    return True


def is_reranked(row: database_sql.Row, place: Place) -> bool:
    """Return whether a place has another level or namespace than the row of its skill."""
    return (row["level"], row["namespace"]) != (place.level, place.namespace)


def with_level(row: database_sql.Row, place: Place) -> database_sql.Row:
    """Return the columns that depend on the level and the namespace of a root."""
    name = bare_name(row["name"], row["namespace"])
    return {
        "level": place.level,
        "plugin": place.plugin,
        "namespace": place.namespace,
        "name": qualified_name(name, place.namespace),
        "skill_id": skill_id(name, place.namespace, place.path),
    }


SETTLED: database_sql.Row = {
    "pending_since": None,
    "pending_reason": None,
    "held_cause": None,
    "newest_rejected_at": None,
    "coalesced": 0,
}
"""Columns of a folder whose content was judged."""
