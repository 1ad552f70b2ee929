"""Rows that are derived from verdicts, and from other rows."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, NamedTuple, TypeAlias

from catalog.database.queries import Database, Row, Writer, columns, to_json
from catalog.database.tables import TABLES
from catalog.model.change import Columns, Judged
from catalog.model.declarations import RECORDS
from catalog.model.fields import EMPTY
from catalog.model.finding import Finding
from catalog.model.skill import FileEntry, Place, SkillRecord, SkillReference, Verdict
from catalog.text import search_terms
from catalog.text.visible import with_plain_line_ends


def judged(verdict: Verdict, steps: str, started_at: str, took_ms: float) -> Judged:
    """Return the verdict on a folder with its columns, so that a worker process makes them."""
    if isinstance(verdict, SkillRecord):
        skill, paths = accepted(verdict), " ".join(file.path for file in verdict.files)
        text = _searched(verdict.headings, paths, verdict.skill_md_content, verdict.body_chars)
        made = Columns(skill, version(verdict, skill), text)
    else:
        own = {"name": verdict.name, "spec_valid": 0, "seen_digest": verdict.digest}
        made = Columns(_of_folder(verdict) | own, {}, ())
    return Judged(verdict, made, steps, started_at, took_ms)


def accepted(record: SkillRecord) -> Row:
    """Return the columns of `skills` for accepted content."""
    declared = {column: _stored(getattr(record, column)) for column in EMPTY}
    content = {"skill_md_hash": record.skill_md_hash, "digest": record.digest}
    return declared | _of_folder(record) | content | {"seen_digest": record.digest}


def _stored(value: Any) -> Any:
    """Return a value of a record as stored in its column."""
    if isinstance(value, bool):
        return int(value)
    return to_json(value) if isinstance(value, tuple) else value


def _of_folder(verdict: Verdict) -> Row:
    return {"skill_id": verdict.skill_id, **of_place(verdict.place)} | {
        "file_inventory": to_json(verdict.inventory.as_json()),
        "frontmatter": to_json(verdict.frontmatter),
        "files_left_out": to_json(verdict.left_out),
    }


def of_place(place: Place) -> Row:
    """Return the columns of `skills` for a place."""
    return place._asdict() | {"plugin": place.plugin, "is_alias": int(place.is_alias)}


def version(record: SkillRecord, skill: Row) -> Row:
    """Return the columns of `versions` for accepted content, given its row of `skills`."""
    shared = ("skill_id", "digest", "skill_md_hash", "file_inventory", "frontmatter")
    return {column: skill[column] for column in shared} | {
        "skill_md_content": record.skill_md_content,
        "described": to_json(
            {column: skill[column] for column in EMPTY}
            | {"headings": record.headings, "body_chars": record.body_chars}
            | {name: asdict(declared) for name, declared in record.dialects.items()}
            | {"references": list(map(list, record.references))}
        ),
    }


def file(version_id: int, entry: FileEntry) -> Row:
    """Return a row of `files`, with its text instead of the text's id."""
    return entry._asdict() | {
        "version": version_id,
        "mode": f"{entry.mode:o}",
        "is_text": int(entry.is_text),
    }


FindingRow: TypeAlias = tuple[Any, ...]
"""Row of `findings` with the columns of FINDING_COLUMNS."""


def finding_row(skill: int | None, root: str, folder: str, finding: Finding) -> FindingRow:
    """Return a row of `findings`."""
    return (skill, root, folder, *finding)


FINDING_COLUMNS = ("skill", "root", "folder", *Finding._fields)


SkillKey = tuple[int, str, str]
"""Id, root and path of a skill."""


def write(
    db: Writer, skills: Iterable[int], made: Mapping[int, tuple[Any, ...]] | None = None
) -> None:
    """Replace the rows of skills, whose versions are written, in the caller's transaction.

    made has the searched texts of new versions. The references are unresolved. Each dialect has a
    table of its own. Only present skills are found by searches. Raises sqlite3.Error.
    """
    ids = [to_json(list(skills))]
    db.execute(f"DELETE FROM skill_text WHERE id IN {_IDS}", ids)
    for table in ("skill_references", *(f"{name}_skills" for name in RECORDS)):
        db.execute(f"DELETE FROM {table} WHERE skill IN {_IDS}", ids)
    db.execute(_REFERENCES, ids)
    for name, record in RECORDS.items():
        names = [field.name for field in fields(record)]
        values = (f"json_extract(v.described, '$.{name}.{field}')" for field in names)
        db.execute(
            f"INSERT INTO {name}_skills (skill, {columns(names)}) SELECT s.id, {', '.join(values)}"
            f" FROM {_CURRENT} WHERE json_extract(v.described, '$.{name}') IS NOT NULL",
            ids,
        )
    texts = _search_texts(db, ids, made or {})
    db.insert_searched("skill_text", tuple(TABLES["skill_text"]), texts)


