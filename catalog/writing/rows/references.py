"""References between skills: where they lead, and the findings about those that lead nowhere."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename, dirname, join, normpath, relpath
from typing import NamedTuple

from catalog.database import sql
from catalog.database.queries import Database
from catalog.database.writer import Writer
from catalog.model.finding import DEPENDENCY_MISSING, REFERENCE_BROKEN, Finding
from catalog.model.naming import bare_name, entry_name, skill_id
from catalog.model.paths import linked
from catalog.model.skill import MIXED_FIELDS, SkillReference
from catalog.text import humanize
from catalog.text.visible import printable, quoted
from catalog.writing.rows import mapping

_SIDE_BY_SIDE = (
    "Let the folders of both skills lie side by side, each with the name of its skill; agents get "
    "them that way."
)
_BY_NAME = (
    "Published folders have the namespace in their names, so no path works here and for agents. "
    "Name the skill {} instead, and declare it in depends_on."
)

_LONGEST_PLACE = 300  # characters of a place in a message


class Resolved(NamedTuple):
    """Columns of a reference that depend on the skills there are."""

    place: str | None = None  # absolute path that a link leads to
    wanted: str | None = None  # skill_id of a declared name, or of the folder in a link
    to_skill: int | None = None
    problem: str | None = None  # why agents cannot follow it: a predicate


RESOLVED = Resolved._fields


class Resolver:
    """The references of some skills, with the skills that they may lead to."""

    def __init__(self, db: Database, skills: Iterable[int]) -> None:
        """Read the references and their possible targets, all at once."""
        self.rows = list(db.query(_REFERENCES, [sql.to_json(list(skills))]))
        links = [row for row in self.rows if row["kind"] == "link"]
        self._places = {row["id"]: _place(row) for row in links}
        self._targets = _targets(db, set(self._places.values()))
        self._named = _skills_named(db, self.rows)
        self._files = _files(db, [path for row in links if (path := self._file(row))])
        self._resolved = {row["id"]: self._resolve(row) for row in self.rows}

    def resolved(self, row: sql.Row) -> Resolved:
        """Return the resolved columns of a reference."""
        return self._resolved[row["id"]]

    def changed(self) -> list[tuple[sql.Row, Resolved]]:
        """Return the references that are stored otherwise, each with its resolved columns."""
        return [
            (row, resolved)
            for row in self.rows
            if (resolved := self.resolved(row)) != tuple(row[name] for name in RESOLVED)
        ]

    def _resolve(self, row: sql.Row) -> Resolved:
        if row["kind"] == "declared":
            return self._by_name(row)
        target = self._target(row)
        to_skill = target["id"] if target else None
        wanted = _wanted(name) if (name := _named(row)) else None
        return Resolved(self._places[row["id"]], wanted, to_skill, self._problem(row, target))

    def fix(self, row: sql.Row) -> str | None:
        """Return the advice on a link that agents cannot follow, if there is any of its own."""
        target = self._target(row)
        if target is None:
            namesakes = self._namesakes(row)
            if len(namesakes) != 1:
                return None
            written = _written(row, namesakes[0], basename(row["target"]))
            return f"Agents find a skill of that name at {printable(written)}. {_SIDE_BY_SIDE}"
        if target["status"] != "active" or self._file(row) not in self._files:
            return None
        written = _written(row, target, _path_in(target, self._places[row["id"]]))
        is_beside = dirname(target["place"]) == dirname(f"{row['root']}/{row['folder']}")
        if is_beside and _is_named(target):
            return f"Write {printable(written)}."
        return _BY_NAME.format(printable(target["name"])) if target["namespace"] else _SIDE_BY_SIDE

    def _by_name(self, row: sql.Row) -> Resolved:
        wanted = _wanted(row["target"])
        found = self._namesakes(row)
        if len(found) == 1:
            return Resolved(None, wanted, found[0]["id"])
        if row["field"].rpartition(".")[2] in MIXED_FIELDS:
            return Resolved(None, wanted)
        problem = "several skills have that name" if found else "no published skill has that name"
        return Resolved(None, wanted, None, problem)

    def _problem(self, row: sql.Row, target: sql.Row | None) -> str | None:
        if target is None:
            place = printable(self._places[row["id"]], _LONGEST_PLACE)
            return f"leads to {place}, where no accepted skill is"
        name = f"the skill {printable(target['name'])}"
        path = _path_in(target, self._places[row["id"]])
        if target["status"] != "active":
            return f"leads to {name}, which is not published"
        if self._file(row) not in self._files:
            return f"leads to {name}, which has no {printable(path)}"
        among = linked(join(_entry(row), row["file"]), row["target"])
        if among != normpath(join(_entry(target), path)):
            return (
                f"leads to {name} in its folder, but not among the published skills, where that "
                f"is {printable(normpath(join('..', _entry(target), path)))}"
            )
        return None

    def _target(self, row: sql.Row) -> sql.Row | None:
        return self._targets[self._places[row["id"]]]

    def _namesakes(self, row: sql.Row) -> list[sql.Row]:
        return self._named.get((row["namespace"], _named(row) or ""), [])

    def _file(self, row: sql.Row) -> tuple[int, str] | None:
        """Return version and path of the file that a link leads to; None without a skill."""
        target = self._target(row)
        return (target["version"], _path_in(target, self._places[row["id"]])) if target else None


def _entry(row: sql.Row) -> str:
    return entry_name(row["name"], row["skill_id"])


def _named(row: sql.Row) -> str | None:
    """Return the declared name, or that of the folder in a link to a SKILL.md."""
    target: str = row["target"]
    if row["kind"] == "declared":
        return target
    folder, _, file = target.rpartition("/")
    return basename(folder) if file.lower() == "skill.md" and basename(folder) != ".." else None


def _written(row: sql.Row, target: sql.Row, path: str) -> str:
    """Return a link to a file of a skill, as it works among the published skills."""
    return relpath(join(_entry(target), path), join(_entry(row), dirname(row["file"])))


def _is_named(target: sql.Row) -> bool:
    """Return whether the folder of a skill has the name that the skill has among the published."""
    folder: str = target["place"]
    return folder.rpartition("/")[2] == _entry(target)


def _place(row: sql.Row) -> str:
    """Return the absolute path that a link leads to."""
    return linked(join(row["root"], row["folder"], row["file"]), row["target"])


def _path_in(target: sql.Row, place: str) -> str:
    """Return a place relative to the folder of the skill that holds it; "" is the folder."""
    folder: str = target["place"]
    return place[len(folder) + 1 :]


def _upwards(place: str) -> Iterator[str]:
    """Yield a place and all folders above it."""
    while place.strip("/"):
        yield place
        place = place.rpartition("/")[0]


def _targets(db: Database, places: Iterable[str]) -> dict[str, sql.Row | None]:
    """Return the accepted skill that holds each of some absolute paths; None if there is none."""
    above = {place: list(_upwards(place)) for place in places}
    at = _skills_at(db, {path for paths in above.values() for path in paths})
    return {
        place: next((at[path] for path in paths if path in at), None)
        for place, paths in above.items()
    }


def _wanted(name: str) -> str:
    """Return the skill_id of a declared name, which may have a namespace."""
    namespace, _, bare = name.rpartition(":")
    return skill_id(bare, namespace or None, bare)


def _skills_at(db: Database, above: Iterable[str]) -> dict[str, sql.Row]:
    """Return the accepted skills at some places, by the absolute path of their folder."""
    roots = [path for (path,) in db.execute("SELECT path FROM roots")]
    candidates = [
        (root, path[len(root) + 1 :])
        for path in sorted(above)
        for root in roots
        if path.startswith(f"{root.rstrip('/')}/")
    ]
    return {row["place"]: row for row in db.query(_AT, [sql.to_json(candidates)])}


def _skills_named(
    db: Database, rows: Sequence[sql.Row]
) -> Mapping[tuple[str | None, str], list[sql.Row]]:
    """Return the active skills of each (namespace of the source, name).

    The namespace of the source comes first, then the whole name, then the name in any namespace,
    where a preferred skill is the only one.
    """
    asked = {(row["namespace"], name) for row in rows if (name := _named(row))}
    ids = {
        (namespace, name): ([skill_id(name, namespace, name)] if namespace else [])
        + [_wanted(name)]
        for namespace, name in asked
    }
    wanted = sorted({each for choices in ids.values() for each in choices})
    by_id = {row["skill_id"]: row for row in db.query(_BY_ID, [sql.to_json(wanted)])}
    by_name: dict[str, list[sql.Row]] = defaultdict(list)
    for row in db.query(_BY_BARE_NAME, [sql.to_json(sorted({name for _, name in asked}))]):
        by_name[row["bare_name"]].append(row)
    found = {}
    for key, choices in ids.items():
        exact = [by_id[each] for each in choices if each in by_id]
        bare = by_name[key[1]]
        found[key] = exact[:1] or (bare[:1] if bare and bare[0]["preferred_at"] else bare)
    return found


def _files(db: Database, files: Sequence[tuple[int, str]]) -> set[tuple[int, str]]:
    """Return those (version, path) that are files or folders; "" is the skill folder."""
    return {
        (version, path)
        for version, path in db.execute(_EXISTING, [sql.to_json(sorted(set(files)))])
    }


_REFERENCES = f"""
    SELECT r.id, r.skill, r.kind, r.target, r.path AS file, r.line, r.field,
           {", ".join(f"r.{name}" for name in RESOLVED)},
           s.root, s.path AS folder, s.name, s.skill_id, s.namespace
    FROM json_each(?) AS source CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_skill ON r.skill = source.value
    CROSS JOIN skills AS s ON s.id = r.skill ORDER BY r.skill, r.id
