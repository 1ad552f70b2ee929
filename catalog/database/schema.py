"""The schema of the catalog: tables with their indexes; `views` has the rest.

Any SQLite client reads all of it: nothing here needs a function that SQLite lacks. Times are ISO
8601 in UTC, lists and objects are JSON text, flags are 0 or 1, sizes are bytes. A column whose type
has None may be null. datasette-metadata.yml says what each column means to people. A released
migration is never edited; a change of the schema is a new migration below it.
"""

import re
import sqlite3
from dataclasses import fields
from types import NoneType
from typing import Any, get_args

from sqlite_utils import Database
from sqlite_utils.db import ForeignKey
from sqlite_utils.migrations import Migrations

from catalog.database import views
from catalog.database.schema_version import MIGRATION_SET
from catalog.model.declarations import RECORDS
from catalog.model.fields import COLUMNS

migrations = Migrations(MIGRATION_SET)


def apply(connection: sqlite3.Connection) -> None:
    """Apply the migrations that a catalog lacks. Raises sqlite3.Error."""
    migrations.apply(Database(connection))


@migrations()
def m001_catalog(db: Database) -> None:
    """Create the catalog of the first release."""
    _roots_and_skills(db)
    _content(db)
    _history(db)
    _prompt_indexes(db)
    _outcomes(db)
    _declarations(db)
    views.create(db)


def _roots_and_skills(db: Database) -> None:
    roots = {
        "path": str,
        "level": str,
        "position": int,  # order in the configuration
        "acceptance": str,
        "profiles": str,  # JSON list
        "judged_by": str,  # the rules that validated its skills
        "configured": int,
        "trouble": str | None,  # why it cannot be read now
        "review": str,
        "review_severity": str,
        "review_from": int,  # versions with a lower id were stored under other rules
        "mounts": str,  # JSON object: devices by path, "" for the root itself
        # Of a root that is the mirror of a repository:
        "git_url": str | None,  # without credentials
        "git_ref": str | None,  # null for the default branch
        "git_path": str | None,  # of a folder in the repository
        "git_commit": str | None,  # of the content that the root has now
        "git_pulled_at": str | None,  # last successful pull, even without a change
        "git_trouble": str | None,  # why the last pull failed
    }
    defaults = {"configured": 1, "review": "none", "review_severity": "warning"}
    _create(db, "roots", roots, pk="path", defaults=defaults | {"review_from": 0, "mounts": "{}"})

    kinds = {name: column.stored_kind for name, column in COLUMNS.items()}
    skills = {
        "id": int,
        "skill_id": str,
        **{name: kinds[name] for name in ("name", "display_name", "description")},
        "status": str,  # active, shadowed, rejected, pending or removed
        "status_reason": str | None,
        "level": str,
        "plugin": str | None,
        "namespace": str | None,  # of its plugin or owner
        "root": str,
        "path": str,
        **kinds,  # the others of the table of fields
        "current_version_id": int | None,
        "pinned_version_id": int | None,
        "package_path": str | None,  # relative to the packages folder
        "skill_md_hash": str | None,
        "digest": str | None,  # of the accepted content
        "seen_digest": str | None,  # of the content last read, accepted or not
        "shadowed_by": int | None,
        "is_conflict": int,  # 1 if it lost its name to other content of its level, undecided
        "is_alias": int,  # 1 if it was reached through a link
        "name_since": str | None,  # when it took its skill_id
        "preferred_at": str | None,  # by `skilldrop prefer`
        "first_seen": str,
        "last_changed": str,
        "newest_rejected_at": str | None,  # set while the last good version stays published
        "pending_since": str | None,
        "pending_reason": str | None,
        "held_cause": str | None,
        "coalesced": int,  # contents since the last version that came too fast to become versions
        "removed_boot": str | None,  # start of the machine in which it was removed …
        "removed_uptime": float | None,  # … and the seconds since then
        "file_inventory": str,  # JSON object
        "frontmatter": str,  # JSON object
        "files_left_out": str,  # JSON list of the files that are part of no version
        "skeleton": str,  # the same for names that look alike
        "fingerprint": str,
        "folder_paths": str | None,  # names and stats of its folder, by which a scan knows it …
        "folder_stats": str | None,  # … again without reading it
    }
    defaults = {
        **{name: column.empty for name, column in COLUMNS.items() if column.has_default},
        **dict.fromkeys(("skeleton", "fingerprint"), ""),
        "files_left_out": "[]",
        **dict.fromkeys(("file_inventory", "frontmatter"), "{}"),
        **dict.fromkeys(("is_conflict", "is_alias", "coalesced"), 0),
    }
    foreign_keys = {"root": "roots", "shadowed_by": "skills"}
    _create(db, "skills", skills, foreign_keys=foreign_keys, defaults=defaults)

    findings = {
        "id": int,
        "skill": int | None,  # null for a finding outside skills
        "root": str,
        "folder": str,  # relative to the root
        "code": str,
        "severity": str,
        "profile": str,
        "field": str | None,
        "path": str | None,  # relative to the folder
        "line": int | None,
        "column": int | None,
        "message": str,
        "fix": str,
        "before": str | None,
        "after": str | None,
    }
    foreign_keys = {"skill": "skills", "root": "roots"}
    _create(db, "findings", findings, foreign_keys=foreign_keys)
    _index(
        db,
        "findings",
        "skill",
        "severity",
        of_no_skill="root, folder WHERE skill IS NULL",
        by_kind="code, severity, profile, skill",
        of_safety="skill, severity WHERE profile = 'safety'",
    )

    skill_references = {
        "id": int,
        "skill": int,
        "kind": str,  # link or declared
        "target": str,  # relative to its file, or the name of a skill
        "path": str,  # of its file, relative to the skill folder
        "line": int,
        "field": str | None,  # of the frontmatter, if it is declared
        "place": str | None,  # absolute path that a link leads to
        "wanted": str | None,  # skill_id of the declared name
        "to_skill": int | None,
        "problem": str | None,  # why agents cannot follow it
    }
    foreign_keys = {"skill": "skills", "to_skill": "skills"}
    _create(
        db,
        "skill_references",
        skill_references,
        foreign_keys=foreign_keys,
        on_delete={"skill": "CASCADE", "to_skill": "SET NULL"},
    )
    _index(
        db,
        "skill_references",
        "skill, kind",
        "to_skill, kind WHERE to_skill IS NOT NULL",
        "place WHERE place IS NOT NULL",
        "wanted WHERE wanted IS NOT NULL",
    )


