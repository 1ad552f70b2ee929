"""Stems of words as the full-text index stores them."""

import sqlite3

_ENDINGS = ("", "e", "s", "es", "y", "ing", "ed", "ion", "ation", "al", "er", "ity")


class Stemmer:
    """SQLite's own stemmer, by way of a table in memory."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = 'porter unicode61')"
        )
        self._db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab (words, 'instance')")

    def stem(self, word: str) -> str:
        """Return the stem of a word; the word itself if SQLite reads no word in it."""
        self._db.execute("DELETE FROM words")
        self._db.execute("INSERT INTO words VALUES (?)", [word])
        row = self._db.execute("SELECT term FROM stems").fetchone()
        return str(row[0]) if row else word

    def word(self, stem: str) -> str:
        """Return a word with this stem: a stem alone may have another one, as `analys` has."""
        words = (stem + ending for ending in _ENDINGS)
        return next((word for word in words if self.stem(word) == stem), stem)

    def close(self) -> None:
        """Free the table."""
        self._db.close()