"""
_AT = """
    SELECT s.id, s.root || '/' || s.path AS place, s.name, s.skill_id, s.namespace, s.status,
           s.current_version_id AS version
    FROM json_each(?) AS place CROSS JOIN skills AS s
        ON s.root = json_extract(place.value, '$[0]') AND s.path = json_extract(place.value, '$[1]')
    WHERE s.status IN ('active', 'shadowed')
"""
_BY_ID = """
    SELECT s.id, s.skill_id, s.name FROM json_each(?) AS wanted
    CROSS JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = wanted.value AND s.status = 'active'
"""
_BY_BARE_NAME = """
    SELECT s.id, s.skill_id, s.name, s.bare_name, s.preferred_at
    FROM json_each(?) AS wanted
    CROSS JOIN skills AS s INDEXED BY skills_by_bare_name
        ON s.bare_name = wanted.value AND s.namespace IS NOT NULL AND s.status = 'active'
    ORDER BY s.preferred_at IS NULL, s.preferred_at DESC, s.name
"""
_EXISTING = """
    SELECT json_extract(asked.value, '$[0]') AS version, json_extract(asked.value, '$[1]') AS path
    FROM json_each(?) AS asked
    WHERE json_extract(asked.value, '$[1]') = ''
        OR EXISTS (SELECT 1 FROM files AS f WHERE f.version = json_extract(asked.value, '$[0]')
                   AND f.path = json_extract(asked.value, '$[1]'))
        OR EXISTS (SELECT 1 FROM files AS f WHERE f.version = json_extract(asked.value, '$[0]')
                   AND f.path > json_extract(asked.value, '$[1]') || '/'
                   AND f.path < json_extract(asked.value, '$[1]') || '0')
