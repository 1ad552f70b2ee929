"""File with the readers' tokens of a site: their names and hashes, never the tokens themselves.

It lies beside the catalog and not in it, because the site shows every table. A token is 256 random
bits, which nobody can guess from an unsalted SHA-256.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from catalog.filesystem.operations import directory, replaced
from catalog.model.errors import TokensInvalid
from catalog.text.humanize import iso

NAME = "tokens.json"

_PREFIX = "skilldrop_"
"""Start of each token, so that programs that look for secrets recognise it."""
_TOKEN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Token:
    """Token of a reader."""

    name: str
    sha256: str  # of the token, 64 hex digits
    created: str  # ISO 8601 in UTC


def load(path: Path) -> tuple[Token, ...]:
    """Return the tokens in a file; none if there is no file. Raises TokensInvalid."""
    try:
        rows: list[Any] = json.loads(path.read_bytes())["tokens"]
        tokens = tuple(Token(row["name"], row["sha256"], row["created"]) for row in rows)
        if not tokens or not all(re.fullmatch("[0-9a-f]{64}", token.sha256) for token in tokens):
            raise ValueError("it has no tokens")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _unreadable(path, error.strerror) from error
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, "it is damaged") from error
    return tokens


def add(path: Path, name: str, at: datetime) -> str:
    """Add a token of that name, and return it; it cannot be read again. Raises TokensInvalid."""
    if not _TOKEN_NAME.fullmatch(name):
        raise TokensInvalid(
            "The name of a token has 1 to 64 letters A-Z or a-z, digits, dots, hyphens and "
            "underscores, and begins with a letter or digit."
        )
    with _locked(path):
        tokens = load(path)
        if any(token.name == name for token in tokens):
            raise TokensInvalid(f"There is a token {name} already. Choose another name.")
        secret = _PREFIX + secrets.token_urlsafe(32)
        _save(path, (*tokens, Token(name, _hash(secret), iso(at))))
    return secret


def remove(path: Path, name: str, *, opens: bool = False) -> bool:
    """Remove the token of that name, and return whether the site is open to everybody now.

    The last token is removed only with `opens`. Raises TokensInvalid.
    """
    with _locked(path):
        tokens = load(path)
        left = tuple(token for token in tokens if token.name != name)
        if left == tokens:
            names = ", ".join(token.name for token in tokens) or "none"
            raise TokensInvalid(f"There is no token {name}. The tokens are: {names}.")
        if not left and not opens:
            raise TokensInvalid(
                f"{name} is the last token. Without one, everybody who reaches the site may read "
                "it. Add --open if you want that, or make another token first."
            )
        _save(path, left)
    return not left


def is_one_of(tokens: Sequence[Token], secret: str) -> bool:
    """Return whether a text is one of the tokens, in the same time for every wrong one."""
    digest = _hash(secret)
    return sum(hmac.compare_digest(token.sha256, digest) for token in tokens) > 0


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other commands from changing the file meanwhile."""
    import fcntl  # Windows has none, and imports this module for the name of the file

    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(directory(path.parent))
        except OSError as error:
            raise TokensInvalid(f"{path.parent} cannot be opened: {error.strerror}.") from error
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield


def _save(path: Path, tokens: Sequence[Token]) -> None:
    try:
        if not tokens:
            path.unlink()
            return
        with replaced(path, 0o600) as file:
            content = {"tokens": [asdict(token) for token in tokens]}
            file.write(f"{json.dumps(content, indent=1)}\n".encode())
    except OSError as error:
        raise TokensInvalid(f"{path} cannot be written: {error.strerror}.") from error


def _unreadable(path: Path, reason: str | None) -> TokensInvalid:
    return TokensInvalid(
        f"The readers' tokens in {path} cannot be read: {reason}. Every reader is refused. "
        "Restore the file; or move it away and run `skilldrop token new NAME` at once, because "
        "without it everybody may read."
    )
