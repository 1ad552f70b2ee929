"""Rows of references between skills, and the findings about those that lead nowhere."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, dirname, join, normpath, relpath
from typing import Any, NamedTuple

from catalog.database.queries import Database, Writer, columns, to_json
from catalog.model.finding import DEPENDENCY_MISSING, REFERENCE_BROKEN, Finding
from catalog.model.naming import bare_name, entry_name, skill_id
from catalog.model.paths import linked
from catalog.model.skill import MIXED_FIELDS, SkillReference
from catalog.text import humanize
from catalog.text.visible import printable, quoted
from catalog.writing.rows import derived

_SIDE_BY_SIDE = (
    "Let the folders of both skills lie side by side, each with the name of its skill; agents get "
    "them that way."
)
_BY_NAME = (
    "Published folders have the namespace in their names, so no path works here and for agents. "
    "Name the skill {} instead, and declare it in depends_on."
)
_LONGEST_PLACE = 300  # characters of a place in a message

TOGETHER = 256
"""Skills whose references are resolved together."""
MOST_FINDINGS = 10
"""Findings of one skill about its references, at most; the last one counts the others."""
CODES = (REFERENCE_BROKEN.code, DEPENDENCY_MISSING.code)


def has(db: Database, skill: int, references: Sequence[SkillReference]) -> bool:
    """Return whether the table already has the references of a skill, as they are written."""
    return db.execute(_WRITTEN, [skill]).fetchall() == list(map(tuple, references))


def resolve(db: Writer, skill_ids: Iterable[str]) -> None:
    """Resolve the references of, and to, the skills of these skill_ids, and their findings.

    The cost depends on the number of these references, not of skills. Runs after the decision on
    the active skill, in the same transaction of the caller.
    """
    touched = db.rows(_OF_SKILL_IDS, [to_json(sorted(set(skill_ids)))])
    names = {row["skill_id"] for row in touched} | {
        skill_id(bare_name(row["name"], row["namespace"]), None, row["path"]) for row in touched
    }
    ids = [row["id"] for row in touched]
    parameters = {
        "ids": to_json(ids),
        "places": to_json([f"{row['root']}/{row['path']}" for row in touched]),
        "names": to_json(sorted(names)),
    }
    users = [skill for (skill,) in db.execute(_USERS, parameters)]
    resolve_skills(db, sorted({*ids, *users}))


def resolve_skills(db: Writer, skills: Sequence[int]) -> None:
    """Store where the references of some skills lead, and the findings about them."""
    states = list(_states(db, skills))
    db.conn.executemany(_SET_RESOLVED, [row for skill in states for row in skill.changed])
    derived.replace_findings(db, CODES, {skill.place: skill.findings for skill in states})


class _State(NamedTuple):
    """A skill with the changes to its references and to the findings about them."""

    place: derived.SkillKey
    changed: Sequence[Sequence[str | int | None]]  # parameters of _SET_RESOLVED
    findings: list[Finding]  # that it should have


def _states(db: Database, skills: Sequence[int]) -> Iterator[_State]:
    for start in range(0, len(skills), TOGETHER):
        ids = to_json(list(skills[start : start + TOGETHER]))
        references: dict[int, list[tuple[SkillReference, Sequence[Any]]]] = defaultdict(list)
        for skill, *row in db.execute(_REFERENCES, [ids]):
            references[skill].append((SkillReference(*row[:5]), row[5:]))
        sources = [
            (root, path, PlacedSkill(skill, f"{root}/{path}", *others))
            for skill, root, path, *others in db.execute(_OF_IDS, [ids, *CODES])
        ]
        links = (
            _place(source, reference)
            for *_, source in sources
            for reference, _ in references[source.id]
            if reference.kind == "link"
        )
        accepted = AcceptedSkills(db, links)
        for root, path, source in sources:
            changed, problems = [], []
            for reference, (*before, number) in references[source.id]:
                now = resolved(source, reference, accepted)
                if [*now[:4]] != before:
                    changed.append((*now[:4], number))
                if now.problem:
                    problems.append(_finding(reference, now))
            # Only active skills should have findings.
            found = _at_most(problems) if source.status == "active" else []
            yield _State((source.id, root, path), changed, found)


def _finding(reference: SkillReference, now: "Resolved") -> Finding:
    target = quoted(reference.target)
    if reference.kind == "link":
        message, kind = f"{target} {now.problem}.", REFERENCE_BROKEN
    else:
        message = f"It declares to need {target}, but {now.problem}."
        kind = DEPENDENCY_MISSING
    return kind.at(
        message, fix=now.fix, field=reference.field, path=reference.path, line=reference.line
    )


def _at_most(found: list[Finding]) -> list[Finding]:
    """Return the first findings; the last one counts the others."""
    kept, more = found[:MOST_FINDINGS], found[MOST_FINDINGS:]
    if more:
        others = humanize.count(len(more), "more reference")
        kept[-1] = kept[-1]._replace(message=f"{kept[-1].message} The same is true of {others}.")
    return kept


# Resolution


class PlacedSkill(NamedTuple):
    """Accepted skill that has a reference, or that one may lead to."""

    id: int
    place: str  # absolute path of its folder
    name: str
    skill_id: str
    namespace: str | None
    status: str
    version: int | None

    @property
    def entry(self) -> str:
        """Name of its folder among the published skills."""
        return entry_name(self.name, self.skill_id)


class Resolved(NamedTuple):
    """The part of a reference that depends on the skills there are."""

    place: str | None = None  # absolute path that a link leads to
    wanted: str | None = None  # skill_id of a declared name, or of the folder in a link
    to_skill: int | None = None
    problem: str | None = None  # why agents cannot follow it: a predicate
    fix: str | None = None  # advice of its own


def resolved(source: PlacedSkill, reference: SkillReference, skills: "AcceptedSkills") -> Resolved:
    """Return where a reference of a skill leads."""
    if reference.kind == "declared":
        return _by_name(source, reference, skills)
    place = _place(source, reference)
    target = skills.at(place)
    name = _folder_named(reference.target)
    wanted = _wanted_id(name) if name else None
    if target:
        problem = _problem(source, reference, skills, target, place)
        return Resolved(place, wanted, target.id, *problem)
    fix = None
    namesakes = skills.named(source.namespace, name) if name else ()
    if len(namesakes) == 1:
        written = _written(source, reference, namesakes[0], basename(reference.target))
        fix = f"Agents find a skill of that name at {printable(written)}. {_SIDE_BY_SIDE}"
    shown = printable(place, _LONGEST_PLACE)
    return Resolved(place, wanted, None, f"leads to {shown}, where no accepted skill is", fix)


def _place(source: PlacedSkill, reference: SkillReference) -> str:
    """Return the absolute path that a link leads to."""
    return linked(join(source.place, reference.path), reference.target)


def _by_name(source: PlacedSkill, reference: SkillReference, skills: "AcceptedSkills") -> Resolved:
    wanted = _wanted_id(reference.target)
    found = skills.named(source.namespace, reference.target)
    if len(found) == 1:
        return Resolved(None, wanted, found[0].id)
    if (reference.field or "").rpartition(".")[2] in MIXED_FIELDS:
        return Resolved(None, wanted)
    problem = "several skills have that name" if found else "no published skill has that name"
    return Resolved(None, wanted, None, problem)


def _problem(
    source: PlacedSkill,
    reference: SkillReference,
    skills: "AcceptedSkills",
    target: PlacedSkill,
    place: str,
) -> tuple[str | None, str | None]:
    """Return why agents cannot follow a link to a skill, and the advice for that case."""
    name, path = f"the skill {printable(target.name)}", place[len(target.place) + 1 :]
    if target.status != "active":
        return f"leads to {name}, which is not published", None
    if not skills.has(target, path):
        return f"leads to {name}, which has no {printable(path)}", None
    among = normpath(join(target.entry, path))
    if linked(join(source.entry, reference.path), reference.target) == among:
        return None, None
    if dirname(target.place) == dirname(source.place) and basename(target.place) == target.entry:
        fix = f"Write {printable(_written(source, reference, target, path))}."
    elif target.namespace:
        fix = _BY_NAME.format(printable(target.name))
    else:
        fix = _SIDE_BY_SIDE
    where = printable(normpath(join("..", among)))
    return (
        f"leads to {name} in its folder, but not among the published skills, where that is {where}",
        fix,
    )


def _folder_named(target: str) -> str | None:
    """Return the name of the folder in a link to a SKILL.md."""
    folder, _, file = target.rpartition("/")
    return basename(folder) if file.lower() == "skill.md" and basename(folder) != ".." else None


def _written(source: PlacedSkill, reference: SkillReference, target: PlacedSkill, path: str) -> str:
    """Return a link to a file of a skill, as it works among the published skills."""
    return relpath(join(target.entry, path), join(source.entry, dirname(reference.path)))


def _wanted_id(name: str) -> str:
    """Return the skill_id of a declared name, which may have a namespace."""
    namespace, _, bare = name.rpartition(":")
    return skill_id(bare, namespace or None, bare)


class AcceptedSkills:
    """The accepted skills of a catalog, which references may lead to."""

    def __init__(self, db: Database, places: Iterable[str]) -> None:
        """Take the absolute paths that links lead to."""
        self._db = db
        above: dict[str, None] = {}
        for place in places:
            while place.strip("/") and place not in above:
                above[place] = None
                place = place.rpartition("/")[0]
        candidates = [
            (root, place[len(root) + 1 :])
            for (root,) in db.execute("SELECT path FROM roots").fetchall()
            for place in above
            if place.startswith(f"{root.rstrip('/')}/")
        ]
        found = self._skills(_AT, to_json(candidates))
        self._at = {skill.place: skill for skill in reversed(found)}  # the first root counts

    def at(self, place: str) -> PlacedSkill | None:
        """Return the skill whose folder is at or above one of these paths."""
        while place.strip("/"):
            if found := self._at.get(place):
                return found
            place = place.rpartition("/")[0]
        return None

    def named(self, namespace: str | None, name: str) -> Sequence[PlacedSkill]:
        """Return the active skills that a skill of a namespace may mean by a name.

        They are the one of its namespace, else the one of the whole name, else those of any
        namespace; of the last, a preferred skill is the only one.
        """
        ids = [skill_id(name, namespace, name)] if namespace else []
        for wanted in (*ids, _wanted_id(name)):
            if found := self._skills(_BY_ID, wanted):
                return found
        return self._skills(_BY_BARE_NAME, name)

    def has(self, skill: PlacedSkill, path: str) -> bool:
        """Return whether a skill has a file or folder; "" is its own folder."""
        parameters = {"version": skill.version, "path": path}
        return not path or self._db.execute(_EXISTING, parameters).fetchone() is not None

    def _skills(self, query: str, parameter: str) -> list[PlacedSkill]:
        return [PlacedSkill(*row) for row in self._db.execute(query, [parameter])]


_PLACED = """
    s.id, s.root || '/' || s.path, s.name, s.skill_id, s.namespace,
    iif(s.digest = (SELECT digest FROM skills WHERE id = s.shadowed_by), 'active', s.status)
