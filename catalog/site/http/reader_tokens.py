"""Middleware that lets only readers with a token pass, once there is one."""

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from datasette.utils.asgi import Response

from catalog.filesystem import token_file
from catalog.filesystem.token_file import Token, TokenFile
from catalog.model.errors import TokensInvalid
from catalog.reading import credentials
from catalog.site.http import errors
from catalog.site.http import location as http_catalog
from catalog.site.http.security_headers import App, Message, Send

log = logging.getLogger("skilldrop")

OPEN = "/-/healthz"
"""Path that needs no token; its response is only whether all is well."""

_IN_PATH = "/token/"
_PREFIX, _ANONYMOUS, _GUARDED = "skilldrop.prefix", "skilldrop.anonymous", "skilldrop.guarded"
"""Keys of the scope that hold the facts about a request's token."""


def wrap(app: App, datasette: Any) -> App:
    """Return the application behind the readers' tokens in the file beside the catalog.

    A token comes in the Authorization header. For installers that can send no header, it may also
    be the beginning of the path, `/token/TOKEN/…`; links in such a response keep it.
    """
    location = http_catalog.find(datasette)
    file = TokenFile(location.catalog.absolute().with_name(token_file.NAME)) if location else None

    async def guarded(scope: Any, receive: Any, send: Send) -> None:
        if not file or scope["type"] != "http":
            await app(scope, receive, send)
            return
        try:
            tokens = file.tokens()
        except TokensInvalid as error:
            log.error("%s The site is closed until this is repaired.", error)
            response = _refusal(datasette, scope, "The site cannot read its tokens.", 503)
            await response.asgi_send(send)
            return
        allowed = _allowed(datasette, scope, tokens)
        if allowed is None:
            headers = {"WWW-Authenticate": credentials.CHALLENGE, "Vary": "Authorization"}
            response = _refusal(datasette, scope, credentials.SENTENCE, 401, headers)
            await response.asgi_send(send)
            return
        await app(allowed, receive, _private(send) if tokens else send)

    return guarded


def _private(send: Send) -> Send:
    """Return a function that sends a response, which no shared cache may keep."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [(name.lower(), value) for name, value in message.get("headers", ())]
            kept = dict(headers).get(_CACHE_CONTROL, b"no-cache")
            if b"no-store" not in kept:
                kept = b"private, " + kept.removeprefix(b"public, ")
            others = [header for header in headers if header[0] != _CACHE_CONTROL]
            message = {**message, "headers": [*others, (_CACHE_CONTROL, kept)]}
        await send(message)

    return sent


_CACHE_CONTROL = b"cache-control"


def prefix(scope: Mapping[str, Any]) -> str:
    """Return the beginning of the path that holds the token of a request; mostly empty."""
    return str(scope.get(_PREFIX, ""))


def is_guarded(scope: Mapping[str, Any]) -> bool:
    """Return whether readers of the site need a token."""
    return bool(scope.get(_GUARDED))


def is_anonymous(scope: Mapping[str, Any]) -> bool:
    """Return whether a request came without the token that other paths need."""
    return bool(scope.get(_ANONYMOUS))


def _allowed(datasette: Any, scope: Any, tokens: tuple[Token, ...]) -> Any:
    """Return the scope of a request that may pass, without a token in its path; else None."""
    if not tokens:
        return scope
    scope = scope | {_GUARDED: True}
    path = http_catalog.path(datasette, scope)
    secret, rest = _in_path(path)
    if secret and token_file.name_of(secret, tokens):
        # The rest of the path is percent-encoded, as raw paths are.
        return scope | {
            "path": unquote(rest),
            "raw_path": rest.encode("latin-1"),
            _PREFIX: f"{_IN_PATH}{secret}",
        }
    sent = credentials.of_headers(scope["headers"])
    if sent and token_file.name_of(sent, tokens):
        return scope
    return scope | {_ANONYMOUS: True} if path == OPEN else None


def _in_path(path: str) -> tuple[str, str]:
    """Return the token at the beginning of a path, and the rest of the path."""
    if not path.startswith(_IN_PATH):
        return "", path
    secret, slash, rest = path.removeprefix(_IN_PATH).partition("/")
    return secret, slash + rest or "/"


def _refusal(
    datasette: Any, scope: Any, message: str, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    path = http_catalog.path(datasette, scope)
    return errors.refusal(
        datasette, path, message, status, {"Cache-Control": "no-store", **(headers or {})}
    )
