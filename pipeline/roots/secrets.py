"""Files that contain secrets, by their names and by the forms of secrets in their texts."""

import re
from collections import Counter
from collections.abc import Iterator
from math import log2
from typing import NamedTuple

from pipeline.roots.words import Words, searched

_LEAST_ENTROPY = 3.0  # bits per character, below which a text is a placeholder

_TOKEN = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,200}\b|\bgithub_pat_\w{40,200}\b"
    r"|\bglpat-[\w-]{20,200}|\bsk-(?:ant-|proj-|or-)?[\w-]{24,200}"
    r"|\b[rs]k_live_[A-Za-z0-9]{20,200}\b"
    r"|\bxox[abprs]-[\w-]{20,200}|\bAIza[\w-]{35}\b|\bnpm_[A-Za-z0-9]{36}\b"
    r"|\bhf_[A-Za-z0-9]{30,200}\b"
    r"|\bSG\.[\w-]{16,200}\.[\w-]{16,200}|\bpypi-[\w-]{50,200}|\bnvapi-[\w-]{40,200}"
    r"|\bgsk_[A-Za-z0-9]{32,200}\b|\bshpat_[0-9a-f]{32}\b|\bdop_v1_[0-9a-f]{64}\b"
    r"|\bhooks\.slack\.com/services/T\w{6,20}/B\w{6,20}/\w{16,40}|\bAccountKey=[\w+/]{60,100}={0,2}"
    r"|\beyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{20,1000}"
    r"|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*[\w+/=]{20,80}+(?!\.\.|…)"
)
_VALUE = re.compile(
    r"(?<![A-Za-z:])(?i:api[_-]?key|(?:client|app|access|auth)[_-]?(?:secret|token|key)"
    r"|passw(?:or)?d|secret)"
    r"[\"']?\]?\s{0,3}(?:=|:)\s{0,3}([\"']?)(?P<value>[\w+/~.-]{16,200})\1(?=[\s,;)}\]\"']|$)"
)
_VALUE_FOLLOWS = re.compile(r"\s{0,3}[\"']?[\w+/~.-]{16}")
_IN_URL = re.compile(
    r"://[\w.-]{1,60}:(?P<value>[^\s:/@\"'<>${}]{10,100})"
    r"@(?!localhost\b|127\.|0\.0\.0\.0|[\w-]+(?:[:/?\s]|$)|(?:[\w-]+\.)*example\.(?:com|net|org)\b)"
    r"[\w.-]{3}"
)
_STARTS = (
    *("AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-"),
    *("sk_live_", "rk_live_", "xox", "AIza", "npm_", "hf_", "SG.", "pypi-", "-----BEGIN "),
    *("nvapi-", "gsk_", "shpat_", "dop_v1_", "hooks.slack.com", "AccountKey=", "eyJ"),
)
_WORDY = ("sk-", "pypi-", "SG.")
_PATTERNS = {**{start.lower(): _TOKEN for start in _STARTS}, "://": _IN_URL}
_SECRET_NAMES = frozenset(
    f"{name}{sign}"
    for name in ("key", "secret", "token", "password", "passwd")
    for sign in ("=", ":", " =", " :", '":', "':", '" :', "' :", '"] =', "'] =")
)
_PLACEHOLDER = re.compile(
    r"example|x{4}|0{5}|1234|abcd|a1b2c3|your|fake|dummy|test|placeholder|redacted|\.\.\.|sample"
    r"|change|secret|passw(?:or)?d|replace|demo|default"
    r"|eyJzdWIiOiIxMjM0",  # the token that documents of JSON Web Tokens show
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?<![\w./-])(?:examples?|placeholder|sample|fake|dummy|demo|e\.g\.|weak|bad|wrong)(?![\w/-]|\.\w)"
    r"|❌|示例|例如",
    re.IGNORECASE,
)
"""Words of a line whose passwords are not real."""
_WORDS = re.compile("[A-Z]?[a-z]{3,}")
_MOST_WORDY = 0.6  # share of the characters in such words; a generated text has a quarter
_LINE = 200  # characters of a line before and after a password
_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile("[A-Z]")
_HEX = re.compile(r"[0-9a-f]{32,128}")
_SEARCHED = frozenset(searched((*_PATTERNS, *sorted(_SECRET_NAMES))))


