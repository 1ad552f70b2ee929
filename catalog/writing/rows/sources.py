"""Sources: the repository, owner, folder, author or root that each skill comes from."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from catalog.database.queries import Row, Writer, to_json
from catalog.model.paths import last_name, repository_label, root_name

_Top: TypeAlias = tuple[str, str]  # a root, and the first folder of a path in it


def assign(
    db: Writer, rows: Sequence[Row], stored: Iterable[Row], repositories: Mapping[str, str]
) -> None:
    """Set the source of rows of `skills` that replace the stored ones, and of those beside them.

    A skill comes from the repository of its root; else from its namespace; else from the first
    folder of its path, if other skills are in it, too; else from its declared author; else from
    its root. repositories has the URLs of roots. Raises sqlite3.Error.
    """
    present = Counter(_top(row) for row in rows if row["status"] != "removed")
    tops = list({**present, **dict.fromkeys(map(_top, stored))})
    # A folder with two other skills was a source before, so that theirs stays.
    parameters = [to_json(tops), to_json([row["id"] for row in rows])]
    beside = list(db.query(_BESIDE, parameters))
    present.update(map(_top, beside))
    for row in (*rows, *beside):
        source, kind = _source(row, repositories, is_shared=present[_top(row)] > 1)
        row["source"], row["source_kind"] = source, kind
    db.conn.executemany(
        "UPDATE skills SET source = :source, source_kind = :source_kind WHERE id = :id", beside
    )


def _top(row: Row) -> _Top:
    return row["root"], row["path"].partition("/")[0]


def _source(row: Row, repositories: Mapping[str, str], *, is_shared: bool) -> tuple[str, str]:
    """Return the name and the kind of a source."""
    root, top = _top(row)
    if root in repositories:
        return repository_label(repositories[root]), "repository"
    if row["namespace"]:
        return row["namespace"], "namespace"
    if is_shared:
        return last_name(top), "folder"
    author = (row["author"] or "").strip()
    if author:
        return author.partition("<")[0].strip() or author, "author"
    return root_name(root), "root"


_BESIDE = """
    SELECT s.id, s.root, s.path, s.namespace, s.author FROM json_each(?1) AS top
    CROSS JOIN skills AS s ON s.id IN (
        SELECT id FROM skills INDEXED BY skills_by_root
        WHERE root = json_extract(top.value, '$[0]') AND path >= json_extract(top.value, '$[1]')
            AND path < json_extract(top.value, '$[1]') || '0'
            AND (path = json_extract(top.value, '$[1]')
                 OR path > json_extract(top.value, '$[1]') || '/')
            AND status != 'removed' AND source != ''
            AND id NOT IN (SELECT value FROM json_each(?2))
        LIMIT 2)
"""
