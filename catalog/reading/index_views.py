"""Prompt indexes for people: their publications, entries and skills left out."""

from catalog.database.expressions import INDEX_ORDER
from catalog.database.queries import Database, Row


def indexes(db: Database) -> list[Row]:
    """Return the configured indexes, each with its last publication."""
    return db.rows(_INDEXES + " ORDER BY i.position")


def index(db: Database, name: str) -> Row | None:
    """Return one index with its last publication; None where no index has that name."""
    return db.row(_INDEXES + " WHERE i.name = ?", [name])


LITTLE = "little"
"""Choice of the entries that show less than a tenth of their description."""
_IS_LITTLE = "length(e.shown) * 10 < length(s.description)"
_ENTRIES = "FROM index_entries AS e JOIN skills AS s ON s.id = e.skill WHERE e.index_name = :name"


def index_entries(db: Database, name: str, state: str, words: str, page: int) -> list[Row]:
    """Return a page of the skills in an index, in its order, and one more if there is one.

    With a state or LITTLE, those in that state; with words, those whose name or description has
    them.
    """
    condition = _IS_LITTLE if state == LITTLE else "(:state = '' OR e.state = :state)"
    return db.rows(
        "SELECT e.rank, e.state, e.shown, length(e.shown) AS got, s.skill_id, s.name,"
        f" s.description, length(s.description) AS whole, {_IS_LITTLE} AS is_little {_ENTRIES}"
        f" AND {condition} AND {_HAS_WORDS} ORDER BY e.rank LIMIT :limit OFFSET :offset",
        _page(name, words, page) | {"state": state},
    )


def with_little(db: Database, name: str) -> int:
    """Return how many entries of an index show less than a tenth of their description."""
    row = db.execute(f"SELECT count(*) {_ENTRIES} AND {_IS_LITTLE}", {"name": name}).fetchone()
    return int(row[0])


def index_left_out(db: Database, name: str, words: str, page: int) -> list[Row]:
    """Return a page of the active skills that an index leaves out, with reasons, and one more."""
    return db.rows(
        "SELECT NULL AS rank, o.reason AS state, o.skill_id, o.name, s.description"
        " FROM index_left_out AS o JOIN skills AS s ON s.id = o.skill WHERE o.index_name = :name"
        f" AND {_HAS_WORDS} ORDER BY {INDEX_ORDER} LIMIT :limit OFFSET :offset",
        _page(name, words, page),
    )


def left_out_counts(db: Database, index: Row) -> dict[str, int]:
    """Return the number of active skills that are not in an index, for each reason there is.

    Counts of the last publication and of two indexes take a few milliseconds; counting the view
    `index_left_out` takes a hundred with 30,000 skills.
    """
    active, invocable = db.execute(
        "SELECT (SELECT count(*) FROM skills WHERE status = 'active'),"
        " (SELECT count(*) FROM skills INDEXED BY skills_in_index_order"
        " WHERE status = 'active' AND model_invocable = 1)"
    ).fetchone()
    no_room = index["left_out"] or 0
    inside = sum(index[state] or 0 for state in ("full", "shortened", "name_only"))
    counts = {
        "over_budget": no_room,
        "hidden": active - invocable,
        "filtered": invocable - inside - no_room,
    }
    return {reason: count for reason, count in counts.items() if count > 0}


def state_sizes(db: Database, name: str) -> dict[str, int]:
    """Return the characters of all entries of an index in each state."""
    rows = db.execute(
        "SELECT state, sum(chars) FROM index_entries WHERE index_name = ? GROUP BY state", [name]
    )
    return dict(rows.fetchall())


def builds(db: Database, name: str, page: int) -> list[Row]:
    """Return a page of the publications of an index, newest first, and one more if there is one."""
    return db.rows(
        f"{_BUILDS} WHERE b.index_name = :name ORDER BY b.published_at DESC, b.id DESC"
        " LIMIT :limit OFFSET :offset",
        _page(name, "", page),
    )


def build(db: Database, name: str, id_: int | None) -> Row | None:
    """Return a publication of an index with its text: by id, or the newest one."""
    return db.row(
        f"{_BUILDS.replace('SELECT', 'SELECT t.text,', 1)}"
        f" WHERE b.index_name = :name {'AND b.id = :id' if id_ else ''}"
        " ORDER BY b.published_at DESC, b.id DESC LIMIT 1",
        {"name": name, "id": id_},
    )


PAGE = 50
"""Rows on one page."""


def _page(name: str, words: str, page: int) -> dict[str, object]:
    return {
        "name": name,
        "words": words.lower(),
        "limit": PAGE + 1,
        "offset": (page - 1) * PAGE,
    }


_HAS_WORDS = "(:words = '' OR instr(lower(s.name || ' ' || s.description), :words) > 0)"
_BUILDS = """
    SELECT b.id, b.published_at, b.sha256, b."full", b.shortened, b.name_only, b.left_out,
           t.chars, t.estimated_tokens
    FROM index_builds AS b JOIN index_texts AS t ON t.sha256 = b.sha256
"""


def index_states(db: Database, skill: int) -> list[Row]:
    """Return the state and rank of an active skill in each index, or why it is left out."""
    return db.rows(
        "SELECT i.name, ifnull(i.budget_chars, i.budget_tokens) AS budget,"
        " iif(i.budget_chars IS NULL, 'tokens', 'characters') AS unit, i.filter,"
        " e.rank, e.state, e.chars, e.reason, e.shown,"
        " (SELECT o.reason FROM index_left_out AS o WHERE o.skill = :skill"
        "  AND o.index_name = i.name) AS left_out"
        " FROM indexes AS i LEFT JOIN index_entries AS e"
        " ON e.index_name = i.name AND e.skill = :skill ORDER BY i.position",
        {"skill": skill},
    )


_INDEXES = """
    SELECT i.name, i.format, i.language, i.filter, i.featured, i.budget_chars, i.budget_tokens,
           i.overflow, i.location_base, b.sha256, b.published_at, b."full", b.shortened,
           b.name_only, b.left_out, t.chars, t.estimated_tokens,
           ifnull(i.budget_chars, i.budget_tokens) AS budget,
           iif(i.budget_chars IS NULL, 'tokens', 'characters') AS unit,
           ifnull(iif(i.budget_chars IS NULL, t.estimated_tokens, t.chars), 0) AS used
    FROM indexes AS i LEFT JOIN index_builds AS b ON b.id = i.last_build_id
    LEFT JOIN index_texts AS t ON t.sha256 = b.sha256
"""
