"""Stems of words, as the full-text index has them."""

import sqlite3
from functools import cache, lru_cache
from threading import Lock


@lru_cache(maxsize=10_000)
def stem(word: str) -> str:
    """Return the stem of a word; the word itself if SQLite reads no word in it."""
    with _LOCK:
        db = _words()
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        db.execute("INSERT INTO words (rowid, word) VALUES (1, ?)", [word])
        row = db.execute("SELECT term FROM stems").fetchone()
    return str(row[0]) if row else word


def word_of(wanted: str) -> str:
    """Return a word with a stem: a stem alone may have another one, as `analys` has."""
    words = (wanted + ending for ending in _ENDINGS)
    return next((word for word in words if stem(word) == wanted), wanted)


_ENDINGS = ("", "e", "s", "es", "y", "ing", "ed", "ion", "ation", "al", "er", "ity")
_LOCK = Lock()


@cache
def _words() -> sqlite3.Connection:
    """Return a table in memory, through which SQLite's own stemmer is asked."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    stems = "fts5 (word, content = '', tokenize = 'porter unicode61')"
    db.execute(f"CREATE VIRTUAL TABLE words USING {stems}")
    db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab (words, 'instance')")
    return db
