"""Commands and secrets in a text that harm the machine on which an agent follows it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from catalog.model.finding import FindingType
from pipeline.roots import secrets
from pipeline.validation.profiles.safety.codes import (
    CREDENTIALS_READ,
    DATA_SENT_AWAY,
    DESTRUCTIVE_COMMAND,
    DOWNLOAD_LOCKED,
    DOWNLOAD_RUN,
    HIDDEN_FROM_USER,
    PACKAGE_UNPINNED,
    PAYLOAD_ENCODED,
    PROTECTION_DISABLED,
    SECRET,
)
from pipeline.validation.profiles.safety.context import is_warned_of

_LONGEST = 500  # characters of a command before and after the word that shows it
_MOST_IN_LINE = 5
_MOST_LINES = 200  # of one danger that are searched; an ordinary text has a few

_SHELL = r"(?:sudo\s+(?:-\w+\s+)*)?(?:env\s+)?(?:/\S{1,30}/)?(?:ba|z|da|k|fi)?sh\b"
_RUNS = (
    rf"(?:{_SHELL}|(?:sudo\s+)?(?:python3?|node|perl|ruby|php)\b(?:\s+-)?(?=\s*(?:$|[`\"')&;|])))"
)
_FETCH = r"\b(?:curl|wget)\b"
_KEYS = (
    r"(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|/root|/home/\w{1,32}|/Users/\w{1,32})[/\\]"
    r"(?:\.ssh/id_\w+|\.ssh/\*|\.aws/credentials|\.netrc|\.git-credentials|\.config/gh/hosts\.yml"
    r"|\.docker/config\.json|\.kube/config|\.gnupg/|\.npmrc|\.pypirc|\.config/gcloud/|\.bash_history"
    r"|Library/Keychains)|/etc/shadow\b"
)
_HOME = r"[\"']?(?:~|\$HOME|\$\{HOME\}|/)(?:/?\*|/)?[\"']?(?=\s|$|[`;&|)])"


@dataclass(frozen=True, slots=True)
class Danger:
    """Words of one kind of danger in a text."""

    kind: FindingType
    words: str
    offset: int  # in characters


@dataclass(frozen=True, slots=True)
class _Shape:
    """Shape of a danger, which is searched for only in lines that hold one of the words."""

    kind: FindingType
    words: tuple[str, ...]  # in lower case
    pattern: re.Pattern[str]


def _shape(kind: FindingType, words: str, *patterns: str) -> _Shape:
    return _Shape(
        kind,
        tuple(word.replace("\0", " ") for word in words.split()),
        re.compile("|".join(patterns), re.IGNORECASE | re.M),
    )


SHAPES = (
    _shape(
        DOWNLOAD_RUN,
        "curl wget iex invoke-expression",
        rf"{_FETCH}(?:[^|;\n\\]|\\[^|]){{1,300}}\|\s*{_RUNS}",
        rf"\b(?:ba|z)?sh\s+<\(\s*{_FETCH}",
        rf"\b(?:(?:ba|z)?sh|python3?|node)\s+-\w*c\w*\s+[\"']?\$\(\s*{_FETCH}",
        rf"\b(?:eval|source|\.)\s+[\"']?(?:\$\(|<\()\s*{_FETCH}",
        r"\b(?:irm|iwr|invoke-\w{1,20}|downloadstring)\b[^;\n]{1,300}\|\s*(?:iex|invoke-expression)\b",
        r"\b(?:iex|invoke-expression)\b[\s(&]{1,5}[^\n]{0,60}(?:irm|iwr|invoke-webrequest|downloadstring)",
    ),
    _shape(
        PAYLOAD_ENCODED,
        "base64 b64decode atob -enc fromhex xxd",
        rf"\bbase64\s+(?:-d|-D|--decode)\b[^|\n]{{0,100}}\|\s*{_RUNS}",
        r"\b(?:exec|eval)\s*\(\s*(?:[\w.]{1,40}\(\s*){0,3}(?:base64\.)?(?:b64decode|atob|bytes\.fromhex)",
        r"\beval\s+[\"']?\$\([^)\n]{1,200}\bbase64\s+(?:-d|-D|--decode)",
        r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,100}\s-e(?:nc|ncodedcommand)?\s+[\w+/=]{16}",
        rf"\bxxd\s+-r\b[^|\n]{{0,60}}\|\s*{_RUNS}",
    ),
    _shape(
        DOWNLOAD_LOCKED,
        "unzip 7z unrar password passwort",
        r"\bunzip\s+(?:-\w+\s+)*(?-i:-P)\s*\S",
        r"\b(?:7z|7za|unrar)\s+[xe]\s+(?:\S+\s+)?-p\S",
        r"\b(?:download|archive|zip|rar)\b[^.\n]{0,100}\bpassword"
        r"(?:\s+(?:is|to (?:un\w+|extract|open)\w*))?\s*[:=]?\s*[\"'`“]\S",
        r"\b(?:extract|unpack|unzip)\b[^.\n]{0,60}\b(?:with|using) "
        r"(?:the )?pass(?:word|code|phrase)\b",
    ),
    _shape(
        DESTRUCTIVE_COMMAND,
        "rm\x00- remove-item mkfs of=/dev :(){",
        rf"\brm\s+(?:-\w+\s+|--[\w-]+\s+)*-\w*(?:r\w*f|f\w*r)\w*\s+(?:--[\w-]+\s+)*(?:--\s+)?{_HOME}",
        rf"\brm\s+-r\s+-f\s+{_HOME}",
        r"\bremove-item\b[^\n]{0,80}(?:\$HOME|\$env:USERPROFILE|[A-Z]:\\)[\"']?(?=\s|$)",
        r"\bmkfs(?:\.\w+)?\s+(?:-\w+\s+)*/dev/",
        r"\bdd\s+[^\n]{0,80}\bof=/dev/(?:sd|hd|nvme|disk|mmc)",
        r":\(\)\s*\{\s*:\|:&\s*\};:",
    ),
    _shape(
        PROTECTION_DISABLED,
        "--dangerously --yolo bypasspermissions reject_unauthorized sslverify setenforce"
        " mppreference master-disable csrutil executionpolicy",
        r"--dangerously-[\w-]{3,40}",
        r"(?<!\w)--yolo\b",
        r"[\"']?(?:defaultMode|permission-?mode)[\"']?[\s:=]{1,5}[\"']?bypassPermissions",
        r"\bNODE_TLS_REJECT_UNAUTHORIZED\s*[=:]\s*[\"']?0",
        r"\bhttp\.sslVerify[\s=]+false",
        r"\bsetenforce\s+0\b",
        r"\bSet-MpPreference\b[^\n]{0,60}-Disable\w+\s+\$?true",
        r"\bspctl\s+--master-disable",
        r"\bcsrutil\s+disable",
        r"\bSet-ExecutionPolicy\s+(?:-\w+\s+)?(?:Bypass|Unrestricted)\b",
    ),
    _shape(
        CREDENTIALS_READ,
        ".ssh/ .aws/cred .netrc .git-credentials gh/hosts.yml .docker/config .kube/config .gnupg"
        " .npmrc .pypirc .config/gcloud .bash_history keychain /etc/shadow security\x00find",
        rf"(?<![\w-])(?:cat|less|more|head|tail|base64|xxd|strings|cp|scp|rsync|tar|zip|type"
        rf"|get-content|source|grep|awk|sed|read|print|include|copy|collect|upload|send)\b[^|;\n]{{0,80}}?(?:{_KEYS})",
        rf"\bopen\([^)\n]{{0,60}}(?:{_KEYS})",
        r"\bsecurity\s+find-(?:generic|internet)-password\b[^\n]{0,80}\s-w\b",
        r"\bsecurity\s+dump-keychain",
    ),
    _shape(
        DATA_SENT_AWAY,
        "curl wget |\x00nc webhook.site requestbin. pipedream burpcollab oastify interact.sh ![",
        rf"{_FETCH}[^\n]{{0,200}}(?:\$\(|`)\s*(?:cat|env|printenv|base64|whoami|hostname|set)\b[^\n]{{0,100}}",
        rf"{_FETCH}[^\n]{{0,200}}(?:-d|--data\S*|-F|--form|-T|--upload-file|--post-file)[\s=]*[^\n]{{0,40}}@?"
        rf"(?:{_KEYS}|[\w./~-]{{0,40}}(?<![\w])\.env\b)",
        r"\b(?:env|printenv|cat\s[^|\n]{1,100})\s*\|\s*(?:\w+[^|\n]{0,60}\|\s*)?(?:curl|nc|wget)\b"
        r"[^\n]{0,100}(?:https?:|@-|\d{2,5})",
        r"!\[[^\]\n]{0,60}\]\(https?://[^\s)]{1,200}[?&][\w-]{1,30}=(?:\{+|<|\$|\[)"
        r"[^)\n]{0,30}(?:conversation|history|secret|token|key|prompt|context|data|user|env|message)",
        r"https?://(?:[\w-]+\.)*(?:webhook\.site|requestbin\.\w+|pipedream\.net|burpcollaborator\.net"
        r"|oastify\.com|interact\.sh)/?\S*",
    ),
    _shape(
        HIDDEN_FROM_USER,
        "from\x00the tell\x00the ing\x00the inform\x00the notify\x00the alert\x00the"
        " to\x00the\x00user to\x00the\x00human let\x00the so\x00the so\x00that 用户 用戶",
        r"\b(?:hide|conceal) (?:this|it|that|these|them|the \w+|all of this)(?: \w+){0,3}"
        r" from the (?:user|human|operator|developer)s?\b",
        r"\bkeep (?:\w+ ){1,4}(?:secret|hidden|private) from the (?:user|human|operator)s?\b",
        r"(?:\b(?:not|never|without)|n['’]t)\s+(?:ever\s+)?(?:tell|inform|notify|alert|telling|informing"
        r"|notifying|alerting|mention(?:ing)? (?:this|it|that|these) to"
        r"|reveal(?:ing)? (?:this|it|that) to|disclos(?:e|ing) (?:this|it|that) to"
        r"|let(?:ting)?)\s+the\s+(?:user|human|operator)s?\b"
        r"(?!\s(?:to|how|what|which|whether|if|when|why|until"
        r"|that (?:you|it|the)\s?(?:can|is ready))\b)",
        r"(?:不要|不得|不能|别|別|勿)(?:告(?:诉|訴)用(?:户|戶)(?!如何|怎|什么|需要|去|在|是否)"
        r"|[让讓]用[户戶](?:知道|发现|發現|察觉|察覺))",
        r"\bso (?:that )?the (?:user|human) (?:does|do|will|would|must)(?:n['’]t| not| never) "
        r"(?:notice|know|see|find out|realise|realize)",
    ),
    _shape(
        PACKAGE_UNPINNED,
        "npx uvx bunx dlx pipx",
        r"\bnpx\s+(?:-y|--yes)\s+(?:-p\s+|--package[= ])?"
        r"(?!@?[\w./-]+@[\w.^~])(?![-$<{.])@?[\w./-]{2,80}",
        r"\b(?:uvx|bunx|pnpm\s+dlx|yarn\s+dlx|pipx\s+run)\s+(?:--from\s+)?"
        r"(?![\w./@\[\]-]+(?:@|==)[\w.^~])(?![-$<{.])@?[\w./-]{2,80}",
    ),
)


def dangers(text: str) -> Iterator[Danger]:
    """Yield the dangers of a text of which it does not warn."""
    lower = text.lower()
    for shape in SHAPES:
        for start, end in _parts(lower, shape.words)[:_MOST_LINES]:
            for match in islice(shape.pattern.finditer(text, start, end), _MOST_IN_LINE):
                if not is_warned_of(text, match.start(), match.end()):
                    yield Danger(shape.kind, " ".join(match[0].split()), match.start())
    for match in secrets.in_text(text):
        yield Danger(SECRET, f"{match[0][:4]}…", match.start())


def _parts(lower: str, words: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the offsets of the lines that hold one of the words, with their continuations."""
    parts: dict[int, int] = {}
    for word in words:
        at = lower.find(word)
        while at >= 0 and len(parts) <= _MOST_LINES * len(words):
            start, end = _part(lower, at)
            parts[start] = end
            at = lower.find(word, max(end, at + len(word)))
    return sorted(parts.items())


def _part(lower: str, at: int) -> tuple[int, int]:
    start = max(lower.rfind("\n", max(at - _LONGEST, 0), at) + 1, at - _LONGEST, 0)
    end = at
    while (end := lower.find("\n", end, at + _LONGEST)) > 0 and lower[end - 1] == "\\":
        end += 1
    return start, min(at + _LONGEST, len(lower)) if end < 0 else end
