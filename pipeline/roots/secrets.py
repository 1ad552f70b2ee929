"""Files that hold secrets, by their names and by the forms of secrets in their texts."""

import re
from typing import NamedTuple

from pipeline.roots import secret_forms
from pipeline.roots.words import found

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
    if not is_text:
        return None
    text = head.decode(errors="replace")
    if values and (match := values.search(text)):
        return Secret(path, _line(text, match.start()), "holds a password or a token")
    if match := next(secret_forms.secrets(text, found(text)), None):
        words = f"{match[0][:4]}…"
        if match[0].startswith("-"):
            words = "a private key"
        elif "value" in match.groupdict():
            words = "a password or a key"
        return Secret(path, _line(text, match.start()), f"holds {words}")
    return None


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