def _search_texts(
    db: Database, ids: Sequence[str], made: Mapping[int, tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Return the searched texts that are neither columns of `skills` nor SKILL.md."""
    present = dict(db.execute(_PRESENT, ids).fetchall())
    others = {skill for skill, version in present.items() if version not in made}
    texts = {version: made[version] for version in present.values() if version in made}
    for version, described, text, paths in db.execute(_CONTENTS, [to_json(list(others))]):
        stored = json.loads(described)
        texts[version] = _searched(stored["headings"], paths, text, stored["body_chars"])
    return [(skill, version, *texts[version]) for skill, version in present.items()]


def _searched(
    headings: Iterable[str], paths: str, skill_md: str, body_chars: int
) -> tuple[Any, ...]:
    """Return the columns of `skill_text` without its keys."""
    body = body_of(skill_md, body_chars)
    grams = search_terms.pairs_of(body.text)
    return ("\n".join(headings), paths, body.first_byte, body.size, grams)


class Body(NamedTuple):
    """Body of a SKILL.md with plain line ends, and its bytes in the UTF-8 of the SKILL.md."""

    text: str
    first_byte: int  # from 1, as SQL counts
    size: int  # bytes


def body_of(skill_md: str, chars: int) -> Body:
    """Find the body of a SKILL.md by its number of characters: the catalog stores its text once.

    It is the end of the SKILL.md with plain line ends, without white space around it.
    """
    whole = with_plain_line_ends(skill_md).rstrip()
    plain_start = start = len(whole) - chars
    # A line end of two characters before the body counts twice in the SKILL.md itself.
    while (shifted := plain_start + skill_md.count("\r\n", 0, start + 1)) != start:
        start = shifted
    end = len(skill_md.rstrip())
    before, body = skill_md[:start].encode(), skill_md[start:end].encode()
    return Body(whole[plain_start:], len(before) + 1, len(body))


def rebuild_search(db: Writer) -> None:
    """Rebuild the full-text indexes from the stored texts. Raises sqlite3.Error."""
    for table in ("skills_fts", "skill_text_fts"):
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")


Findings: TypeAlias = Mapping[SkillKey, Sequence[Finding]]
"""All findings of skills that have one of some codes, in order."""


def wrong_findings(db: Database, codes: Collection[str], wanted: Findings) -> Findings:
    """Return those skills of which the catalog has other findings with one of some codes."""
    stored: dict[int, list[FindingRow]] = defaultdict(list)
    parameters = [to_json([skill for skill, *_ in wanted]), to_json(list(codes))]
    for row in db.execute(_STORED, parameters):
        stored[row[0]].append(row)
    return {
        place: findings
        for place, findings in wanted.items()
        if stored[place[0]] != [finding_row(*place, finding) for finding in findings]
    }


def replace_findings(db: Writer, codes: Collection[str], wanted: Findings) -> None:
    """Replace the findings of skills that have one of some codes, where they differ."""
    wrong = wrong_findings(db, codes, wanted)
    parameters = [to_json([skill for skill, *_ in wrong]), to_json(list(codes))]
    db.execute(f"DELETE FROM findings WHERE skill IN {_IDS} AND code IN {_IDS}", parameters)
    rows = [finding_row(*place, each) for place, found in wrong.items() for each in found]
    db.insert("findings", FINDING_COLUMNS, rows)


_IDS = "(SELECT value FROM json_each(?))"
_CURRENT = """
    json_each(?) AS touched CROSS JOIN skills AS s ON s.id = touched.value
    CROSS JOIN versions AS v ON v.id = s.current_version_id
"""
_VALUES = ", ".join(f"json_extract(r.value, '$[{n}]')" for n in range(len(SkillReference._fields)))
_REFERENCES = f"""
    INSERT INTO skill_references (skill, {columns(SkillReference._fields)})
    SELECT s.id, {_VALUES} FROM {_CURRENT} CROSS JOIN json_each(v.described, '$.references') AS r
"""
_PRESENT = f"SELECT s.id, v.id FROM {_CURRENT} WHERE s.status IN ('active', 'shadowed')"
_CONTENTS = f"""
    SELECT v.id, v.described, (SELECT text FROM texts WHERE id = v.text_id),
           (SELECT group_concat(path, ' ') FROM (SELECT path FROM files WHERE version = v.id
                                                 ORDER BY id))
    FROM {_CURRENT}
"""
_STORED = f"""
    SELECT {columns(FINDING_COLUMNS)} FROM findings INDEXED BY findings_by_skill
    WHERE skill IN {_IDS} AND code IN {_IDS} ORDER BY id
"""
