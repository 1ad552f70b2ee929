"""Entries of a directory of skills for agents: one for each selected skill, under its name."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from catalog.database import sql
from catalog.database.expressions import INDEX_ORDER
from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.model.naming import entry_name
from catalog.model.paths import os_path
from catalog.model.setting import Selection
from catalog.prompt_index import query as prompt_index_query
from catalog.text import suggestions
from catalog.text.suggestions import shown

HAS_ENTRY = "s.status = 'active' AND (s.model_invocable = 1 OR s.user_invocable = 1)"
"""Condition of the skills `s` that may have an entry."""


class Entry(NamedTuple):
    """Entry of one skill."""

    name: str  # of its folder
    skill: str
    skill_id: str
    package_path: str | None  # `<skill_id>/<version>`; None where it is published in place
    folder: str  # the skill folder itself; a path inside an archive is no path on the disk
    in_archive: bool


def entries(
    db: Database, selection: Selection, skill_ids: Collection[str] | None = None
) -> Iterator[Entry]:
    """Yield the entries of the selected skills, or of those with these skill_ids, as in an index.

    Skills that neither agents nor users may start have none. No two entries have the same name.
    """
    conditions = [HAS_ENTRY, *prompt_index_query.conditions(selection)]
    if skill_ids is not None:
        conditions.append("s.skill_id IN (SELECT value FROM json_each(:skill_ids))")
    rows = db.query(
        "SELECT s.name, s.skill_id, s.package_path, s.root, s.path"
        f" FROM skills AS s INDEXED BY {'skills_by_status' if skill_ids is None else _BY_ID}"
        f" WHERE {' AND '.join(conditions)} ORDER BY {INDEX_ORDER}",
        {key: sql.to_json(values) for key, values in selection._asdict().items()}
        | {"skill_ids": sql.to_json(sorted(skill_ids or ()))},
    )
    for row in rows:
        yield Entry(
            entry_name(row["name"], row["skill_id"]),
            row["name"],
            row["skill_id"],
            row["package_path"],
            f"{row['root']}/{os_path(row['path'])}",
            "!/" in row["path"],
        )


_BY_ID = "skills_by_skill_id"


IN_INDEX = "s.status = 'active' AND s.model_invocable = 1"
"""Condition of the skills that an index may have."""


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
    conditions = " AND ".join((among, *prompt_index_query.conditions(whole)))
    values = {key: sql.to_json(values) for key, values in whole._asdict().items()}
    if not db.execute(f"SELECT 1 FROM skills AS s WHERE {conditions} LIMIT 1", values).fetchone():
        raise NotInCatalog("No published skill passes this filter; leave a part of it out.")


def _check_words(
    db: Database, kind: str, words: Sequence[str], source: str, column: str, among: str
) -> None:
    """Raise NotInCatalog for a word that is in a column of no skill."""
    for word in words:
        prompt_index_query = f"SELECT 1 FROM {source} WHERE {column} = ? AND {among} LIMIT 1"
        if db.execute(prompt_index_query, [word]).fetchone():
            continue
        rows = db.execute(f"SELECT DISTINCT {column} FROM {source} WHERE {among} ORDER BY 1")
        known = [str(name) for (name,) in rows.fetchall()]
        advice = suggestions.known(word, known)
        raise NotInCatalog(f"No published skill has the {kind} {shown(word)}. {advice}")