"""


# Rows and findings


MOST_FINDINGS = 10
"""Findings of one skill about its references, at most; the last one counts the others."""
CODES = (REFERENCE_BROKEN.code, DEPENDENCY_MISSING.code)


def has(db: Database, skill: int, references: Sequence[SkillReference]) -> bool:
    """Return whether the table already has the references of a skill, as they are written."""
    return db.execute(_WRITTEN, [skill]).fetchall() == list(map(tuple, references))


def write(db: Writer, references: Mapping[int, Sequence[SkillReference]]) -> None:
    """Replace the references of these skills, unresolved, inside the caller's transaction."""
    db.conn.executemany(
        "DELETE FROM skill_references WHERE skill = ?", [(skill,) for skill in references]
    )
    db.table("skill_references").insert_all(
        {"skill": skill, **reference._asdict()}
        for skill, written in references.items()
        for reference in written
    )


def restored(version: sql.Row) -> tuple[SkillReference, ...]:
    """Return the references of a version."""
    stored = json.loads(version["described"]).get("references", ())
    return tuple(SkillReference(*reference) for reference in stored)


def resolve(db: Writer, skill_ids: Iterable[str]) -> None:
    """Resolve the references of, and to, the skills of these skill_ids, and their findings.

    The cost depends on the number of these references, not of skills. Runs after the decision on
    the active skill, in the same transaction of the caller.
    """
    touched = list(db.query(_OF_SKILL_IDS, [sql.to_json(sorted(set(skill_ids)))]))
    names = {row["skill_id"] for row in touched} | {
        skill_id(bare_name(row["name"], row["namespace"]), None, row["path"]) for row in touched
    }
    ids = [row["id"] for row in touched]
    parameters = {
        "ids": sql.to_json(ids),
        "places": sql.to_json([f"{row['root']}/{row['path']}" for row in touched]),
        "names": sql.to_json(sorted(names)),
    }
    users = [skill for (skill,) in db.execute(_USERS, parameters)]
    resolve_skills(db, sorted({*ids, *users}))


def wrong_skills(db: Database) -> list[sql.Row]:
    """Return the skills whose references or findings about them are not as `resolve` makes them."""
    skills = [skill for (skill,) in db.execute(_WITH_REFERENCES, CODES)]
    resolver = Resolver(db, skills)
    wrong = {row["skill"] for row, _ in resolver.changed()}
    return [
        row
        for row, wanted, stored in _with_findings(db, skills, resolver)
        if row["id"] in wrong or wanted != stored
    ]


def repair(db: Writer) -> None:
    """Resolve all that is wrong, in the caller's transaction."""
    if wrong := wrong_skills(db):
        resolve_skills(db, [row["id"] for row in wrong])


