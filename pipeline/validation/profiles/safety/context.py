"""Context of words in a text: whether they are quoted, or the text warns of them."""

import re

_MOST = 600  # characters that are looked at before and after
_WARNING = re.compile(
    r"\b(?:never|avoid|must not|mustn['’]t|do not|don['’]t|cannot|can['’]t"
    r"|refuse[sd]?|reject(?:s|ed)?"
    r"|block(?:s|ed)?|den(?:y|ied|ies)|forbid(?:den|s)?|prohibit(?:ed|s)?|dangerous|malicious"
    r"|suspicious|untrusted|adversar\w*|attack\w*|inject\w*|jailbreak\w*|exploit\w*|phish\w*"
    r"|detect(?:s|ed|ing|ion)?|flag(?:s|ged)?|patterns?|phrases?|red flags?|anti-?patterns?"
    r"|threats?"
    r"|attempts?|tr(?:y|ies|ying) to|pretend\w*|ask(?:s|ing)? you to|tell(?:s|ing)? you to"
    r"|vulnerab\w*|insecure|unsafe|risks?|bad|wrong|scan(?:s|ner|ning)? for|look for)\b"
    r"|❌|✗|🚫|⛔|不要|禁止|攻击|注入|恶意|切勿|攻撃|공격",
    re.IGNORECASE,
)
_LEADS_IN = re.compile(r"#|.*[:：]\W*\Z")
_LISTED = re.compile(r"[\s>]*(?:[-*+|`~]|\d{1,3}[.)])")
_MOST_LISTED = 15  # lines of a list or block between its lead-in and the words
_PAIRS = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("„", "“"))


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
