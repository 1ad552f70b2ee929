"""Active skills that agents, people or installers get, and the names under which they get them."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from catalog.database.expressions import INDEX_ORDER
from catalog.database.queries import Database, Row, to_json
from catalog.listings.agents import AGENTS
from catalog.model import naming
from catalog.model.errors import NotInCatalog
from catalog.model.paths import os_path
from catalog.model.setting import Selection
from catalog.prompt_index.query import conditions
from catalog.reading.files.published import SKILL_MD
from catalog.text import suggestions
from catalog.text.suggestions import shown

Starter: TypeAlias = Literal["model", "user"]

_MAY_START = "s.status = 'active' AND s.{}_invocable = 1"
IN_INDEX = _MAY_START.format("model")
"""Condition of the skills that an index may have, and that installers get."""
HAS_ENTRY = "s.status = 'active' AND (s.model_invocable = 1 OR s.user_invocable = 1)"
"""Condition of the skills `s` that an agent or a user may start."""


# For clients of the Model Context Protocol

_KEY = "level_rank, -ifnull(priority, 0), name, id"
_SKILLS = f"""
    SELECT id, name, skill_id, display_name, description, frontmatter, level FROM skills AS s
    WHERE {_MAY_START}
"""


def page(
    db: Database, starter: Starter, limit: int, after: int | None = None
) -> tuple[list[Row], int | None]:
    """Return up to `limit` skills after a row, and the row after which the next page starts.

    An unchanged skill is on exactly one page, even if others are published between requests. The
    second value is None on the last page. Raises NotInCatalog if the row is gone.
    """
    known = "SELECT 1 FROM skills WHERE id = ?"
    if after is not None and not db.execute(known, [after]).fetchone():
        raise NotInCatalog(f"The catalog has no skill in row {after}.")
    rest = "" if after is None else f"AND ({_KEY}) > (SELECT {_KEY} FROM skills WHERE id = :after)"
    rows = db.rows(
        f"{_SKILLS.format(starter)} {rest} ORDER BY {INDEX_ORDER} LIMIT :limit",
        {"after": after, "limit": limit + 1},
    )
    return rows[:limit], rows[limit - 1]["id"] if len(rows) > limit else None


def one(db: Database, starter: Starter, skill_id: str) -> Row:
    """Return the skill with a skill_id. Raises NotInCatalog."""
    if row := db.row(f"{_SKILLS.format(starter)} AND skill_id = ?", [skill_id]):
        return row
    raise NotInCatalog(f"There is no skill {shown(skill_id)} that a {starter} may start.")


# For copies on other machines


def pulled(db: Database, selection: Selection) -> list[Row]:
    """Return the selected skills that a model may see, with the names of their folders."""
    rows = db.query(
        "SELECT s.name, s.skill_id, v.version, s.digest FROM skills AS s"
        " JOIN versions AS v ON v.id = s.current_version_id"
        f" WHERE {' AND '.join((IN_INDEX, *conditions(selection)))} ORDER BY s.name, s.id",
        _values(selection),
    )
    return [{"folder": naming.entry_name(row["name"], row["skill_id"])} | row for row in rows]


# For installers


def installable(db: Database, skill_ids: Collection[str] | None = None) -> list[Row]:
    """Return the skills in the order of an index, or only those with some skill_ids.

    Each has the sorted `paths` of its files. SKILL.md has this name among them, however its author
    wrote it.
    """
    rows = db.query(
        "SELECT s.skill_id, s.name, s.description, s.skill_md_name, s.skill_md_hash, s.digest,"
        f" v.version, (SELECT json_group_array(iif(kind = 'skill_md', '{SKILL_MD}', path))"
        " FROM files WHERE version = v.id) AS paths"
        " FROM skills AS s CROSS JOIN versions AS v ON v.id = s.current_version_id"
        f" WHERE {IN_INDEX} {'' if skill_ids is None else f'AND {_IS_GIVEN}'}"
        f" ORDER BY {INDEX_ORDER}",
        {"skill_ids": to_json(list(skill_ids or ()))},
    )
    return [row | {"paths": sorted(json.loads(row["paths"]))} for row in rows]


def skill_id_of_install_name(db: Database, install_name: str) -> str | None:
    """Return the skill_id of a skill by its install name; None where no skill has that name."""
    if naming.install_name(install_name) == install_name and installable(db, [install_name]):
        return install_name
    rows = db.query(
        f"SELECT s.skill_id FROM skills AS s WHERE {IN_INDEX} AND (s.skill_id GLOB '*[^a-z0-9-]*'"
        f" OR s.skill_id LIKE '%--%' OR length(s.skill_id) > {naming.INSTALL_NAME_LENGTH})"
    )
    odd = (row["skill_id"] for row in rows)
    return next((each for each in odd if naming.install_name(each) == install_name), None)


_IS_GIVEN = "s.skill_id IN (SELECT value FROM json_each(:skill_ids))"


# For directories of skills


def allowed_for(agent: str | None) -> str:
    """Return the condition of the skills `s` that may be in a directory for an agent.

    They are those that any model may see. An agent that does not tell its model about skills that
    only users may start gets these, too.
    """
    known = AGENTS.get(agent or "")
    return HAS_ENTRY if known and known.hides_user_only else IN_INDEX


class AgentEntry(NamedTuple):
    """Entry of one skill in a directory for agents."""

    name: str  # of its folder
    skill: str
    skill_id: str
    is_for_users: bool  # only users may start it
    package_path: str | None  # `<skill_id>/<version>`; None where it is published in place
    folder: str  # the skill folder itself; a path inside an archive is no path on the disk


def entries(
    db: Database,
    selection: Selection,
    skill_ids: Collection[str] | None = None,
    among: str = IN_INDEX,
) -> Iterator[AgentEntry]:
    """Yield the entries of the selected skills, or of those with these skill_ids, as in an index.

    among is the condition of the skills that may have one. No two entries have the same name.
    """
    wanted = [among, *conditions(selection), *([] if skill_ids is None else [_IS_GIVEN])]
    rows = db.rows(
        "SELECT s.name, s.skill_id, s.model_invocable, s.package_path, s.root, s.path"
        " FROM skills AS s INDEXED BY"
        f" {'skills_by_status' if skill_ids is None else 'skills_by_skill_id'}"
        f" WHERE {' AND '.join(wanted)} ORDER BY {INDEX_ORDER}",
        _values(selection) | {"skill_ids": to_json(sorted(skill_ids or ()))},
    )
    for row in rows:
        yield AgentEntry(
            naming.entry_name(row["name"], row["skill_id"]),
            row["name"],
            row["skill_id"],
            not row["model_invocable"],
            row["package_path"],
            f"{row['root']}/{os_path(row['path'])}",
        )


def check_typed(
    db: Database, typed: Selection, whole: Selection | None = None, among: str = HAS_ENTRY
) -> None:
    """Raise NotInCatalog for a typed name or tag that no skill has, or if no skill is selected.

    The sentence has the closest names. whole is the filter in force, by default the typed one, and
    among the condition of the skills that count.
    """
    _check_words(db, "name", typed.names, "skills AS s", "s.name", among)
    tags = "skills AS s, json_each(s.tags) AS tag"
    _check_words(db, "tag", typed.tags, tags, "tag.value", among)
    whole = whole or typed
    query = f"SELECT 1 FROM skills AS s WHERE {' AND '.join((among, *conditions(whole)))} LIMIT 1"
    if not db.execute(query, _values(whole)).fetchone():
        if not any(whole):
            raise NotInCatalog("No skill for agents is published; `skilldrop status` says why.")
        raise NotInCatalog("No published skill passes this filter; leave a part of it out.")


def _check_words(
    db: Database, kind: str, words: Sequence[str], source: str, column: str, among: str
) -> None:
    """Raise NotInCatalog for a word that is in a column of no skill."""
    for word in words:
        query = f"SELECT 1 FROM {source} WHERE {column} = ? AND {among} LIMIT 1"
        if not db.execute(query, [word]).fetchone():
            rows = db.execute(f"SELECT DISTINCT {column} FROM {source} WHERE {among} ORDER BY 1")
            advice = suggestions.known(word, [str(name) for (name,) in rows])
            which = (
                "published skill that a model may start" if among == IN_INDEX else "published skill"
            )
            raise NotInCatalog(f"No {which} has the {kind} {shown(word)}. {advice}")


def _values(selection: Selection) -> dict[str, str]:
    return {key: to_json(words) for key, words in selection._asdict().items()}