def users_of(db: Database, skill: int) -> tuple[str, ...]:
    """Return the names of the other active skills that refer to a skill, sorted."""
    return tuple(name for (name,) in db.execute(_USED_BY, [skill, skill]))


def resolve_skills(db: Writer, skills: Sequence[int]) -> None:
    """Store where the references of some skills lead, and the findings about them."""
    resolver = Resolver(db, skills)
    db.conn.executemany(
        _SET_RESOLVED, [(*resolved, row["id"]) for row, resolved in resolver.changed()]
    )
    for row, wanted, stored in _with_findings(db, skills, resolver):
        if wanted != stored:
            db.execute(
                "DELETE FROM findings WHERE skill = ? AND code IN (?, ?)", [row["id"], *CODES]
            )
            db.table("findings").insert_all(wanted)


def _with_findings(
    db: Database, skills: Sequence[int], resolver: Resolver
) -> list[tuple[sql.Row, list[sql.Row], list[sql.Row]]]:
    """Return rows of skills, each with the findings that it should have and those it has.

    Only active skills should have some.
    """
    ids = sql.to_json(list(skills))
    found = _findings(resolver)
    stored: dict[int, list[sql.Row]] = defaultdict(list)
    for row in db.query(_FINDINGS, [ids, *CODES]):
        stored[row["skill"]].append(row)
    return [
        (
            row,
            [
                mapping.finding(row["id"], row["root"], row["path"], each)
                for each in found[row["id"]][:MOST_FINDINGS]
                if row["status"] == "active"
            ],
            stored[row["id"]],
        )
        for row in db.query(_OF_IDS, [ids])
    ]


def _findings(resolver: Resolver) -> dict[int, list[Finding]]:
    """Return the findings of each skill about its references."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for row in resolver.rows:
        problem = resolver.resolved(row).problem
        if not problem:
            continue
        if row["kind"] == "link":
            message = f"{quoted(row['target'])} {problem}."
            kind, fix = REFERENCE_BROKEN, resolver.fix(row)
        else:
            message = f"It declares to need {quoted(row['target'])}, but {problem}."
            kind, fix = DEPENDENCY_MISSING, None
        found[row["skill"]].append(
            kind.at(message, fix=fix, field=row["field"], path=row["file"], line=row["line"])
        )
    for findings in found.values():
        if more := findings[MOST_FINDINGS:]:
            last = findings[MOST_FINDINGS - 1]
            others = humanize.count(len(more), "more reference")
            message = f"{last.message} The same is true of {others}."
            findings[MOST_FINDINGS - 1] = last._replace(message=message)
    return found


_WRITTEN = f"""
    SELECT {sql.columns(SkillReference._fields)} FROM skill_references WHERE skill = ? ORDER BY id
"""
_OF_SKILL_IDS = """
    SELECT s.id, s.skill_id, s.name, s.namespace, s.root, s.path, s.status
    FROM json_each(?) AS touched
    CROSS JOIN skills AS s INDEXED BY skills_by_skill_id ON s.skill_id = touched.value
"""
_OF_IDS = """
    SELECT s.id, s.skill_id, s.root, s.path, s.status
    FROM json_each(?) AS touched CROSS JOIN skills AS s ON s.id = touched.value
"""
_USERS = """
    SELECT r.skill FROM json_each(:ids) AS to_skill CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_to_skill ON r.to_skill = to_skill.value
    UNION
    SELECT r.skill FROM json_each(:places) AS place CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_place ON r.place = place.value
    UNION
    SELECT r.skill FROM json_each(:places) AS place CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_place
        ON r.place > place.value || '/' AND r.place < place.value || '0'
    UNION
    SELECT r.skill FROM json_each(:names) AS name CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_wanted ON r.wanted = name.value
"""  # In code points, "0" follows "/".
_SET_RESOLVED = f"""
    UPDATE skill_references SET {", ".join(f"{name} = ?" for name in RESOLVED)} WHERE id = ?
"""
_WITH_REFERENCES = """
    SELECT skill FROM skill_references UNION SELECT skill FROM findings WHERE code IN (?, ?)
"""
_FINDINGS = f"""
    SELECT {", ".join(f'f."{name}"' for name in mapping.FINDING_COLUMNS)}
    FROM json_each(?) AS touched
    CROSS JOIN findings AS f INDEXED BY findings_by_skill ON f.skill = touched.value
    WHERE code IN (?, ?) ORDER BY f.id
"""
_USED_BY = """
    SELECT DISTINCT s.name FROM skill_references AS r JOIN skills AS s ON s.id = r.skill
    WHERE r.to_skill = ? AND s.id != ? AND s.status = 'active' ORDER BY s.name
"""