def _content(db: Database) -> None:
    """Create versions, their files and texts; a text of several files or versions lies once."""
    texts = {"id": int, "sha256": str, "text": str}  # the hash is of the file's bytes
    _create(db, "texts", texts)
    _index(db, "texts", "UNIQUE sha256")

    versions = {
        "id": int,
        "skill": int,
        "skill_id": str,
        "version": str,
        "ingested_at": str,
        "superseded_at": str | None,
        "review": str | None,  # waits, approved or rejected; null if it needs none
        "digest": str,
        "skill_md_hash": str,
        "package_path": str | None,
        "file_inventory": str,  # JSON object
        "frontmatter": str,  # JSON object
        "described": str,  # JSON object: columns of skills as they were accepted
        "text_id": int | None,  # of SKILL.md
        "git_commit": str | None,  # of a root that is a repository, when accepted
        "retired_at": str | None,  # since when agents no longer get its package
        "verified_at": str | None,  # when its package was last hashed
    }
    foreign_keys = {"skill": "skills", "text_id": "texts"}
    _create(db, "versions", versions, foreign_keys=foreign_keys, defaults={"described": "{}"})
    _compute(db, "versions", bytes="INTEGER AS (json_extract(file_inventory, '$.totalSizeBytes'))")
    _index(
        db,
        "versions",
        "UNIQUE skill_id, version",
        "skill",
        "text_id",
        "retired_at WHERE package_path IS NOT NULL",
        "superseded_at WHERE superseded_at IS NOT NULL",
        "verified_at WHERE package_path IS NOT NULL",
        "digest WHERE review IS NOT NULL",
        "review WHERE review IS NOT NULL",
        packaged="package_path, bytes WHERE package_path IS NOT NULL",
    )

    files = {
        "id": int,
        "version": int,
        "path": str,
        "kind": str,
        "size": int,
        "sha256": str,
        "mode": str,  # octal, as in `ls` and `chmod`
        "is_text": int,
        "text_id": int | None,  # of a text that is not too long
    }
    foreign_keys = {"version": "versions", "text_id": "texts"}
    _create(db, "files", files, foreign_keys=foreign_keys, on_delete={"version": "CASCADE"})
    _index(db, "files", "UNIQUE version, path", "text_id WHERE text_id IS NOT NULL")

    reviews = {
        "id": int,
        "digest": str,  # of the content; the newest decision on it counts
        "decision": str,  # approved or rejected
        "decided_by": str,
        "decided_at": str,
        "why": str | None,
        "skill": int | None,  # the skill that was looked at
        "version": str,  # its version
    }
    _create(db, "reviews", reviews, foreign_keys={"skill": "skills"})
    _index(db, "reviews", "digest", "skill")

    skill_text = {
        "id": int,  # of an accepted skill
        "version": int,  # whose SKILL.md has the body
        "headings": str,
        "file_names": str,
        "body_from": int,  # first byte of the body in SKILL.md, from 1
        "body_bytes": int,
        "body_grams": str,  # pairs of CJK characters in the body
    }
    foreign_keys = {"id": "skills", "version": "versions"}
    _create(db, "skill_text", skill_text, foreign_keys=foreign_keys)
    _index(db, "skill_text", "version")

    # These refer to a table that is created after theirs.
    db.table("skills").add_foreign_key("current_version_id", "versions", "id")
    db.table("skills").add_foreign_key("pinned_version_id", "versions", "id")
    _compute(
        db,
        "skills",
        has_scripts="INTEGER AS (json_extract(file_inventory, '$.hasScripts'))",
        is_held="INTEGER AS (held_cause IS NOT NULL)",
        level_rank="INTEGER AS (CASE level WHEN 'enterprise' THEN 0 WHEN 'personal' THEN 1"
        " WHEN 'project' THEN 2 ELSE 3 END)",
        bare_name="TEXT AS (iif(namespace IS NULL, name, substr(name, length(namespace) + 2)))",
        publisher=f"TEXT AS ({_PUBLISHER})",
    )
    _index(
        db,
        "skills",
        "UNIQUE root, path",
        "skill_id, status",
        "name",
        "digest",
        "skeleton",
        "current_version_id",
        "pinned_version_id",
        "level",
        "plugin WHERE plugin IS NOT NULL",
        "license WHERE license IS NOT NULL",
        "category WHERE category IS NOT NULL",
        "namespace WHERE namespace IS NOT NULL",
        "bare_name WHERE namespace IS NOT NULL",
        "newest_rejected_at WHERE newest_rejected_at IS NOT NULL",
        "removed_boot WHERE removed_boot IS NOT NULL",
        "status, last_changed, level, publisher, license, category, has_scripts, "
        "spec_valid, model_invocable, current_version_id, root, estimated_tokens, name",
        pending="pending_since WHERE pending_since IS NOT NULL",
        preferred="preferred_at WHERE preferred_at IS NOT NULL",
        in_conflict="is_conflict, root, path WHERE is_conflict = 1",
        in_index_order="level_rank, ifnull(priority, 0) DESC, name, id WHERE status = "
        "'active' AND model_invocable = 1",
    )


