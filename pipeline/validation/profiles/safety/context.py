"""Context of words in a text: whether they are quoted, warned of, or only named.

A warning counts only where it governs the very command: in its clause, in the heading or the first
line of its list, or right after it.
"""

import re
import tomllib
from pathlib import Path

_MOST = 600  # characters that are looked at before and after
_CODE = re.compile(r"`[^`\n]*`")
_DATA = tomllib.loads(Path(__file__).with_name("warnings.toml").read_text("utf-8"))


def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of warnings.toml, with its parts."""
    pattern = _DATA["patterns"][name]
    for part in reversed(_DATA["parts"]):
        pattern = pattern.replace(f"{{{part}}}", _DATA["parts"][part])
    return re.compile(re.sub(r"\n\s*", "", pattern), re.IGNORECASE)


_CLAUSE_END = _pattern("clause_end")
_FORBIDDEN = _pattern("forbidden")
_BANNED = _pattern("banned")
_CALLED = _pattern("called")
_MARKED = _pattern("marked")
_FORBIDS = _pattern("forbids")
_NAMES = _pattern("names")
_ITEM = _pattern("item")
_ORDER = _pattern("order")
_LEADS_IN = _pattern("leads_in")
_LISTED = re.compile(r"[\s>]*(?:[-*+|`~\"'\[{(]|\d{1,3}[.)])")
_ROW = re.compile(r"\n[ \t>]*+\|[^\n]*")
_ESCAPE = re.compile(r'\\[\n"n]')
_PLAIN = {"\\\n": "  ", '\\"': ' "', "\\n": " \n"}
_GOES_ON = re.compile(
    r"\n(?:(?=[ \t]*+(?:\||&&) )|(?<=[|&]\n)|(?<=[|&] \n))(?![ \t>]*\|[^\n]*\|[ \t]*(?:\n|\Z))"
)
_MOST_LISTED = 15  # lines of a list or block between its lead-in and the words
_PAIRS = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("„", "“"), ("„", '"'))
_MOST_BEFORE = 400  # characters of a line before a command that are looked at
_COMMENT = re.compile(r"\s*(?:#|//|\*|<!--|--\s|REM\b|::)")
_CASE = re.compile(r"\s*\(?[*\"'][^\n]{0,200}\)")  # a pattern of `case`, or an entry of a list
_RUNS = re.compile(
    r"\b(?:eval|exec\w*|system|run\w*|popen|call|check_\w+|spawn\w*|getoutput|subprocess|shell|ssh"
    r"|sh|bash|zsh|su|sudo|xargs|invoke\w*|iex|powershell|pwsh|cmd\s*/c|plistlib)\b",
    re.IGNORECASE,
)
_STRING = re.compile(r"([\"'`])(?:(?!\1)[^\\\n]|\\.){0,300}\1")
_SHELL_LIST = re.compile(r"[\"'](?:-c|/c|-Command)[\"']\s*,\s*\w?\Z", re.IGNORECASE)
_ASSIGNED = re.compile(r"(\w+)\s*(?::[^=\n]{1,40})?(?:=|:=|\+=)\s*[\[({]*\s*\w?\Z")
_RUNS_NAME = (
    r"(?:\b(?:subprocess|requests|httpx|session)\.\w+\(|\b(?:os\.)?(?:system|popen)\(|\bfetch\("
    r"|\b(?:exec|spawn)(?:File)?(?:Sync)?\(|\b(?:eval|run|getoutput|check_output|check_call)\("
    r"|\b(?:shell_exec|passthru|urlopen)\(|\beval\s|\b(?:(?:ba|z)?sh\s+-c|iex|invoke-expression)\b)"
)
_HEREDOC = re.compile(
    r"\bcat\b(?![^\n]{0,80}>\s*\S*(?:rc|profile|\.z?sh|/etc/))[^\n|]{0,80}<<-?[ \t]*"
    r"[\"']?(\w{1,40})[\"']?[^\n|]{0,80}\n"
)
_WORD = re.compile(r"\w")
_NEAR = 3_000  # characters before a command in which a block of text may start


def with_whole_commands(text: str) -> str:
    """Return a text of the same length in which a command that goes on is on one line.

    It goes on after a backslash and beside a pipe or &&. Escaped quotes and line ends, as in JSON,
    and the pipes in the cells of a table are plain.
    """
    if "\\" in text:
        if "\\|" in text:
            text = _ROW.sub(lambda row: row[0].replace("\\|", " |"), f"\n{text}")[1:]
        text = _ESCAPE.sub(lambda escape: _PLAIN[escape[0]], text)
    return _GOES_ON.sub(_joined, text) if "|" in text or "&" in text else text


def _joined(end: re.Match[str]) -> str:
    """Return a blank for the end of a line, unless it is that of a row of a table."""
    text, at = end.string, end.start()
    is_row = text[text.rfind("\n", 0, at) + 1 : at].lstrip(" \t>").startswith("|")
    return "\n" if is_row else " "


def is_warned_of(text: str, start: int, end: int) -> bool:
    """Return whether a text forbids the words, or calls them an attack."""
    first, last = _line(text, start, end)
    before, after = _CODE.sub("`x`", text[first:start]), text[end:last]
    clause = before[max((found.end() for found in _CLAUSE_END.finditer(before)), default=0) :]
    if _FORBIDDEN.search(clause) or _BANNED.search(clause):
        return True
    if _CALLED.match(after) or _MARKED.match(before):
        return True
    lead = _lead_in(text, first)
    if _FORBIDS.fullmatch(lead):
        return not _ORDER.search(before)
    is_item = _NAMES.search(lead) and _ITEM.fullmatch(before)
    return bool(is_item) and not _ORDER.search(f"{before}{lead}")


def is_quoted(text: str, start: int, end: int) -> bool:
    """Return whether the words stand in quotation marks, a code span or a cell of a table."""
    first, last = _line(text, start, end)
    before, after = text[first:start], text[end:last]
    if before.lstrip(" \t>").startswith("|"):
        return True
    for mark in ('"', "`"):
        if before.count(mark) % 2 and mark in after:
            return True
    if any(before.rfind(a) > before.rfind(b) and b in after for a, b in _PAIRS):
        return True
    return bool(re.search(r"(?:^|[\s(])['‘]\W*(?:\w+ ){0,6}\Z", before)) and bool(
        re.search(r"['’](?!\w)", after)
    )


def is_only_named(text: str, start: int, end: int, quotes: str) -> bool:
    """Return whether a script only names the words: in a comment, a message or a list.

    `quotes` are the marks around its texts. A text that it then runs counts as a command.
    """
    first = max(text.rfind("\n", 0, start) + 1, start - _MOST_BEFORE)
    before = text[first:start]
    if _COMMENT.match(before) or (
        before.strip() and _CASE.match(text, first, start + _MOST_BEFORE)
    ):
        return True
    return _is_in_literal(text, first, start, end, quotes) or _is_in_block(text, start)


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of the line around words, or of the nearest part of a long line."""
    first = max(text.rfind("\n", max(start - _MOST, 0), start) + 1, start - _MOST, 0)
    last = text.find("\n", end, end + _MOST)
    return first, min(end + _MOST, len(text)) if last < 0 else last


