"""Short forms of JSON texts: phrases that most rows have become single control characters.

JSON has no control characters, so the texts come back unchanged: a generated column of the public
name has them whole, in every program that reads the file.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from catalog.database.sql import Row, to_json


class Phrase(NamedTuple):
    """Phrase that a row has in another column, too."""

    sql: str
    of: Callable[[Row], str]


class ShortForm(NamedTuple):
    """Column with short texts, and their phrases: the n-th is stored as the character n.

    Stored texts depend on the phrases and on their order, so neither may change.
    """

    table: str
    column: str  # generated, with the whole text
    stored: str
    empty: str  # its value in a row without one
    of_row: Sequence[Phrase]
    fixed: Sequence[str] = ()

    def short(self, row: Row) -> Row:
        """Return a row with the short text instead of the whole one."""
        text = row[self.column]
        for number, phrase in enumerate([*(each.of(row) for each in self.of_row), *self.fixed], 1):
            text = text.replace(phrase, chr(number))
        return {name: value for name, value in row.items() if name != self.column} | {
            self.stored: text
        }

    @property
    def shortening(self) -> str:
        """Return the SQL expression of the short text, given the whole one."""
        expression = self.column
        for number, phrase in enumerate(self._sql, 1):
            expression = f"replace({expression}, {phrase}, char({number}))"
        return expression

    @property
    def whole(self) -> str:
        """Return the SQL expression of the whole text, given the short one."""
        expression = self.stored
        for number, phrase in reversed([*enumerate(self._sql, 1)]):
            expression = f"replace({expression}, char({number}), {phrase})"
        return expression

    @property
    def _sql(self) -> list[str]:
        return [*(phrase.sql for phrase in self.of_row), *(f"'{text}'" for text in self.fixed)]


STEPS = ShortForm(
    "ingestions",
    "steps",
    "short_steps",
    "[]",
    (
        Phrase("json_quote(path)", lambda row: to_json(row["path"])),
        Phrase("substr(started_at, 1, 17)", lambda row: row["started_at"][:17]),  # to the minute
    ),
    (
        '[{"stepId":"1","stepName":"read","input":',
        ',"output":{"files":',
        ',"bytes":',
        '},"duration":',
        ',"error":null,"timestamp":"',
        '+00:00"},{"stepId":"2","stepName":"parse","input":"SKILL.md","output":{"findings":',
        '+00:00"},{"stepId":"3","stepName":"validate","input":',
        '["spec","advice","safety","claude-code"]',
        ',"output":{"accepted":true,"findings":',
        '+00:00"}]',
    ),
)
FRONTMATTER = ShortForm(
    "skills",
    "frontmatter",
    "short_frontmatter",
    "{}",
    # Without its last quote: in the frontmatter, white space may follow.
    (
        Phrase(
            "substr(json_quote(description), 1, length(json_quote(description)) - 1)",
            lambda row: to_json(row["description"])[:-1],
        ),
    ),
)
SHORT_FORMS = {form.table: form for form in (STEPS, FRONTMATTER)}
"""Short forms by their tables, one for each."""
