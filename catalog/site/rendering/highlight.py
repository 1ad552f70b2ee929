"""Syntax highlighting of code as HTML with classes; only this module uses the library Pygments.

Lexers are regular expressions of many authors, and the code is that of strangers. So only lexers of
a list are used, on code of limited size, and they stop when the time is over.
"""

import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markupsafe import escape
from pygments.lexers import find_lexer_class_by_name
from pygments.token import Token

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
    return _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2], "")


def is_prose(path: str) -> bool:
    """Return whether a file is a text for people by its name, whose long lines wrap."""
    name = path.rpartition("/")[2].lower()
    ending = name.rpartition(".")[2] if "." in name else ""
    return ending in _PROSE and not language_of(path)


def lines(code: str, language: str, seconds: float = SECONDS) -> list[str] | None:
    """Return the lines of some code as HTML.

    None if the language is unknown, the code is too long, or it takes more than some seconds of
    processor time.
    """
    if len(code) > LONGEST or not (name := _LEXERS.get(language.lower())):
        return None
    if max(map(len, code.split("\n"))) > LONGEST_LINE:
        return None
    end = time.thread_time() + seconds
    parts: list[list[str]] = [[]]
    for number, (kind, text) in enumerate(_tokens(code, name)):
        if number % 16 == 0 and time.thread_time() > end:
            return None
        css_class = _class_of(kind)
        for index, piece in enumerate(text.split("\n")):
            if index:
                parts.append([])
            if piece:
                html = str(escape(piece))
                parts[-1].append(f'<span class="{css_class}">{html}</span>' if css_class else html)
    return ["".join(line) for line in parts]


def _tokens(code: str, name: str) -> Iterator[tuple[Any, str]]:
    """Yield the tokens of a text; together they are exactly this text."""
    for _, kind, text in _lexer(name).get_tokens_unprocessed(code):
        yield kind, text


@cache
def _lexer(name: str) -> Any:
    return find_lexer_class_by_name(name)()


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


def _aliases(names: Sequence[str]) -> dict[str, str]:
    """Return the lexer by each name in lines that begin with the lexer's own."""
    return {alias: line.split()[0] for line in names for alias in line.split()}


_LEXERS = _aliases(
    (
        "bash sh shell zsh shellscript",
        "console shell-session terminal",
        "c h",
        "cpp c++ cc hpp cxx",
        "csharp c# cs",
        "css",
        "diff patch udiff",
        "docker dockerfile",
        "go golang",
        "graphql gql",
        "html",
        "ini cfg properties dotenv",
        "java",
        "javascript js mjs cjs jsx node",
        "json jsonc json5 jsonl ndjson",
        "kotlin kt kts",
        "lua",
        "make makefile",
        "php",
        "powershell ps1 pwsh",
        "python py python3 pyi",
        "r",
        "ruby rb",
        "rust rs",
        "scss",
        "sql",
        "swift",
        "toml",
        "typescript ts tsx mts",
        "xml svg",
        "yaml yml",
    )
)
_BY_ENDING = {ending: name for ending, name in _LEXERS.items() if ending.isalnum()} | {
    "htm": "html",
    "vue": "html",
    "bat": "",
    "env": "ini",
    "conf": "ini",
    "mk": "make",
}
_PROSE = frozenset(("", "md", "mdx", "markdown", "rst", "text", "txt"))
_BY_NAME = {"dockerfile": "docker", "makefile": "make", ".bashrc": "bash", ".env": "ini"}
