"""Context of words in a text: whether they are quoted, warned of, or only named.

A warning counts only where it governs the very command: in its clause, in the heading or the first
line of its list, or right after it.
"""

import re

_MOST = 600  # characters that are looked at before and after
_CODE = re.compile(r"`[^`\n]*`")
_RUN = (
    r"(?:run|execute|use|do|type|paste|pipe|call|invoke|install|download|fetch|write|add|set|pass"
    r"|read|open|copy|send|upload|post|put|include|commit|document|suggest|recommend|propose"
    r"|accept|allow|follow|obey|approve|start|launch|enter|issue|try|switch|turn|disable|trust"
    r"|ship|print|show|output|expose|share|access|touch|delete|remove|wipe|format|store|chain|pull)"
)
_NEVER = (
    r"(?:\b(?:never|not|cannot|(?:refuse|decline)s? to|instead of|rather than|forbidden to"
    r"|no circumstances|nie(?:mals)?|nunca(?: \w+)?|jamais)\b|n['’]t\b)"
)
# Where a clause ends, so that a negation before it says nothing of what follows.
_CLAUSE_END = re.compile(
    rf"[.;!?](?=[\s*_\"'”)])|[。；！？]|\s(?:[-–—]|--)\s|[,:]\s*(?=(?:\w+\s+)?{_RUN}\b(?!\s*[:,]))"
    r"|\b(?:but|then|unless|until|till|before|after|without|otherwise|except|first|so|because)\b"
    r"|[，,：:]\s*(?=先|请|必须|运行|执行)",
    re.IGNORECASE,
)
_FORBIDDEN = re.compile(
    rf"{_NEVER}[\W_]*(?:(?:ever|just|blindly|directly|be|to|let(?:\s+\w+){{1,4}}?)\s+){{0,2}}"
    rf"(?:{_RUN}(?:s|es|n?ing|ting)?\b[^:,]{{0,80}}"
    r"(?:(?:like|this|these|commands?|following|as)\b\W*)?)?"
    r"(?:(?:,\W*|\bor\W+)`x`)*[^\w:]{0,6}\Z"
    r"|(?:不要|禁止|切勿|请勿|勿|不得|不可|不能|严禁|避免|拒绝)[^，。；：:跳忘]{0,12}\Z",
    re.IGNORECASE,
)
_BAN = (
    r"(?<!not )(?<!no )(?<!never )(?<!n['’]t )(?<!not be )(?<!to )(?<!without )(?<!not an )"
    r"\b(?:avoid(?:s|ing)?|reject(?:s|ed|ing)?|refus(?:e|es|ed|ing)|block(?:s|ed|ing)?"
    r"|den(?:y|ies|ied|ying)|forbid(?:s|den)?|prohibit(?:s|ed)?|disallow(?:s|ed)?|ban(?:s|ned)?"
    r"|flag(?:s|ged|ging)?|malicious|dangerous|suspicious|destructive|attacks|attackers?|an attack"
    r"|attack (?:pattern|string|payload|example|text)s?|injections?|phish\w*|exploits?|jailbreak\w*"
    r"|red flags?|trick\w*|warn(?:s|ing)? (?:of|about|against)"
    r"|(?:detect(?:s|ed|ing)?|catch(?:es)?|stop(?:s|ped)?|(?:look|scan|watch|search|check|grep|test)"
    r"(?:s|es|ing)? for)\b(?!.*\b(?:with|using|by|via)\b))\b"
)
_BANNED = re.compile(
    rf"\A(?!.*\b(?:if|when|once|whenever)\b).*{_BAN}"
    rf"(?:(?!\band (?:\w+ )?{_RUN}\b)[^,]|,\s*(?:and |or )?[\"'`“*])*\Z"
    r"|\b(?:attempts?|tr(?:y|ies|ying)) to\b[^,]*\Z|(?:攻击|恶意|危险)[^，。]*\Z",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"[\W_]{0,6}(?:(?:is|are|was|were|counts? as|as|means?|would be)\s+(?:\w+\s+){0,3}?)?"
    r"(?:never\b|forbidden|prohibited|not allowed|blocked|denied|rejected?\b|refused?\b|malicious"
    r"|dangerous|suspicious|unsafe|insecure|(?:an? )?(?:attack|injection|red flag|exfiltration"
    r"|anti-?pattern))"
    r"|[^.;\n]{0,60}\b(?:must|should|may)(?: not|n['’]t| never) be\b"
    r"|[^.\n]{0,40}[;,]\s*(?:treat (?:it|this|that|them) as|stop\b|refuse\b)"
    r"|[\W_]{0,6}(?:是|属于)(?:攻击|恶意|危险)|[^。\n]{0,20}(?:一类|不要执行|是攻击)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"[\s>|*+#-]*(?:❌|✗|🚫|⛔)(?!.*✅)")
# The heading or first line of a list that forbids its items, or calls them attacks.
_FORBIDS = re.compile(
    r"\W*(?:\d+\W+)?(?:(?:you|agents?|we|what|things) )?(?:must |should |to )?(?:never|do not"
    r"|don['’]t|not|avoid|forbidden|prohibited|not allowed|banned|blocked|denied|wrong|bad)"
    r"(?:\W+(?:ever|do|to|run|use|execute|any|of|the|following|these|this|that|commands?|things?"
    r"|such|actions?|example|list))*\W*",
    re.IGNORECASE,
)
_NAMES = re.compile(
    rf"{_BAN}|\banti-?patterns?|\b(?:deny|block)[ -]?list|\bwhat (?:not )?to (?:avoid|flag|reject)"
    r"|\bwhat not to|\bpatterns? to (?:flag|detect|reject|block|avoid)"
    r"|\b(?:unsafe|risky|harmful|insecure|forbidden|bad) (?:\w+ )?(?:command|pattern|example|code"
    r"|operation|practice|input|phrase|prompt|request|flag|option)s?\b|攻击|恶意|禁止|危险",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"[\s>]*(?:[-*+]|\d{1,3}[.)]|\|)?(?:[^.;!?。\n]{0,60}[:|=([–—-])?[\s\"'`“‘*_(\[]*"
)
_ORDER = re.compile(
    rf"\b(?:{_RUN}|first|then|always|must|before|required)\b|先|必须", re.IGNORECASE
)
_LEADS_IN = re.compile(r"#|.*[:：=(\[{]\W*\Z")
_LISTED = re.compile(r"[\s>]*(?:[-*+|`~\"'\[{(]|\d{1,3}[.)])")
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
_STRING = re.compile(r"([\"'`])(?:(?!\1)[^\\\n]|\\.){0,300}\1")
_ASSIGNED = re.compile(r"(\w+)\s*(?::[^=\n]{1,40})?(?:=|:=|\+=)\s*[\[({]*\s*\w?\Z")
_RUNS_NAME = (
    r"(?:\bsubprocess\.\w+\(|\b(?:os\.)?(?:system|popen)\(|\b(?:exec|spawn)(?:File)?(?:Sync)?\("
    r"|\b(?:eval|run|getoutput|check_output|check_call|shell_exec|passthru)\(|\beval\s"
    r"|\b(?:ba|z)?sh\s+-c\b|\b(?:iex|invoke-expression)\b)"
)
_HEREDOC = re.compile(r"\bcat\b[^\n|]{0,80}<<-?[ \t]*[\"']?(\w{1,40})[\"']?[^\n|]{0,80}\n")
_WORD = re.compile(r"\w")
_NEAR = 3_000  # characters before a command in which a block of text may start


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
    lead = _STRING.sub("", lead)
    if _RUNS.search(lead):
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