def _history(db: Database) -> None:
    scans = {
        "id": int,
        "trigger": str,
        "started_at": str,
        "took_ms": float | None,  # null while it runs, or if it was interrupted
        **dict.fromkeys(
            ("seen", "added", "updated", "unchanged", "renamed", "rejected", "removed", "held"), int
        ),
        "missed_by_events": int,
    }
    _create(db, "scans", scans, defaults={name: 0 for name, kind in scans.items() if kind is int})

    ingestions = {
        "id": int,  # the newest row stays, so that no id is used twice
        "skill": int | None,
        "root": str,
        "path": str,
        "scan": int | None,
        "trigger": str,
        "outcome": str,
        "detail": str | None,
        "version": int | None,
        "started_at": str,
        "took_ms": float,
        "steps": str,  # JSON list of step traces
    }
    foreign_keys = {"skill": "skills", "scan": "scans", "version": "versions"}
    on_delete = {"version": "SET NULL"}
    _create(
        db,
        "ingestions",
        ingestions,
        foreign_keys=foreign_keys,
        on_delete=on_delete,
        defaults={"steps": "[]"},
    )
    _index(db, "ingestions", "skill", "started_at", "version", "scan")

    requests = {
        "id": int,
        "action": str,
        "arguments": str,  # JSON object
        "result": str | None,  # JSON object
        "asked_at": str,
        "started_at": str | None,
        "finished_at": str | None,
    }
    _create(db, "requests", requests, defaults={"arguments": "{}"})
    _index(
        db,
        "requests",
        waiting="id WHERE finished_at IS NULL",
        unbegun="asked_at WHERE started_at IS NULL",
    )

    health = {
        "id": int,  # always 1
        "service_pid": int | None,
        "service_started": str | None,
        "service_seen": str | None,  # heartbeat of the service
        "service_stopped": str | None,
        "last_event": str | None,
        "last_full_scan": str | None,
        "watcher_mode": str,  # native, polling or stopped
        "watcher_since": str | None,
        "watcher_reason": str | None,
        **dict.fromkeys(("overflows", "missed_by_events", "pending_count", "held_removals"), int),
        "packages_repaired": int,
        "quiet_since": str | None,
        "packages_folder": str | None,
        "site_host": str | None,
        "site_port": int | None,
        "identity": str | None,  # of the catalog, also stored in its folders
        "troubles": str,  # JSON list: failed work that the service tries again
        "recoveries": str,  # JSON list: lost and damaged catalogs that this one replaced
        "delivered": str,  # JSON object: the last event given to each listener
    }
    zeros = {name: 0 for name, kind in health.items() if kind is int and name != "id"}
    empty = {"watcher_mode": "stopped", "troubles": "[]", "recoveries": "[]", "delivered": "{}"}
    _create(db, "health", health, defaults=zeros | empty)
    db.execute("INSERT INTO health (id) VALUES (1)")

    linked_directories = {
        "id": int,
        "path": str,
        "origin": str,  # data, settings or command
        "index_name": str | None,  # the filter of this index counts
        "filter": str,  # JSON object: levels, tags, names; an empty list is "all"
        "is_copy": int,  # it has folders instead of links
        "is_leaving": int,  # its links are removed
        "trouble": str | None,  # why it cannot be updated now
    }
    _create(db, "linked_directories", linked_directories, defaults={"is_leaving": 0, "is_copy": 0})
    _index(db, "linked_directories", "UNIQUE path")

    links = {
        "id": int,
        "directory": int,
        "name": str,
        "skill_id": str,
        "target": str,
        "former_target": str | None,  # until a crash can no longer leave it
        "is_linked": int,  # 0: the name is taken
    }
    foreign_keys = {"directory": "linked_directories"}
    defaults = {"is_linked": 0}
    _create(
        db,
        "links",
        links,
        foreign_keys=foreign_keys,
        defaults=defaults,
        on_delete={"directory": "CASCADE"},
    )
    _index(
        db,
        "links",
        "UNIQUE directory, name",
        by_skill="directory, skill_id",
        missing="directory, name WHERE is_linked = 0",
    )


