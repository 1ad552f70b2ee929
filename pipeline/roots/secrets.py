"""Secrets by their shape: names of files that hold them, and keys and tokens in a text."""

import re
from collections import Counter
from collections.abc import Iterator
from math import log2
from typing import NamedTuple

_MOST_STARTS = 2_000  # of one form
_LEAST_ENTROPY = 3.0  # bits per character, below which a text is a placeholder

_TOKENS = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,200}\b|\bgithub_pat_\w{40,200}\b"
    r"|\bglpat-[\w-]{20,200}|\bsk-(?:ant-|proj-|or-)?[\w-]{24,200}|\b[rs]k_live_[A-Za-z0-9]{20,200}\b"
    r"|\bxox[abprs]-[\w-]{20,200}|\bAIza[\w-]{35}\b|\bnpm_[A-Za-z0-9]{36}\b|\bhf_[A-Za-z0-9]{30,200}\b"
    r"|\bSG\.[\w-]{16,200}\.[\w-]{16,200}|\bpypi-[\w-]{50,200}"
    r"|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:\s|\\[nr]){0,8}[\w+/=]{20}"
)
_STARTS = (
    *("AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-"),
    *("sk_live_", "rk_live_", "xox", "AIza", "npm_", "hf_", "SG.", "pypi-", "-----BEGIN "),
)
_BYTE_STARTS = tuple(start.encode() for start in _STARTS)
_PLACEHOLDER = re.compile(
    r"example|x{4}|0{5}|1234|abcd|your|fake|dummy|test|placeholder|redacted|\.\.\.|sample|change",
    re.I,
)

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


class Secret(NamedTuple):
    """File of a skill that holds a secret, by its name or in a line."""

    path: str  # relative to the skill folder
    line: int | None
    clause: str  # such as "holds `ghp_…`"


def in_file(path: str, head: bytes, *, is_text: bool) -> Secret | None:
    """Return the secret of a file, given its first bytes; None if none is recognised."""
    *folders, name = path.split("/")
    if _NAMES.fullmatch(name):
        return Secret(path, None, "has the name of a file with secrets")
    if folder := next((folder for folder in folders if folder in _FOLDERS), None):
        return Secret(path, None, f"lies in a folder with secrets, {folder}")
    values = _VALUES.get(name)
    if not is_text or not (values or any(start in head for start in _BYTE_STARTS)):
        return None
    text = head.decode(errors="replace")
    if values and (match := values.search(text)):
        return Secret(path, _line(text, match.start()), "holds a password or a token")
    if match := next(in_text(text), None):
        words = "a private key" if match[0].startswith("-") else f"{match[0][:4]}…"
        return Secret(path, _line(text, match.start()), f"holds {words}")
    return None


def in_text(text: str) -> Iterator[re.Match[str]]:
    """Yield the first keys and tokens in a text; `find` skips much faster than a pattern."""
    for start in _STARTS:
        at = text.find(start)
        for _ in range(_MOST_STARTS):
            if at < 0:
                break
            match = _TOKENS.match(text, at)
            if match and _is_random(match[0]) and not _PLACEHOLDER.search(match[0]):
                yield match
            at = text.find(start, match.end() if match else at + 1)


def _is_random(text: str) -> bool:
    """Return whether a text has the entropy of a random one."""
    counts = Counter(text).values()
    return -sum(n / len(text) * log2(n / len(text)) for n in counts) >= _LEAST_ENTROPY


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
