"""Reference of the stored data: tables, columns, and JSON Schemas of outcome files."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from sqlite_utils import Database

from catalog.database.schema import migrations
from docs_from_code.markdown import prose
from docs_from_code.outcome_schemas import json_schema

_METADATA = Path(__file__).parents[1] / "datasette-metadata.yml"

_OPENING = """\
# Schema

<!-- Generated from the migrations and datasette-metadata.yml by `make docs`. -->

The catalog is one SQLite file, `catalog.db`, in WAL mode, with one writer and any number of
readers. Any SQLite client from 3.37 on reads all of it. Times are ISO 8601 in UTC, JSON columns
contain valid JSON, and yes and no are 1 and 0. Columns are text, or computed by a view, unless
another type is given. A column `id` that is not listed is the key of the row.

Each text is stored once, in `texts`; versions and files refer to it. The views `version_contents`,
`file_contents` and `skill_definitions` show it beside them. Two full-text tables refer to the same
texts: `skills_fts` finds names, descriptions and tags, `skill_text_fts` finds whole skills. Both
find Chinese, Japanese and Korean words of up to four characters in names, descriptions and tags.
In bodies, look for the pairs of characters of a word, as `skilldrop search` does for words of any
length: `body_grams : ("数据" AND "据库")` finds 数据库.

In SQL, `SELECT s.* FROM skill_text_fts('pdf') AS f JOIN skills AS s ON s.id = f.rowid` finds
whole skills in any client, and `searched_texts` has their bodies by `id`. `sqlite-utils search
catalog.db skills pdf` finds names, descriptions and tags; it cannot search a view. Datasette with
`datasette-metadata.yml` finds whole skills at `/catalog/skills?_search=pdf`, and their texts at
`/catalog/searched_texts?_search=pdf`; without that file the first finds names, descriptions and
tags, and the second needs `&_fts_table=skill_text_fts&_fts_pk=id`.
"""


# The tables whose columns a view repeats.
_TABLE_OF = {
    "version_contents": "versions",
    "skill_packages": "versions",
    "file_contents": "files",
    "searched_texts": "skills",
}


def page() -> str:
    """Return the page: each table and view with its columns and their meaning."""
    db = Database(memory=True)
    migrations.apply(db)
    tables = yaml.safe_load(_METADATA.read_text("utf-8"))["databases"]["catalog"]["tables"]
    return "\n".join(
        [
            _OPENING,
            *(
                _section(db, name, tables)
                for name in (*db.table_names(), *db.view_names())
                if name in tables and not _is_hidden(tables[name])
            ),
        ]
    )


def _is_hidden(table: Mapping[str, Any]) -> bool:
    return bool(table.get("hidden") and not table.get("shown_with_rows"))


def _section(db: Database, name: str, tables: Mapping[str, Any]) -> str:
    """Return the section of a table; that of a view leaves out the columns of its table."""
    table, base = tables[name], _TABLE_OF.get(name)
    known = tables[base]["columns"] if base else {}
    columns = list(_columns(db, name, table))
    same = [f"`{column}`" for column, _, meaning in columns if known.get(column) == meaning]
    rows = "".join(
        f"- `{column}`{f' ({type_})' if type_ not in ('', 'text') else ''}: {prose(meaning)}\n"
        for column, type_, meaning in columns
        if f"`{column}`" not in same and meaning != "Key of the row"
    )
    text = table.get("description") or table["description_html"].partition("</p>")[0]
    text = " ".join(re.sub(r"<[^>]+>", "", text).split())
    names = "all" if base and len(same) == len(known) else ", ".join(same)
    shared = f"- as in [`{base}`](#{base}): {names}\n" if same else ""
    return f"## `{name}`\n\n{text}\n\n{shared}{rows}"


def _columns(db: Database, name: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for row in db.query(f"SELECT name, type FROM pragma_table_xinfo('{name}')"):
        yield row["name"], row["type"].lower(), table["columns"].get(row["name"], "")


def of_outcome(name: str) -> str:
    """Return the JSON Schema of an object that runtimes write."""
    return json.dumps(json_schema(name), ensure_ascii=False, indent=2) + "\n"