def _prompt_indexes(db: Database) -> None:
    indexes = {
        "name": str,
        "position": int,
        "format": str,
        "language": str,
        "filter": str,  # JSON object: levels, tags, names; an empty list is "all"
        "featured": str,  # JSON list of names
        "budget_chars": int | None,  # of the whole text; null: budget_tokens counts
        "budget_tokens": int | None,
        "overflow": str,  # fit or exclude
        "location_base": str | None,
        "locations": str,  # current or version
        "instruction": str | None,  # null: that of the format
        "how_to_search": str | None,  # null: the default sentence
        "per_skill": str | None,  # JSON list: least, most, unit; null: those of the format
        "room_factors": str,  # JSON object: of featured skills, and of each level
        "last_build_id": int | None,
    }
    _create(db, "indexes", indexes, pk="name", defaults={"locations": "current"})

    index_texts = {"sha256": str, "text": str, "chars": int, "estimated_tokens": int}
    _create(db, "index_texts", index_texts, pk="sha256")

    index_builds = {
        "id": int,
        "index_name": str,
        "sha256": str,
        "published_at": str,
        **dict.fromkeys(("full", "shortened", "name_only", "left_out"), int),
    }
    foreign_keys = {"index_name": "indexes", "sha256": "index_texts"}
    _create(
        db,
        "index_builds",
        index_builds,
        foreign_keys=foreign_keys,
        on_delete={"index_name": "CASCADE"},
    )
    _index(db, "index_builds", "index_name, published_at", "sha256")
    db.table("indexes").add_foreign_key("last_build_id", "index_builds", "id")

    index_entries = {
        "id": int,
        "index_name": str,
        "rank": int,  # from 1
        "skill": int,
        "state": str,  # full, shortened or name_only
        "chars": int,
        "reason": str | None,
        "package_path": str | None,  # of the version in the text; kept while it is
        "shown": str,  # words of the description that agents see
    }
    foreign_keys = {"index_name": "indexes", "skill": "skills"}
    _create(
        db,
        "index_entries",
        index_entries,
        foreign_keys=foreign_keys,
        on_delete={"index_name": "CASCADE"},
    )
    _index(db, "index_entries", "UNIQUE index_name, rank", "skill, index_name")


