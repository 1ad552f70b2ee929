"""Context of words in a text: whether they are quoted, warned of, or only named."""

import re

_MOST = 600  # characters that are looked at before and after
_WARNING = re.compile(
    r"\b(?:never|avoid|must not|mustn['’]t|do not|don['’]t|cannot|can['’]t"
    r"|refuse[sd]?|reject(?:s|ed)?"
    r"|block(?:s|ed)?|den(?:y|ied|ies)|forbid(?:den|s)?|prohibit(?:ed|s)?|dangerous|malicious"
    r"|suspicious|untrusted|adversar\w*|attack\w*|inject\w*|jailbreak\w*|exploit\w*|phish\w*"
    r"|detect(?:s|ed|ing|ion)?|flag(?:s|ged)?|patterns?|phrases?|red flags?|anti-?patterns?"
    r"|threats?|attempts?|tr(?:y|ies|ying) to|pretend\w*|ask(?:s|ing)? you to|tell(?:s|ing)? you to"
    r"|vulnerab\w*|insecure|unsafe|risks?|bad|wrong|scan(?:s|ner|ning)? for|look for)\b"
    r"|❌|✗|🚫|⛔|不要|禁止|攻击|注入|恶意|切勿|攻撃|공격",
    re.IGNORECASE,
)
_LEADS_IN = re.compile(r"#|.*[:：]\W*\Z")
_LISTED = re.compile(r"[\s>]*(?:[-*+|`~]|\d{1,3}[.)])")
_MOST_LISTED = 15  # lines of a list or block between its lead-in and the words
_PAIRS = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("„", "“"))
_MOST_BEFORE = 400  # characters of a line before a command that are looked at
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


def is_warned_of(text: str, start: int, end: int) -> bool:
    """Return whether the sentence, or the heading or lead-in of its list, warns of the words."""
    first, last = _line(text, start, end)
    around = f"{text[first:start]} {text[end:last]}"
    return bool(_WARNING.search(around)) or bool(_WARNING.search(_lead_in(text, first)))


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


def is_only_named(text: str, start: int, end: int) -> bool:
    """Return whether a script only names the words: in a comment, a message or a list."""
    first = max(text.rfind("\n", 0, start) + 1, start - _MOST_BEFORE)
    before = text[first:start]
    if _COMMENT.match(before) or (
        before.strip() and _CASE.match(text, first, start + _MOST_BEFORE)
    ):
        return True
    return _is_in_literal(text, first, start, end) or _is_in_block(text, start)


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
