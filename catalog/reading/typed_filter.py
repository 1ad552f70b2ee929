"""Check of a filter that a person has typed: a typo must not mean that no skill is wanted."""

from collections.abc import Sequence

from catalog.database import sql
from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.model.selection import Selection
from catalog.prompt_index import query
from catalog.reading.agent_entries import HAS_ENTRY
from catalog.text.suggestions import closest, few, shown

IN_INDEX = "s.status = 'active' AND s.model_invocable = 1"
"""Condition of the skills that an index may have."""


def check(
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
    conditions = " AND ".join((among, *query.conditions(whole)))
    values = {key: sql.to_json(values) for key, values in whole._asdict().items()}
    if not db.execute(f"SELECT 1 FROM skills AS s WHERE {conditions} LIMIT 1", values).fetchone():
        raise NotInCatalog("No published skill passes this filter; leave a part of it out.")


def _check_words(
    db: Database, kind: str, words: Sequence[str], source: str, column: str, among: str
) -> None:
    """Raise NotInCatalog for a word that is in a column of no skill."""
    for word in words:
        query = f"SELECT 1 FROM {source} WHERE {column} = ? AND {among} LIMIT 1"
        if db.execute(query, [word]).fetchone():
            continue
        rows = db.execute(f"SELECT DISTINCT {column} FROM {source} WHERE {among} ORDER BY 1")
        known = [str(name) for (name,) in rows.fetchall()]
        near = closest(word, known)
        advice = f"The closest are: {few(near)}." if near else f"There are: {few(known) or 'none'}."
        raise NotInCatalog(f"No published skill has the {kind} {shown(word)}. {advice}")