def _outcomes(db: Database) -> None:
    """Create the tables of reports of runs."""
    outcomes = {
        "id": int,
        "path": str,  # of the file, relative to the folder of outcomes
        "line": int | None,  # of a file of JSON Lines, from 1
        "run_id": str,
        "revision": int,  # from 1; changed content of a run gets the next
        "is_newest": int,
        "skill_id": str | None,  # null if nothing names a skill
        "skill": int | None,  # null if the catalog does not have it
        "version": int | None,
        "skill_declared": str | None,  # as the file has it
        "version_declared": str | None,  # as the file, its folder or its name has it
        "form": str,  # outcome or abp
        "tool": str | None,
        "call_id": str | None,
        "status": str | None,
        "failed": int,
        "message": str | None,
        "format": str | None,
        "output": str,  # JSON
        "token_usage": str | None,  # JSON, as the file has it
        "tokens": float | None,
        "warnings": str,  # JSON list
        "findings": str,  # JSON list
        "sha256": str,  # of the file, or of the line
        "received_at": str,
    }
    foreign_keys = {"skill": "skills", "version": "versions"}
    _create(db, "outcomes", outcomes, foreign_keys=foreign_keys, on_delete={"version": "SET NULL"})
    _index(
        db,
        "outcomes",
        "UNIQUE path, run_id, revision",
        "skill, received_at",
        "skill_id, received_at",
        "version",
        "received_at",
        without_skill="id WHERE is_newest = 1 AND skill IS NULL",
        without_version="id WHERE is_newest = 1 AND version IS NULL AND version_declared "
        "IS NOT NULL AND skill IS NOT NULL",
    )

    memory_writes = {
        "id": int,  # hooks are told of them in this order
        "outcome": int,
        "position": int,  # from 1
        "owner_type": str | None,
        "owner_id": str | None,
        "type": str,
        "importance": int,  # 1 to 5
        "importance_declared": float,
        "content": str,
        "metadata": str,  # JSON object
        "suggestion": str,  # identifier; another revision of the run has the same
    }
    foreign_keys = {"outcome": "outcomes"}
    _create(
        db,
        "memory_writes",
        memory_writes,
        foreign_keys=foreign_keys,
        on_delete={"outcome": "CASCADE"},
    )
    _index(db, "memory_writes", "UNIQUE outcome, position", "owner_type, owner_id", "suggestion")

    step_traces = {
        "id": int,
        "outcome": int,
        "position": int,  # from 1
        "step_id": str,
        "step_name": str,
        "input": str | None,  # JSON
        "output": str | None,  # JSON
        "duration": float | None,  # milliseconds
        "error": str | None,
        "error_declared": str | None,  # JSON, as the file has it
        "timestamp": str | None,
        "timestamp_declared": str | None,  # JSON, as the file has it
    }
    _create(
        db, "step_traces", step_traces, foreign_keys=foreign_keys, on_delete={"outcome": "CASCADE"}
    )
    _index(db, "step_traces", "UNIQUE outcome, position", "duration")

    outcome_files = {
        "path": str,
        "fingerprint": str,  # empty if more waits to be read
        "bytes": int,  # of a file of JSON Lines: up to here, …
        "lines": int,  # … which are so many lines, …
        "tail": str,  # … with this SHA-256 of their end
    }
    _create(db, "outcome_files", outcome_files, pk="path")

    outcome_rejections = {
        "id": int,
        "path": str,
        "fingerprint": str,
        "lines": str | None,  # JSON list; null for the whole file
        "quarantined_as": str | None,  # null if the file could not be moved
        "reason": str,
        "findings": str,  # JSON list
        "rejected_at": str,
    }
    _create(db, "outcome_rejections", outcome_rejections)
    _index(
        db,
        "outcome_rejections",
        "path",
        "rejected_at",
        in_place="path WHERE quarantined_as IS NULL",
    )