def secrets(text: str, words: Words) -> Iterator[re.Match[str]]:
    """Yield the first texts in the form of a secret; `words` are those found in the text."""
    for word in [word for word in words if word in _SEARCHED]:
        pattern = _PATTERNS.get(word)
        for at in words[word]:
            if pattern:
                match = pattern.match(text, at)
                if match and _is_secret(text, match):
                    yield match
            elif _VALUE_FOLLOWS.match(text, at + len(word)):  # false of most
                match = _VALUE.search(text, max(at - 10, 0), at + 260)  # a name of two words
                if match and match.start() <= at < match.end() and _is_value(text, match):
                    yield match


def _is_secret(text: str, match: re.Match[str]) -> bool:
    if match.re is _IN_URL:
        return _is_value(text, match, least=10)
    token = match[0]
    if token.startswith(_WORDY) and not (_DIGIT.search(token[3:]) and _CAPITAL.search(token[3:])):
        return False  # a name of words and hyphens
    return _is_random(token) and not _PLACEHOLDER.search(token)


def _is_value(text: str, match: re.Match[str], least: int = 16) -> bool:
    """Return whether a value has the mix of a generated one: digits with both cases, or hex."""
    value, start, end = match["value"], match.start(), match.end()
    first = max(text.rfind("\n", max(start - _LINE, 0), start) + 1, start - _LINE, 0)
    around = f"{text[first:start]} {text[end : end + _LINE].partition(chr(10))[0]}"
    of_words = sum(map(len, _WORDS.findall(value)))  # as in `SunnyBeachParty24`
    if of_words > _MOST_WORDY * len(value) or _EXAMPLE.search(around):
        return False
    if len(value) < least or _PLACEHOLDER.search(value) or len(_DIGIT.findall(value)) < 2:
        return False
    if _HEX.fullmatch(value):
        return _is_random(value)
    is_mixed = bool(_CAPITAL.search(value)) and bool(re.search("[a-z]", value))
    return is_mixed and not re.search(r"[/.].*[/.]|_", value) and _is_random(value)


def _is_random(text: str) -> bool:
    """Return whether a text has the entropy of a random one."""
    counts = Counter(text).values()
    return -sum(n / len(text) * log2(n / len(text)) for n in counts) >= _LEAST_ENTROPY


_NAMES = re.compile(
    r"\.env(?:\.(?!example$|sample$|template$|dist$|defaults$|schema$)[\w.-]+)?|\.envrc"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|[._]netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token"
    r"|.*\.(?:p12|pfx|jks|keystore|kdbx|ppk)",
    re.I,
)
_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".kube"})
_VALUES = {
    ".npmrc": re.compile(r"_(?:authToken|auth|password)\s*=\s*(?!\$)\S{8}"),
    ".pypirc": re.compile(r"^\s*password\s*[:=]\s*(?!\$|%)\S{6}", re.M),
}
"""Passwords in configuration files of these names."""


class SecretFile(NamedTuple):
    """File of a skill that contains a secret, by its name or in a line."""

    path: str  # relative to the skill folder
    line: int | None
    clause: str  # such as "contains `ghp_…`"

    @property
    def detail(self) -> str:
        """The clause with its line."""
        return f"{self.clause} in line {self.line}" if self.line else self.clause


def in_file(path: str, text: str | None, words: Words) -> SecretFile | None:
    """Return the secret of a file with this path, text and words in it; None if it has none."""
    *folders, name = path.split("/")
    if _NAMES.fullmatch(name):
        return SecretFile(path, None, "has the name of a file with secrets")
    if folder := next((folder for folder in folders if folder in _FOLDERS), None):
        return SecretFile(path, None, f"lies in a folder with secrets, {folder}")
    if text is None:
        return None
    values = _VALUES.get(name)
    if values and (match := values.search(text)):
        return SecretFile(path, _line(text, match.start()), "contains a password or a token")
    if match := next(secrets(text, words), None):
        shown = f"{match[0][:4]}…"
        if match[0].startswith("-"):
            shown = "a private key"
        elif "value" in match.groupdict():
            shown = "a password or a key"
        return SecretFile(path, _line(text, match.start()), f"contains {shown}")
    return None


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
