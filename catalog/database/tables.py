"""Tables of the catalog with their columns, as data; `schema` creates them.

Any SQLite client reads all of it. Times are ISO 8601 in UTC, lists and objects are JSON text, flags
are 0 or 1, sizes are bytes. datasette-metadata.yml says what each column means to people.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, get_args

from catalog.model.declarations import RECORDS
from catalog.model.fields import COLUMNS, Column
from catalog.model.finding import Finding
from catalog.model.outcome import MemoryWrite, RunStep
from catalog.model.skill import SkillReference


@dataclass(frozen=True, slots=True)
class Key:
    """Column with the primary key of another table."""

    table: str
    is_optional: bool = False
    on_delete: str = "NO ACTION"


CASCADE = "CASCADE"
SET_NULL = "SET NULL"


def _of(record: Any) -> dict[str, Any]:
    """Return the columns that store the fields of a record; lists and objects are JSON."""
    if is_dataclass(record):
        return {field.name: _stored(field.type) for field in fields(record)}
    return {name: _stored(kind) for name, kind in record.__annotations__.items()}


def _stored(kind: Any) -> Any:
    """Return the type of the column for a field of a record."""
    if isinstance(kind, str):  # any JSON
        return str | None
    types = [each for each in get_args(kind) if each is not NoneType]
    is_optional = NoneType in get_args(kind)
    plain = types[0] if is_optional else kind
    stored = {bool: int, int: int, float: float}.get(plain, str)
    return stored | None if is_optional else stored


def _of_field(column: Column) -> Any:
    return column.empty if column.has_default else column.stored_kind


_FIELDS = {name: _of_field(column) for name, column in COLUMNS.items()}

TABLES: Mapping[str, Mapping[str, Any]] = {
    "roots": {
        "path": str,
        "level": str,
        "position": int,  # order in the configuration
        "acceptance": str,
        "profiles": str,
        "judged_by": str,  # the rules that validated its skills
        "configured": 1,
        "trouble": str | None,  # why it cannot be read now
        "review": "none",
        "review_from": 0,  # versions with a lower id were stored under other rules
        "mounts": "{}",  # devices by path, "" for the root itself
        # Of a root that is the mirror of a repository:
        "git_url": str | None,
        "git_ref": str | None,
        "git_path": str | None,
        "git_commit": str | None,
        "git_pulled_at": str | None,
        "git_trouble": str | None,
    },
    "skills": {
        "id": int,
        "skill_id": str,
        **{name: _FIELDS[name] for name in ("name", "display_name", "description")},
        "status": str,  # active, shadowed, rejected, pending or removed
        "status_reason": str | None,
        "level": str,
        "plugin": str | None,
        "namespace": str | None,  # of its plugin or owner
        "source": "",  # who it comes from; see `writing.rows.sources`
        "source_kind": "",  # repository, namespace, folder, author or root
        "root": Key("roots"),
        "path": str,
        **_FIELDS,
        "current_version_id": Key("versions", is_optional=True),
        "pinned_version_id": Key("versions", is_optional=True),
        "package_path": str | None,
        "skill_md_hash": str | None,
        "digest": str | None,  # of the accepted content
        "seen_digest": str | None,  # of the content last read, accepted or not
        "shadowed_by": Key("skills", is_optional=True),
        "is_conflict": 0,  # 1 if it lost its name to other content of its level, undecided
        "is_alias": 0,  # 1 if it was reached through a link
        "name_since": str | None,  # when it took its skill_id
        "preferred_at": str | None,
        "first_seen": str,
        "last_changed": str,
        "newest_rejected_at": str | None,  # set while the last good version stays published
        "pending_since": str | None,
        "pending_reason": str | None,
        "held_cause": str | None,
        "removed_at": str | None,  # while the limit on removals may count it
        "file_inventory": "{}",
        "frontmatter": "{}",
        "files_left_out": "[]",
        "fingerprint": "",
        "folder_paths": str | None,  # names and stats of its folder, by which a scan knows it …
        "folder_stats": str | None,  # … again without reading it
    },
    "findings": {
        "id": int,
        "skill": Key("skills", is_optional=True),  # null for a finding outside skills
        "root": Key("roots"),
        "folder": str,
        **_of(Finding),
    },
    "skill_references": {
        "id": int,
        "skill": Key("skills", on_delete=CASCADE),
        **_of(SkillReference),
        "place": str | None,  # absolute path that a link leads to
        "wanted": str | None,  # skill_id of the declared name
        "to_skill": Key("skills", is_optional=True, on_delete=SET_NULL),
        "problem": str | None,  # why agents cannot follow it
    },
    "texts": {"id": int, "sha256": str, "text": str},  # the hash is of the file's bytes
    "versions": {
        "id": int,
        "skill": Key("skills"),
        "skill_id": str,
        "version": str,
        "ingested_at": str,
        "superseded_at": str | None,
        "review": str | None,  # waits, approved or rejected; null if it needs none
        "digest": str,
        "skill_md_hash": str,
        "package_path": str | None,
        "file_inventory": str,
        "frontmatter": str,
        "described": "{}",  # columns of skills as they were accepted
        "text_id": Key("texts", is_optional=True),  # of SKILL.md
        "git_commit": str | None,
        "changes": str | None,  # from the version before, in words
        "retired_at": str | None,  # since when agents no longer get its package
        "verified_at": str | None,
    },
    "files": {
        "id": int,
        "version": Key("versions", on_delete=CASCADE),
        "path": str,
        "kind": str,
        "size": int,
        "sha256": str,
        "mode": str,  # octal
        "is_text": int,
        "text_id": Key("texts", is_optional=True),  # of a text that is not too long
    },
    "reviews": {
        "id": int,
        "digest": str,  # of the content; the newest decision on it counts
        "decision": str,
        "decided_by": str,
        "decided_at": str,
        "why": str | None,
        "skill": Key("skills", is_optional=True),  # the skill that was looked at
        "version": str,
    },
    "skill_text": {
        "id": Key("skills"),  # of an accepted skill
        "version": Key("versions"),  # whose SKILL.md has the body
        "headings": str,
        "file_names": str,
        "body_from": int,  # first byte of the body in SKILL.md, from 1
        "body_bytes": int,
        "body_grams": str,
    },
    "scans": {
        "id": int,
        "trigger": str,
        "started_at": str,
        "took_ms": float | None,  # null while it runs, or if it was interrupted
        "seen": 0,
        "added": 0,
        "updated": 0,
        "unchanged": 0,
        "renamed": 0,
        "rejected": 0,
        "removed": 0,
        "held": 0,
        "missed_by_events": 0,
    },
    "ingestions": {
        "id": int,  # the newest row stays, so that no id is used twice
        "skill": Key("skills", is_optional=True),
        "root": str,
        "path": str,
        "scan": Key("scans", is_optional=True),
        "trigger": str,
        "outcome": str,
        "detail": str | None,
        "version": Key("versions", is_optional=True, on_delete=SET_NULL),
        "started_at": str,
        "took_ms": float,
        "steps": "[]",
    },
    "requests": {
        "id": int,
        "action": str,
        "arguments": "{}",
        "result": str | None,
        "asked_at": str,
        "started_at": str | None,
        "finished_at": str | None,
    },
    "health": {
        "id": int,  # always 1
        "service_pid": int | None,
        "service_started": str | None,
        "service_seen": str | None,  # heartbeat of the service
        "service_stopped": str | None,
        "last_event": str | None,
        "last_full_scan": str | None,
        "next_full_scan": str | None,  # by the timer of the service
        "watcher_mode": "stopped",  # native, polling or stopped
        "watcher_since": str | None,
        "watcher_reason": str | None,
        "overflows": 0,
        "missed_by_events": 0,
        "pending_count": 0,
        "held_removals": 0,
        "packages_repaired": 0,
        "quiet_since": str | None,
        "packages_folder": str | None,
        "site_host": str | None,
        "site_port": int | None,
        "identity": str | None,  # of the catalog, also stored in its folders
        "troubles": "[]",  # failed work that the service tries again
        "recoveries": "[]",  # lost and damaged catalogs that this one replaced
        "delivered": "{}",  # the last event given to each listener
    },
    "linked_directories": {
        "id": int,
        "path": str,
        "origin": str,  # data, settings or command
        "index_name": str | None,  # the filter of this index counts
        "filter": str,
        "is_copy": 0,  # it has folders instead of links
        "agent": str | None,  # that reads it
        "finder": str | None,  # name of the finder; null: all skills are placed there
        "is_leaving": 0,  # its links are removed
        "trouble": str | None,
    },
    "links": {
        "id": int,
        "directory": Key("linked_directories", on_delete=CASCADE),
        "name": str,
        "skill_id": str,
        "target": str,
        "former_target": str | None,  # until a crash can no longer leave it
        "is_linked": 0,  # 0: the name is taken
        "skill_md": str | None,  # text of a finder, which has no skill_id
    },
    "indexes": {
        "name": str,
        "position": int,
        "format": str,
        "language": str,
        "filter": str,
        "featured": str,
        "budget_chars": int | None,  # of the whole text; null: budget_tokens counts
        "budget_tokens": int | None,
        "overflow": str,
        "location_base": str | None,
        "last_build_id": Key("index_builds", is_optional=True),
    },
    "index_texts": {"sha256": str, "text": str, "chars": int, "estimated_tokens": int},
    "index_builds": {
        "id": int,
        "index_name": Key("indexes", on_delete=CASCADE),
        "sha256": Key("index_texts"),
        "published_at": str,
        "full": int,
        "shortened": int,
        "name_only": int,
        "left_out": int,
    },
    "index_entries": {
        "id": int,
        "index_name": Key("indexes", on_delete=CASCADE),
        "rank": int,  # from 1
        "skill": Key("skills"),
        "state": str,  # full, shortened or name_only
        "chars": int,
        "reason": str | None,
        "shown": str,  # words of the description that agents see
    },
    "outcomes": {
        "id": int,
        "path": str,
        "run_id": str,
        "revision": int,  # from 1; changed content of a run gets the next
        "is_newest": int,
        "skill_id": str | None,  # null if nothing names a skill
        "skill": Key("skills", is_optional=True),  # null if the catalog does not have it
        "version": Key("versions", is_optional=True, on_delete=SET_NULL),
        "skill_declared": str | None,
        "version_declared": str | None,
        "form": str,
        "tool": str | None,
        "call_id": str | None,
        "status": str | None,
        "failed": int,
        "message": str | None,
        "format": str | None,
        "output": str,
        "token_usage": str | None,
        "tokens": float | None,
        "warnings": str,
        "findings": str,
        "sha256": str,  # of the file
        "received_at": str,
    },
    "memory_writes": {
        "id": int,  # hooks are told of them in this order
        "outcome": Key("outcomes", on_delete=CASCADE),
        "position": int,  # from 1
        **_of(MemoryWrite),
        "suggestion": str,  # identifier; another revision of the run has the same
    },
    "step_traces": {
        "id": int,
        "outcome": Key("outcomes", on_delete=CASCADE),
        "position": int,  # from 1
        **_of(RunStep),
    },
    "outcome_files": {
        "path": str,
        "fingerprint": str,
    },
    "outcome_rejections": {
        "id": int,
        "path": str,
        "reason": str,
        "findings": str,
        "rejected_at": str,
    },
}
"""Columns of each table; the first one is its primary key.

A column has a type, which may be None; or a value, which is its default; or the key of a table.
"""


def of_dialects() -> dict[str, dict[str, Any]]:
    """Return the tables of the declarations for each dialect."""
    key = {"skill": Key("skills", on_delete=CASCADE)}
    return {f"{name}_skills": key | _of(record) for name, record in RECORDS.items()}