"""  # Agents get the content of a skill that one with the same content shadows.
_AT = f"""
    SELECT {_PLACED}, s.current_version_id FROM json_each(?) AS place CROSS JOIN skills AS s
        ON s.root = json_extract(place.value, '$[0]') AND s.path = json_extract(place.value, '$[1]')
    WHERE s.status IN ('active', 'shadowed')
"""
_BY_ID = f"""
    SELECT {_PLACED}, s.current_version_id FROM skills AS s INDEXED BY skills_by_skill_id
    WHERE s.skill_id = ? AND s.status = 'active'
"""
_BY_BARE_NAME = f"""
    SELECT {_PLACED}, s.current_version_id FROM skills AS s INDEXED BY skills_by_bare_name
    WHERE s.bare_name = ?1 AND s.namespace IS NOT NULL AND s.status = 'active'
        AND s.preferred_at IS (SELECT max(p.preferred_at)
            FROM skills AS p INDEXED BY skills_by_bare_name
            WHERE p.bare_name = ?1 AND p.namespace IS NOT NULL AND p.status = 'active')
    ORDER BY s.name
"""
_EXISTING = """
    SELECT 1 FROM files WHERE version = :version
        AND (path = :path OR path > :path || '/' AND path < :path || '0') LIMIT 1
"""  # In code points, "0" follows "/".
_WRITTEN = f"""
    SELECT {columns(SkillReference._fields)} FROM skill_references WHERE skill = ? ORDER BY id
"""
_REFERENCES = f"""
    SELECT skill, {columns(SkillReference._fields)}, {columns(Resolved._fields[:4])}, id
    FROM skill_references INDEXED BY skill_references_by_skill
    WHERE skill IN (SELECT value FROM json_each(?)) ORDER BY id
"""
_SET_RESOLVED = """
    UPDATE skill_references SET place = ?, wanted = ?, to_skill = ?, problem = ? WHERE id = ?
"""
_OF_SKILL_IDS = """
    SELECT s.id, s.skill_id, s.name, s.namespace, s.root, s.path
    FROM json_each(?) AS touched
    CROSS JOIN skills AS s INDEXED BY skills_by_skill_id ON s.skill_id = touched.value
"""
_OF_IDS = """
    SELECT s.id, s.root, s.path, s.name, s.skill_id, s.namespace, s.status, s.current_version_id
    FROM json_each(?) AS touched CROSS JOIN skills AS s ON s.id = touched.value
    WHERE EXISTS (SELECT 1 FROM skill_references WHERE skill = s.id)
        OR EXISTS (SELECT 1 FROM findings WHERE skill = s.id AND code IN (?, ?))
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
"""
