"""Syntax highlighting of code as HTML with classes; only this module uses the library Pygments.

Lexers are regular expressions of many authors, and the code is that of strangers. So only lexers of
a list are used, on code of limited size, and they stop when the time is over.
"""

import time
from functools import cache, lru_cache
from html import escape
from typing import Any

from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.token import Token
from pygments.util import ClassNotFound

LONGEST = 60_000
"""Most characters of code that is highlighted."""
LONGEST_LINE = 1_000
"""Most characters of a line of it."""
SECONDS = 0.5
"""Most processor time, in seconds."""

CLASSES = frozenset("cm kw st nu fn ty tg at va de in he".split())
"""Classes of the spans: comment, keyword, string, number, function, type, tag, attribute,
variable, deleted line, inserted line, heading."""


def language_of(path: str) -> str:
    """Return the language of a file by its name; empty if it has none."""
    name = path.rpartition("/")[2].lower()
    lexer = _lexer(name.rpartition(".")[2] if "." in name[1:] else name)
    return str(lexer.aliases[0]) if lexer else ""


@lru_cache(maxsize=1_000)
def _lexer(language: str) -> Any:
    """Return the lexer of a language, or of a file by its name or ending; None without one.

    A search through all lexers takes a millisecond.
    """
    name = _OTHER_NAMES.get(language, language)
    try:
        lexer: Any = find_lexer_class_by_name(name)
    except ClassNotFound:
        lexer = find_lexer_class_for_filename(f"x.{name}") or find_lexer_class_for_filename(name)
    return lexer() if lexer and lexer.aliases and lexer.aliases[0] in _LANGUAGES else None


def lines(code: str, language: str, seconds: float = SECONDS) -> list[str] | None:
    """Return the lines of some code as HTML.

    None if the language is unknown, the code is too long, or it takes more than some seconds of
    processor time.
    """
    if len(code) > LONGEST or not (lexer := _lexer(language.lower())):
        return None
    if max(map(len, code.split("\n"))) > LONGEST_LINE:
        return None
    end = time.thread_time() + seconds
    runs: list[tuple[str, list[str]]] = []  # of one class
    for number, (_, kind, text) in enumerate(lexer.get_tokens_unprocessed(code)):
        if number % 16 == 0 and time.thread_time() > end:
            return None
        css_class = _class_of(kind)
        if not runs or runs[-1][0] != css_class:
            runs.append((css_class, []))
        runs[-1][1].append(text)
    return "".join(_span(css_class, "".join(texts)) for css_class, texts in runs).split("\n")


def _span(css_class: str, text: str) -> str:
    """Return a text of one class as HTML, with tags in each line."""
    html = escape(text, quote=False)
    if not css_class:
        return html
    opening = f'<span class="{css_class}">'
    html = f"{opening}{html}</span>".replace("\n", f"</span>\n{opening}")
    return html.replace(f"{opening}</span>", "")


@cache
def _class_of(kind: Any) -> str:
    while kind is not Token:
        if kind in _CLASS_OF:
            return _CLASS_OF[kind]
        kind = kind.parent
    return ""


_CLASS_OF = {
    Token.Comment: "cm",
    Token.Comment.Preproc: "kw",
    Token.Keyword: "kw",
    Token.Keyword.Type: "ty",
    Token.Operator.Word: "kw",
    Token.Literal.String: "st",
    Token.Literal.String.Interpol: "va",
    Token.Literal.Number: "nu",
    Token.Literal.Date: "nu",
    Token.Keyword.Constant: "nu",
    Token.Name.Function: "fn",
    Token.Name.Class: "ty",
    Token.Name.Builtin: "fn",
    Token.Name.Decorator: "at",
    Token.Name.Exception: "ty",
    Token.Name.Namespace: "ty",
    Token.Name.Tag: "tg",
    Token.Name.Attribute: "at",
    Token.Name.Variable: "va",
    Token.Generic.Deleted: "de",
    Token.Generic.Inserted: "in",
    Token.Generic.Heading: "he",
    Token.Generic.Subheading: "he",
    Token.Generic.Output: "",
    Token.Generic.Prompt: "cm",
}


_LANGUAGES = frozenset(
    "bash c console cpp csharp css diff docker go graphql html ini java javascript json json5"
    " kotlin lua make php powershell properties python ruby rust scss splus sql swift toml"
    " typescript xml yaml".split()
)
"""First names of the lexers that are used; `splus` is that of R."""
_OTHER_NAMES = {
    "jsonc": "json",
    "jsx": "javascript",
    "tsx": "typescript",
    "mjs": "javascript",
    "cjs": "javascript",
    "node": "javascript",
    "shellscript": "bash",
    "terminal": "console",
    "mts": "typescript",
    "gql": "graphql",
    "dotenv": "ini",
    "env": "ini",
    ".env": "ini",
    "conf": "ini",
    "svg": "xml",
    "vue": "html",
}
"""Names and endings of files that Pygments does not know."""
