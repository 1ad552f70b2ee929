"""Types of the settings of a root that is a git repository."""

import re
from pathlib import PurePosixPath
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

_SCHEMES = ("https", "http", "ssh", "git", "file")
_SCP = re.compile(r"[\w.+-]+@[\w.-]+:[^:]+")  # git@host:team/skills.git
_REF = re.compile(r"(?![-/.])(?!.*(//|\.\.|@\{|\.lock$|[/.]$))[^\s~^:?*\[\\\x00-\x1f\x7f]+")
_TIME = re.compile(r"(\d+(?:\.\d+)?) ?([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LEAST = 1.0
"""Least seconds between two pulls."""


def credentials_in(url: object) -> bool:
    """Return whether a URL contains a password, or a user name or query that may be a token."""
    if not isinstance(url, str):
        return False
    scheme, has_scheme, rest = url.rpartition("://")
    user, at, _ = rest.partition("/")[0].rpartition("@")
    if not has_scheme or scheme == "ssh":
        return ":" in user
    return bool(at) or (scheme.startswith("http") and "?" in rest)


def _url(url: str) -> str:
    if _SCP.fullmatch(url) or (url.startswith("/") and "\n" not in url):
        return url
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not (parts.netloc or parts.path) or parts.query:
        raise ValueError("no URL of a repository")
    if (parts.hostname or "")[:1] == "-" or any(ord(char) <= 32 for char in url):
        raise ValueError("no URL of a repository")
    return url


def _ref(ref: str) -> str:
    if not _REF.fullmatch(ref):
        raise ValueError("no name of a branch, tag or commit")
    return ref


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if path.startswith(("/", "-", ":")) or ".." in parts or "\0" in path:
        raise ValueError("no path in a repository")
    return "/".join(parts)


def _seconds(value: object) -> object:
    if isinstance(value, str) and (match := _TIME.fullmatch(value.strip())):
        return float(match[1]) * _SECONDS[match[2]]
    return value


GitUrl: TypeAlias = Annotated[
    str, AfterValidator(_url), Field(description="the URL of a git repository, without credentials")
]
GitRef: TypeAlias = Annotated[
    str, AfterValidator(_ref), Field(description="a branch, a tag or a commit")
]
GitPath: TypeAlias = Annotated[
    str, AfterValidator(_inside), Field(description="the path of a folder in the repository")
]
Interval: TypeAlias = Annotated[
    float,
    BeforeValidator(_seconds),
    Field(ge=LEAST, le=30 * 86_400, description='a time such as "5m", "30s" or "1h"'),
]
