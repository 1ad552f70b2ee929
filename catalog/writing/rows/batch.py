"""Rows of a batch of changes, with one result for each change."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.database.sql import to_json
from catalog.model import publication_findings
from catalog.model.change import Change, ChangeResult, Judged, Removal
from catalog.model.finding import Finding
from catalog.model.quota import Quota
from catalog.model.skill import Rejection, SkillRecord
from catalog.model.values import Trigger
from catalog.writing.rows import mapping, purge
from catalog.writing.rows.acceptance import SETTLED, accept, is_reranked, with_level
from catalog.writing.rows.unit_of_work import PRESENT, UnitOfWork, place_of

NO_LIMITS = Quota()


class BatchResult(NamedTuple):
    """Results of a batch, and the remaining steps for the caller."""

    applied: list[ChangeResult]  # in the order of the changes
    contested: set[str]  # each skill_id whose active skill must be decided again
    write_texts: Callable[[], None]  # writes the full-text rows, inside the same transaction
    purged: list[int]  # skills whose content must be deleted after that; see `purge`


def write_batch(
    db: Database,
    changes: Sequence[Change],
    *,
    trigger: Trigger,
    at: datetime,
    scan: int | None = None,
    quota: Quota = NO_LIMITS,
    named_after: str = "",
) -> BatchResult:
    """Write a batch in the caller's transaction, before shadowing is decided.

    The caller chooses when to write the full-text rows, which take longest and which no other step
    needs. New versions get names after `named_after`. Raises sqlite3.Error.
    """
    work = UnitOfWork(db, trigger, at, scan, quota)
    work.buffer.named_after = named_after
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
    work.buffer.write(db.conn)
    return BatchResult(
        work.applied, work.contested, partial(work.buffer.write_texts, db.conn), work.purged
    )


def _remove(work: UnitOfWork, removal: Removal) -> None:
    """Mark a skill as removed; its history stays, unless its content was outside the root."""
    place = (removal.root, removal.path)
    row = work.old.get(place)
    if row is None or row["status"] == "removed":
        return
    fields = SETTLED | {
        "status": "removed",
        "status_reason": None,
        "fingerprint": "",
        "files_left_out": "[]",
        "shadowed_by": None,
    }
    detail = None
    if removal.leads_out:
        fields |= purge.EMPTY
        work.purged.append(row["id"])
        work.buffer.declared[row["id"]] = {}
        work.buffer.references[row["id"]] = ()
        pinned = row["pinned_version_id"]
        detail = purge.detail(work.version_row(pinned)["version"] if pinned else None)
    work.write_skill(row, fields)
    work.buffer.judged_again.append((row["id"],))
    work.buffer.texts_gone.append(row["id"])
    work.contested.add(row["skill_id"])
    work.note(row["id"], place, row["name"], "removed", None, None, row, detail)


def _reject(work: UnitOfWork, rejection: Rejection, judged: Judged) -> None:
    """Store the reasons for a rejection; the last good version stays, unless it has a secret."""
    place = place_of(judged)
    old = work.old.get(place)
    findings = rejection.findings
    if old and old["status"] in PRESENT and not work.holds(old, rejection.refused):
        findings = (*findings, publication_findings.LAST_GOOD_VERSION_STANDS.at())
        fields = SETTLED | {
            "seen_digest": rejection.digest,
            "root": place[0],
            "path": place[1],
            "newest_rejected_at": old["newest_rejected_at"] or work.moment(old),
            "files_left_out": to_json(rejection.left_out),
        }
        if is_reranked(old, rejection.place):
            fields |= work.readdressed(old, with_level(old, rejection.place))
        elif old["pinned_version_id"]:
            findings = (
                *findings,
                publication_findings.held(work.version_row(old["pinned_version_id"])["version"]),
            )
    else:
        fields = (
            SETTLED
            | mapping.rejected(rejection)
            | {
                "status": "rejected",
                "status_reason": _rejection_reason(rejection.findings),
                "pinned_version_id": None,
                "shadowed_by": None,
            }
        )
    if old and work.is_stored(old, fields, findings):
        work.touch(old, rejection.fingerprint)
        work.note_unchanged(place, rejection.name)
        return
    skill = old["id"] if old else work.new_skill()
    work.write_skill(old, fields | {"id": skill, "fingerprint": rejection.fingerprint})
    work.replace_findings(skill, place[0], place[1], findings, old)
    if old:
        work.contested |= {str(row["skill_id"]) for row in (old, fields) if "skill_id" in row}
        if fields.get("status") == "rejected":  # accepted earlier; its files are lost or refused
            work.buffer.texts_gone.append(skill)
    work.note(skill, place, rejection.name, "rejected", judged, None, old)


def _rejection_reason(findings: Iterable[Finding]) -> str:
    return " ".join(
        dict.fromkeys(finding.message for finding in findings if finding.severity == "error")
    )
