"""One batch of changes as rows, with one outcome for each change."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from sqlite_utils import Database

from catalog.database import sql as database_sql
from catalog.database.sql import columns
from catalog.model import publication_findings
from catalog.model.change import Change, ChangeResult, Judged, Removal
from catalog.model.finding import Finding
from catalog.model.naming import qualified_name, skill_id
from catalog.model.quota import Quota
from catalog.model.skill import Place, Rejection, SkillRecord
from catalog.model.values import FolderOutcome, Trigger
from catalog.text import humanize
from catalog.text.times import iso
from catalog.writing.rows import dialects, purge, rows
from catalog.writing.rows.ingestions import Ingestion
from catalog.writing.rows.version_rate import seconds_until_next
from catalog.writing.rows.write_buffer import FILE_COLUMNS, WriteBuffer

NO_LIMITS = Quota()
_PRESENT = ("active", "shadowed")
"""The statuses of accepted content: what competes for a skill_id."""


class Taken(NamedTuple):
    """What a batch came to."""

    applied: list[ChangeResult]  # in the order of the changes
    contested: set[str]  # each skill_id whose winner is to be decided again
    write_texts: Callable[[], None]  # writes what is searched, still inside the transaction
    purged: list[int]  # skills whose content is to be deleted after that; see `purging`


def take_in(
    db: Database,
    changes: Sequence[Change],
    *,
    trigger: Trigger,
    at: datetime,
    scan: int | None = None,
    quota: Quota = NO_LIMITS,
) -> Taken:
    """Write a batch, inside the caller's transaction, before it is decided who wins.

    What is searched takes the longest to write, nobody waits for it, and it is left to the caller
    when. Raises sqlite3.Error.
    """
    batch = _Batch(db, trigger, at, scan, quota)
    batch.find_rows(changes)
    for change in changes:
        if isinstance(change, Removal):
            batch.take_gone(change)
            continue
        if change.moved_from in batch.old:  # the new place has a row of its own, and a history
            batch.take_gone(Removal(*change.moved_from))
            change = change._replace(moved_from=None)
        if isinstance(change.verdict, SkillRecord):
            batch.take_record(change.verdict, change)
        else:
            batch.take_rejection(change.verdict, change)
    batch.gathered.write(db.conn)
    return Taken(
        batch.applied, batch.contested, partial(batch.gathered.write_texts, db.conn), batch.purged
    )


class _Batch:
    """What becomes of the changes, one after the other."""

    def __init__(
        self, db: Database, trigger: Trigger, at: datetime, scan: int | None, quota: Quota
    ) -> None:
        self.db = db
        self.clock, self.quota = at, quota
        self.trigger, self.scan = trigger, scan
        self.at = iso(at)
        self.old: dict[tuple[str, str], database_sql.Row] = {}
        self.next_skill = self._highest("skills") + 1
        self.next_version = self._highest("versions") + 1
        self.applied: list[ChangeResult] = []
        self.gathered = WriteBuffer()
        self.contested: set[str] = set()
        self.purged: list[int] = []

    # What is known of these places already

    def find_rows(self, changes: Iterable[Change]) -> None:
        """Load the rows of all places in the batch; a renamed folder takes its row along."""
        moved = [
            change.moved_from
            for change in changes
            if isinstance(change, Judged) and change.moved_from
        ]
        found = self.db.query(
            "SELECT s.* FROM json_each(?) AS wanted JOIN skills AS s"
            " ON s.root = json_extract(wanted.value, '$[0]')"
            " AND s.path = json_extract(wanted.value, '$[1]')",
            [database_sql.to_json([*map(_place, changes), *moved])],
        )
        self.old = {(row["root"], row["path"]): row for row in found}
        for change in changes:
            if (
                isinstance(change, Judged)
                and change.moved_from in self.old
                and (_place(change) not in self.old)
            ):
                self.old[_place(change)] = self.old.pop(change.moved_from)

    # One change at a time

    def take_gone(self, gone: Removal) -> None:
        """Mark a row removed; its history stays, unless its content was never in the root."""
        place = (gone.root, gone.path)
        row = self.old.get(place)
        if row is None or row["status"] == "removed":
            return
        fields = _SETTLED | {
            "status": "removed",
            "status_reason": None,
            "fingerprint": "",
            "shadowed_by": None,
        }
        detail = None
        if gone.leads_out:
            fields |= purge.EMPTY
            self.purged.append(row["id"])
            self.gathered.declared[row["id"]] = {}
            held = row["pinned_version_id"]
            detail = purge.detail(self._version(held)["version"] if held else None)
        self._write_skill(row, fields)
        self.gathered.judged_anew.append((row["id"],))
        self.gathered.texts_gone.append(row["id"])
        self.contested.add(row["skill_id"])
        self._note(row["id"], place, row["name"], "removed", None, None, row, detail)

    def take_record(self, record: SkillRecord, judged: Judged) -> None:
        """Accept content: a new version where it is new, and the row that speaks of it."""
        place = _place(judged)
        old = self.old.get(place)
        if old and old["pinned_version_id"] and not _is_reranked(old, record.place):
            self._take_behind_held(record, judged, old)
            return
        fields = rows.accepted(record) | _SETTLED | {"pinned_version_id": None}
        if (
            old
            and self._says_the_same(old, fields, record.findings)
            and dialects.holds(self.db.conn, old["id"], record.dialects)
        ):
            self._touch(old, record.fingerprint)
            self._note_unchanged(place, record.name)
            return
        is_new = (
            not old
            or not old["current_version_id"]
            or ((old["digest"], old["skill_id"]) != (record.digest, record.skill_id))
        )
        if is_new and old and self._delay(old, record):
            return
        skill = old["id"] if old else self._new_skill()
        if old or record.dialects:
            self.gathered.declared[skill] = record.dialects
        if is_new:
            fields["current_version_id"] = self._add_version(
                skill, old, record, fields, self._moment(old)
            )
        present = old and old["status"] in _PRESENT
        outcome: FolderOutcome = (
            "renamed" if judged.moved_from else "updated" if present else "added"
        )
        self._write_skill(
            old,
            fields
            | {
                "id": skill,
                "fingerprint": record.fingerprint,
                "status": old["status"] if old and present else "active",
                "status_reason": old["status_reason"] if old and present else None,
            },
        )
        self._replace_findings(skill, record.place.root, record.place.path, record.findings, old)
        version = fields.get("current_version_id") or (old and old["current_version_id"])
        assert version
        self.gathered.texts.append(rows.search_document(skill, version, record))
        self.contested |= {record.skill_id, old["skill_id"]} if old else {record.skill_id}
        self._note(
            skill, place, record.name, outcome, judged, fields.get("current_version_id"), old
        )

    def _take_behind_held(self, record: SkillRecord, judged: Judged, old: database_sql.Row) -> None:
        """Record accepted content as a version, while the skill stays what it is held at."""
        place, skill = _place(judged), old["id"]
        held = self._version(old["pinned_version_id"])
        if not held["digest"] and old["digest"] == record.digest:
            self._regain(held["id"], record, old)
        findings = (*record.findings, publication_findings.held(held["version"]))
        fields = _SETTLED | {"seen_digest": record.digest, "root": place[0], "path": place[1]}
        is_new = self._newest_content(skill) != (record.digest, record.skill_id)
        if not is_new and self._says_the_same(old, fields, findings):
            self._touch(old, record.fingerprint)
            self._note_unchanged(place, old["name"])
            return
        if is_new and self._delay(old, record):
            return
        version = (
            self._add_version(skill, None, record, rows.accepted(record), self._moment(old))
            if is_new
            else None
        )
        present = old["status"] in _PRESENT
        if not present:
            fields |= {"status": "active", "status_reason": None}
            paths = [
                path
                for (path,) in self.db.execute(
                    "SELECT path FROM files WHERE version = ?", [held["id"]]
                )
            ]
            self.gathered.texts.append(rows.restored_text(skill, held, paths))
        self._write_skill(old, fields | {"fingerprint": record.fingerprint})
        self._replace_findings(skill, place[0], place[1], findings, old)
        self.contested |= {record.skill_id, old["skill_id"]}
        self._note(
            skill,
            place,
            old["name"],
            "renamed" if judged.moved_from else "updated" if present else "added",
            judged,
            version,
            old,
        )

    def _regain(self, version: int, record: SkillRecord, old: database_sql.Row) -> None:
        """Give a version that recovery could not bring over its content, from its folder."""
        content = rows.version(record, rows.accepted(record)) | {"skill_id": old["skill_id"]}
        settings = ", ".join(f"{column} = :{column}" for column in content)
        self.db.execute(f"UPDATE versions SET {settings} WHERE id = :id", content | {"id": version})
        self.gathered.files.extend(rows.file(version, entry) for entry in record.files)
        self.gathered.declared[old["id"]] = record.dialects
        self.gathered.texts.append(rows.search_document(old["id"], version, record))

    def _delay(self, old: database_sql.Row, record: SkillRecord) -> bool:
        """Let a skill wait that has had too many versions lately; tell whether it has to."""
        wait = seconds_until_next(self.db, self.quota, old["id"], self.clock)
        if not wait:
            return False
        count = old["coalesced"] + (old["seen_digest"] != record.digest)
        allowed = humanize.count(self.quota.versions_per_hour or 0, "version")
        reason = (
            f"changes too often: {allowed} in an hour; "
            f"{humanize.count(count, 'newer content was', 'newer contents were')} not stored, and "
            "the newest follows"
        )
        self.db.execute(
            "UPDATE skills SET pending_since = ifnull(pending_since, ?), pending_reason = ?,"
            " held_cause = NULL, seen_digest = ?, coalesced = ? WHERE id = ?",
            [self._moment(old), reason, record.digest, count, old["id"]],
        )
        self.applied.append(
            ChangeResult(record.place.root, record.place.path, old["name"], "delayed", reason, wait)
        )
        return True

    def _version(self, version: int) -> database_sql.Row:
        return next(iter(self.db.query("SELECT * FROM versions WHERE id = ?", [version])))

    def _newest_content(self, skill: int) -> tuple[str, str]:
        digest, skill_id = self.db.execute(
            "SELECT digest, skill_id FROM versions WHERE skill = ? ORDER BY id DESC LIMIT 1",
            [skill],
        ).fetchone()
        return digest, skill_id

    def take_rejection(self, rejection: Rejection, judged: Judged) -> None:
        """Note why content is not accepted; a last good version stays what it was."""
        place = _place(judged)
        old = self.old.get(place)
        findings = rejection.findings
        if old and old["status"] in _PRESENT:
            findings = (*findings, publication_findings.LAST_GOOD_VERSION_STANDS.at())
            fields = _SETTLED | {
                "seen_digest": rejection.digest,
                "root": place[0],
                "path": place[1],
                "newest_rejected_at": old["newest_rejected_at"] or self._moment(old),
            }
            if _is_reranked(old, rejection.place):
                fields |= self._readdressed(old, _moved_in_rank(old, rejection.place))
            elif old["pinned_version_id"]:
                findings = (
                    *findings,
                    publication_findings.held(self._version(old["pinned_version_id"])["version"]),
                )
        else:
            fields = (
                _SETTLED
                | rows.rejected(rejection)
                | {
                    "status": "rejected",
                    "status_reason": _why(rejection.findings),
                }
            )
        if old and self._says_the_same(old, fields, findings):
            self._touch(old, rejection.fingerprint)
            self._note_unchanged(place, rejection.name)
            return
        skill = old["id"] if old else self._new_skill()
        self._write_skill(old, fields | {"id": skill, "fingerprint": rejection.fingerprint})
        self._replace_findings(skill, place[0], place[1], findings, old)
        if old:
            self.contested |= {str(row["skill_id"]) for row in (old, fields) if "skill_id" in row}
            if fields.get("status") == "rejected":  # accepted once, its package lost
                self.gathered.texts_gone.append(skill)
        self._note(skill, place, rejection.name, "rejected", judged, None, old)

    # The rows of one change

    def _says_the_same(
        self, old: database_sql.Row, fields: database_sql.Row, findings: Iterable[Finding]
    ) -> bool:
        """Tell whether the catalog already holds this verdict."""
        if old["status"] in ("removed", "pending") or any(
            old[column] != value for column, value in fields.items()
        ):
            return False
        known = self.db.execute(
            f"SELECT {columns(rows.FINDING_COLUMNS)} FROM findings WHERE skill = ? AND code != ?"
            " ORDER BY id",
            [old["id"], publication_findings.NAME_CONFUSABLE.code],
        ).fetchall()
        return known == [rows.finding(old["id"], old["root"], old["path"], f) for f in findings]

    def _touch(self, old: database_sql.Row, fingerprint: str) -> None:
        if old["fingerprint"] != fingerprint:
            self.db.execute(
                "UPDATE skills SET fingerprint = ? WHERE id = ?", [fingerprint, old["id"]]
            )

    def _write_skill(self, old: database_sql.Row | None, fields: database_sql.Row) -> None:
        base = old or _NEW_ROW | {"first_seen": self.at}
        self.gathered.skills.append(base | fields | {"last_changed": self._moment(old)})

    def _moment(self, old: database_sql.Row | None) -> str:
        """Return the time of a change, never before the last one though the clock was set back."""
        return max(self.at, str(old["last_changed"])) if old else self.at

    def _add_version(
        self,
        skill: int,
        old: database_sql.Row | None,
        record: SkillRecord,
        fields: database_sql.Row,
        moment: str,
    ) -> int:
        version, self.next_version = self.next_version, self.next_version + 1
        self.gathered.versions.append(
            rows.version(record, fields)
            | {
                "id": version,
                "skill": skill,
                "ingested_at": moment,
            }
        )
        self.gathered.files.extend(rows.file(version, entry) for entry in record.files)
        if old and old["current_version_id"]:
            self.gathered.superseded.append((moment, old["current_version_id"]))
        return version

    def _readdressed(self, old: database_sql.Row, fields: database_sql.Row) -> database_sql.Row:
        """Add the published content as a version under another skill_id, if that is another."""
        published = self._version(old["current_version_id"])
        fields |= {"pinned_version_id": None, "digest": published["digest"]}
        if fields["skill_id"] == old["skill_id"]:
            return fields
        version, self.next_version = self.next_version, self.next_version + 1
        content = rows.readdressed(published, fields) | {
            "id": version,
            "ingested_at": self._moment(old),
        }
        files = self.db.execute(
            f"SELECT {columns(FILE_COLUMNS[1:])} FROM files WHERE version = ? ORDER BY id",
            [old["current_version_id"]],
        ).fetchall()
        self.gathered.versions.append(content)
        self.gathered.files += [(version, *file) for file in files]
        self.gathered.texts.append(
            rows.restored_text(old["id"], content, [path for path, *_ in files])
        )
        self.gathered.superseded.append((self._moment(old), old["current_version_id"]))
        return fields | {"current_version_id": version}

    def _replace_findings(
        self,
        skill: int,
        root: str,
        path: str,
        findings: Iterable[Finding],
        old: database_sql.Row | None,
    ) -> None:
        if old:
            self.gathered.judged_anew.append((skill,))
        self.gathered.findings.extend(rows.finding(skill, root, path, found) for found in findings)

    def _note(
        self,
        skill: int,
        place: tuple[str, str],
        name: str,
        outcome: FolderOutcome,
        judged: Judged | None,
        version: int | None,
        old: database_sql.Row | None = None,
        detail: str | None = None,
    ) -> None:
        if outcome == "rejected" and judged:
            detail = ", ".join(
                dict.fromkeys(
                    found.code for found in judged.verdict.findings if found.severity == "error"
                )
            )
        elif outcome == "renamed" and judged and judged.moved_from:
            detail = f"from {judged.moved_from[1]}"
        elif version and old and old["coalesced"] > 1:
            missed = humanize.count(old["coalesced"] - 1, "content")
            detail = f"{missed} before it came too fast to be stored"
        self.applied.append(ChangeResult(*place, name, outcome, detail))
        self.gathered.ingestions.append(
            Ingestion(
                skill,
                *place,
                self.scan,
                self.trigger,
                outcome,
                detail,
                version,
                self._began(judged, old),
                judged.took_ms if judged else 0.0,
                judged.steps if judged else "[]",
            )
        )

    def _began(self, judged: Judged | None, old: database_sql.Row | None) -> str:
        began = judged.started_at if judged else self.at
        return max(began, str(old["last_changed"])) if old else began

    def _note_unchanged(self, place: tuple[str, str], name: str) -> None:
        self.applied.append(ChangeResult(*place, name, "unchanged"))

    def _new_skill(self) -> int:
        skill, self.next_skill = self.next_skill, self.next_skill + 1
        return skill

    def _highest(self, table: str) -> int:
        """Return the highest id there is; with one writer, ids can be given here."""
        return int(self.db.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0])


def _is_reranked(row: database_sql.Row, place: Place) -> bool:
    return (row["level"], row["plugin"]) != (place.level, place.plugin)


def _moved_in_rank(row: database_sql.Row, place: Place) -> database_sql.Row:
    """Return what changes of accepted content when its root is given another level."""
    name = row["name"].removeprefix(f"{row['plugin']}:")
    return {
        "level": place.level,
        "plugin": place.plugin,
        "name": qualified_name(name, place.plugin),
        "skill_id": skill_id(name, place.plugin, place.path),
    }


def _why(findings: Iterable[Finding]) -> str:
    return " ".join(dict.fromkeys(found.message for found in findings if found.severity == "error"))


def _place(change: Change) -> tuple[str, str]:
    place = change if isinstance(change, Removal) else change.verdict.place
    return (place.root, place.path)


_SETTLED: database_sql.Row = {
    "pending_since": None,
    "pending_reason": None,
    "held_cause": None,
    "newest_rejected_at": None,
    "coalesced": 0,
}
_NEW_ROW: database_sql.Row = {
    "description": "",
    "tags": "[]",
    "model_invocable": 1,
    "user_invocable": 1,
    "is_alias": 0,
    "status_reason": None,
}
