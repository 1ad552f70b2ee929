"""Context of a command in a script: whether the script runs it, or only names it."""

import re

_MOST = 400  # characters of a line before a command that are looked at
_COMMENT = re.compile(r"\s*(?:#|//|\*|<!--|--\s|REM\b|::)")
_CASE = re.compile(r"\s*\(?[*\"'][^\n]{0,200}\)")  # a pattern of `case`, or an entry of a list
_RUNS = re.compile(
    r"\b(?:eval|exec\w*|system|run\w*|popen|call|check_\w+|spawn\w*|getoutput|subprocess|shell|ssh"
    r"|sh|bash|zsh|su|sudo|xargs|invoke\w*|iex|powershell|pwsh|cmd\s*/c)\b",
    re.IGNORECASE,
)
_HEREDOC = re.compile(r"\bcat\b[^\n|]{0,80}<<-?[ \t]*[\"']?(\w{1,40})[\"']?[^\n|]{0,80}\n")
_WORD = re.compile(r"\w")
_NEAR = 3_000  # characters before a command in which a block of text may start


def is_only_named(text: str, start: int, end: int) -> bool:
    """Return whether a script only names the words: in a comment, a message or a list."""
    first = max(text.rfind("\n", 0, start) + 1, start - _MOST)
    before = text[first:start]
    if _COMMENT.match(before) or (before.strip() and _CASE.match(text, first, start + _MOST)):
        return True
    return _is_in_literal(text, first, start, end) or _is_in_block(text, start)


def _is_in_literal(text: str, first: int, start: int, end: int) -> bool:
    """Return whether the words lie in a quoted text that nothing on its line runs."""
    before = text[first:start]
    for quote in "'\"`":
        if before.count(quote) % 2 and quote not in text[start:end].rstrip("\"'"):
            lead = before[: before.rindex(quote)]
            return not _RUNS.search(lead if _WORD.search(lead) else _opening(text, first))
    return False


def _opening(text: str, first: int) -> str:
    """Return the line that opens a list of quoted texts, each on a line of its own."""
    above = text[max(first - _NEAR, 0) : first].split("\n")
    return next((line for line in reversed(above) if _WORD.match(line.lstrip())), "")


def _is_in_block(text: str, start: int) -> bool:
    """Return whether the words lie in a text of many lines that is printed or documents code."""
    near = text[max(start - _NEAR, 0) : start]
    if near.count('"""') % 2 or near.count("'''") % 2:
        return True
    openings = list(_HEREDOC.finditer(near))
    return bool(openings) and not re.search(
        rf"\n\s*{openings[-1][1]}\b", near[openings[-1].end() - 1 :]
    )