def _lead_in(text: str, first: int) -> str:
    """Return the heading, or the line that ends with a colon, above a line or its list."""
    above = text[max(first - 3 * _MOST, 0) : first].split("\n")[-_MOST_LISTED:]
    for line in reversed(above):
        if not line.strip():
            continue
        if _LEADS_IN.match(line.strip()):
            return line
        if not _LISTED.match(line):
            return ""
    return ""


def _is_in_literal(text: str, first: int, start: int, end: int, quotes: str) -> bool:
    """Return whether the words lie in a quoted text that nothing runs."""
    before = text[first:start]
    for quote in quotes:
        if before.count(quote) % 2 and quote not in text[start:end].rstrip("\"'"):
            lead = before[: before.rindex(quote)]
            return not _is_run(text, lead if _WORD.search(lead) else _opening(text, first))
    return False


def _is_run(text: str, lead: str) -> bool:
    """Return whether a text is run that follows this part of a line, by its name if it has one."""
    if _SHELL_LIST.search(lead) or _RUNS.search(lead := _STRING.sub("", lead)):
        return True
    if not (name := _ASSIGNED.search(lead)):
        return False
    each = re.search(rf"\bfor\s+\(?(?:const |let )?(\w+)\s+(?:in|of)\s+{name[1]}\b", text)
    names = f"(?:{name[1]}|{each[1]})" if each else name[1]
    return bool(re.search(rf"{_RUNS_NAME}[^\n]{{0,80}}?(?<![\w.\"']){names}\b(?![\"'])", text))


def _opening(text: str, first: int) -> str:
    """Return the line that opens a list of quoted texts, each on a line of its own."""
    above = text[max(first - _NEAR, 0) : first].split("\n")
    return next((line for line in reversed(above) if _WORD.match(line.lstrip())), "")


def _is_in_block(text: str, start: int) -> bool:
    """Return whether the words lie in a text of many lines that is printed or documents code."""
    near = text[max(start - _NEAR, 0) : start]
    for quotes in ('"""', "'''"):
        if near.count(quotes) % 2:
            lead = near[: near.rindex(quotes)].rpartition("\n")[2]
            return not _is_run(text, lead)
    openings = list(_HEREDOC.finditer(near))
    return bool(openings) and not re.search(
        rf"\n\s*{openings[-1][1]}\b", near[openings[-1].end() - 1 :]
    )
