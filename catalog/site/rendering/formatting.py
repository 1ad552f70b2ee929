"""Texts in a form for people, with durations, days, names, languages and invisible characters."""

import re
from collections.abc import Iterable
from datetime import date
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

from catalog.database.queries import Row
from catalog.text import humanize, visible
from catalog.text.visible import visible_prose

EXAMINED = 4_000
"""Characters of a text that are examined: the first ones."""
MOSTLY = 0.3
"""Part of the letters that must be of the script; each of them says more than a Latin one."""
SOME_KANA = 0.05
"""Part of kana among the characters from which a text is Japanese."""

_KANA = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile(r"[A-Za-z]")


def milliseconds(number: float | None) -> str:
    """Return a duration in words; None means that the work is running or was interrupted."""
    return "unfinished" if number is None else humanize.duration(number / 1000)


def words(name: object) -> str:
    """Return the name of a column or a state as words: `by_http` is by HTTP."""
    return " ".join(_ACRONYMS.get(word, word) for word in str(name).split("_"))


_ACRONYMS = {"http": "HTTP", "mcp": "MCP", "id": "ID", "abp": "ABP", "json": "JSON", "sql": "SQL"}


def by_day(rows: Iterable[Row], column: str) -> list[tuple[str, list[Row]]]:
    """Return rows by the day of a time, in their order."""
    return [(day, list(of_day)) for day, of_day in groupby(rows, lambda row: row[column][:10])]


def weekday(day: str) -> str:
    """Return a day such as 2026-11-20 in words: Friday, 20 November 2026."""
    try:
        at = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{at:%A}, {at.day} {at:%B %Y}"


def is_iso_time(value: object) -> bool:
    """Return whether a value is a date or a time in ISO 8601."""
    return isinstance(value, str) and bool(_TIME.fullmatch(value))


_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d[\d.:+Z-]*)?")


def attribute(text: str | None) -> Markup:
    """Return ` lang="zh"`, "ja" or "ko" for a mostly Chinese, Japanese or Korean text, else ""."""
    head = (text or "")[:EXAMINED]
    if head.isascii():
        return Markup("")
    kana, hangul, han = (len(script.findall(head)) for script in (_KANA, _HANGUL, _HAN))
    total = kana + hangul + han
    if not total or total < MOSTLY * (total + len(_LATIN.findall(head))):
        return Markup("")
    other = "ja" if kana >= SOME_KANA * total else "zh"
    return Markup(' lang="{}"').format("ko" if hangul * 2 > total else other)


def marked(text: str) -> Markup:
    """Return a text as HTML with one mark for each run of such characters."""
    return Markup(visible.substituted(str(escape(text)), _mark))


def in_html(html: str) -> str:
    """Return HTML with the same marks in its text, and plain code points in its tags."""
    if html.isascii() or visible_prose(html) == html:
        return html
    return _PARTS.sub(
        lambda part: (
            visible_prose(part[0])
            if part[0].startswith("<")
            else visible.substituted(part[0], _mark)
        ),
        html,
    )


def plain(value: Any) -> Any:
    """Return a text with code points in place of such characters; other values are unchanged.

    As Jinja's `finalize`, it receives each value before escaping, also in attributes and titles.
    """
    return visible_prose(value) if type(value) is str else value


def _mark(run: str) -> str:
    name = visible.character_name(run[0]) + (f", and {len(run) - 1:,} more" if len(run) > 1 else "")
    codes = "".join(map(visible.code_of, run))
    return f'<span class="unseen" title="{escape(name)}">{codes}</span>'


# A tag, whose quoted attributes may contain ">", or text.
_PARTS = re.compile(r'<(?:[^"<>]|"[^"]*")*+>|[^<]+|<')