def _declarations(db: Database) -> None:
    """Create the table of each dialect's declarations; lists and objects are JSON."""
    for name, record in RECORDS.items():
        columns = {field.name: _stored(field.type) for field in fields(record)}
        _create(
            db,
            f"{name}_skills",
            {"skill": int, **columns},
            pk="skill",
            foreign_keys={"skill": "skills"},
            on_delete={"skill": "CASCADE"},
        )


def _stored(kind: Any) -> Any:
    """Return the type of the column for a field of a record."""
    is_optional = NoneType in get_args(kind)
    stored = {bool: int, int: int, float: float}.get(_type(kind) if is_optional else kind, str)
    return stored | None if is_optional else stored


# Its plugin or owner, else the declared author without an address, else the name of the root.
_PUBLISHER = """
    coalesce(namespace,
        nullif(trim(iif(instr(author, '<') > 1, substr(author, 1, instr(author, '<') - 1), author)),
               ''),
        CASE WHEN root GLOB '*/mirrors/*-????????/current' THEN replace(
            substr(root, 1, length(root) - 17),
            rtrim(substr(root, 1, length(root) - 17),
                  replace(substr(root, 1, length(root) - 17), '/', '')), '')
        ELSE replace(root, rtrim(root, replace(root, '/', '')), '') END)
"""


# Calls of sqlite-utils


def _create(
    db: Database,
    name: str,
    columns: dict[str, Any],
    *,
    pk: str = "id",
    foreign_keys: dict[str, str] | None = None,
    on_delete: dict[str, str] | None = None,
    defaults: dict[str, Any] | None = None,
) -> None:
    """Create a strict table; a column is NOT NULL unless its type has None.

    foreign_keys gives the table to whose primary key a column refers.
    """
    db.table(name).create(
        {column: _type(kind) for column, kind in columns.items()},
        pk=pk,
        not_null=[c for c, kind in columns.items() if NoneType not in get_args(kind) and c != pk],
        defaults=defaults or {},
        foreign_keys=[
            ForeignKey(
                name,
                column,
                other,
                pk if other == name else db.table(other).pks[0],
                on_delete=(on_delete or {}).get(column, "NO ACTION"),
            )
            for column, other in (foreign_keys or {}).items()
        ],
        strict=True,
    )


def _type(kind: Any) -> Any:
    return next(each for each in get_args(kind) or (kind,) if each is not NoneType)


# sqlite-utils has no call for what follows.


def _compute(db: Database, table: str, **columns: str) -> None:
    """Add columns that SQLite computes from the others."""
    for name, definition in columns.items():
        db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {definition} VIRTUAL")


def _index(db: Database, table: str, *definitions: str, **named: str) -> None:
    """Create indexes on columns, or on expressions and with a condition.

    An index is named after its first column, or by its keyword.
    """
    first = {f"by_{re.split('[ ,]', each.removeprefix(_UNIQUE))[0]}": each for each in definitions}
    for name, definition in (first | named).items():
        columns, _, condition = definition.removeprefix(_UNIQUE).partition(" WHERE ")
        if condition:
            db.execute(f"CREATE INDEX {table}_{name} ON {table} ({columns}) WHERE {condition}")
        else:
            is_unique = definition.startswith(_UNIQUE)
            db.table(table).create_index(columns.split(", "), f"{table}_{name}", unique=is_unique)


_UNIQUE = "UNIQUE "
