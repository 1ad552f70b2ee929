"""Access to the site: only under its own host names, and with a reader's token once there is one.

SQL and Datasette's inner pages are for readers on this machine.

Without the check of names, a web page whose name resolves to a private address (DNS rebinding)
could read the catalog, and absolute URLs in responses would repeat any name that a client sends.
"""

import logging
import re
import socket
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote

from catalog.filesystem import token_file
from catalog.filesystem.token_file import Token
from catalog.model.errors import TokensInvalid
from catalog.site import address
from catalog.site.http import location as http_location
from catalog.site.http import responses
from catalog.site.http.security_headers import App, Message, Send
from catalog.text import credentials

log = logging.getLogger("skilldrop")

OPEN = "/-/healthz"
"""Path that needs no token; its response is only whether all is well."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:\d*)?\Z", re.IGNORECASE)
_WRONG_NAME = (
    "This site does not answer to that host name. "
    "If the name belongs to the site, add it to `names` in the [site] settings."
)
_IN_PATH = "/token/"
_PREFIX, _ANONYMOUS, _GUARDED = "skilldrop.prefix", "skilldrop.anonymous", "skilldrop.guarded"
"""Keys of the scope with the facts about a request's token."""
_CACHE_CONTROL = b"cache-control"
_INNER = re.compile(
    r"/-/(metadata|versions|plugins|settings|config|threads|databases|actor|auth-token|logout|"
    r"permissions|messages|allow-debug|patterns|actions|allowed|api|check|create-token|debug|jump|"
    r"queries|rules|schema|tasks)(/.*|\.json)?"
)
"""Datasette's pages about its files, threads and settings; the last two lines are those of 1.0.
Pages of other plugins are not among them."""
_IS_LOCAL: ContextVar[bool] = ContextVar("skilldrop_is_local", default=False)


def wrap(app: App, datasette: Any) -> App:
    """Return the application behind the check of names and the tokens beside the catalog.

    A token comes in the Authorization header. For installers that can send no header, it may also
    be the beginning of the path, `/token/TOKEN/…`; links in such a response keep it.
    """
    location = http_location.find(datasette)
    file = location.catalog.absolute().with_name(token_file.NAME) if location else None
    names = Names(http_location.setting(datasette, "names", ()))
    is_public = names.has_more or any(
        http_location.setting(datasette, key, False) for key in ("url", "is_public")
    )
    shows_inner = http_location.setting(datasette, "inner_pages", False)

    async def guarded(scope: Any, receive: Any, send: Send) -> None:
        if not file or scope["type"] != "http":
            await app(scope, receive, send)
            return

        async def refuse(
            message: str, status: int, headers: Mapping[str, str] | None = None
        ) -> None:
            headers = {"Cache-Control": "no-store", **(headers or {})}
            path = http_location.path(datasette, scope)
            response = responses.refusal(datasette, path, message, status, headers)
            await response.asgi_send(send)

        scope = _in_origin_form(scope)
        if not names.include(scope):
            await refuse(_WRONG_NAME, 421)
            return
        try:
            tokens = token_file.load(file)
        except TokensInvalid as error:
            log.error("%s", error)
            await refuse("The site cannot read its tokens.", 503)
            return
        allowed = _allowed(datasette, scope, tokens)
        if allowed is None:
            headers = {"WWW-Authenticate": credentials.CHALLENGE, "Vary": "Authorization"}
            await refuse(credentials.SENTENCE, 401, headers)
            return
        is_local = not (is_public or tokens) and _is_local(scope)
        path = http_location.path(datasette, allowed)
        if _INNER.fullmatch(path) and not (is_local or shows_inner):
            await refuse("This page is not public.", 404)
            return
        token = _IS_LOCAL.set(is_local)
        try:
            await app(allowed, receive, _private(send) if tokens else send)
        finally:
            _IS_LOCAL.reset(token)

    return guarded


def is_local() -> bool:
    """Return whether the present request is from this machine, to a site for it alone.

    That is a site on loopback without a name, a URL, a proxy or tokens. A page of another site in a
    browser here, which could ask for statements that take hours, is not local.
    """
    return _IS_LOCAL.get()


def _is_local(scope: Mapping[str, Any]) -> bool:
    server = str((scope.get("server") or ("",))[0])
    is_forwarded = any(b"forwarded" in name for name, _ in scope["headers"])
    is_of_other_site = (b"sec-fetch-site", b"cross-site") in scope["headers"]  # in a browser
    is_here = address.is_loopback(server) and address.is_loopback(_host(scope))
    return is_here and not is_forwarded and not is_of_other_site


class Names:
    """Host names of the site: those of loopback, of this machine, and the given ones.

    The names of this machine are the address at which the connection arrived and, unless that is
    loopback, the host name. Ports are not compared.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._own = LOOPBACK | {_normal(name) for name in names}
        self.has_more = not all(map(address.is_loopback, self._own))
        self._machine = {_normal(name) for name in (socket.gethostname(), socket.getfqdn())}

    def include(self, scope: Mapping[str, Any]) -> bool:
        """Return whether the site answers to the Host header of a request."""
        host = _host(scope)
        own = _normal(str((scope.get("server") or ("",))[0]))
        is_machine = host in self._machine and not address.is_loopback(own)
        return bool(host) and (host in self._own or host == own or is_machine)


def prefix(scope: Mapping[str, Any]) -> str:
    """Return the beginning of the path with the token of a request; mostly empty."""
    return str(scope.get(_PREFIX, ""))


def is_guarded(scope: Mapping[str, Any]) -> bool:
    """Return whether readers of the site need a token."""
    return bool(scope.get(_GUARDED))


def is_anonymous(scope: Mapping[str, Any]) -> bool:
    """Return whether a request came without the token that other paths need."""
    return bool(scope.get(_ANONYMOUS))


def _host(scope: Mapping[str, Any]) -> str:
    values = [value for name, value in scope["headers"] if name == b"host"]
    match = _HOST.match(values[0].decode("latin-1")) if len(values) == 1 else None
    return _normal(match[1]) if match else ""


def _normal(name: str) -> str:
    return name.lower().removesuffix(".").removeprefix("[").removesuffix("]")


def _allowed(datasette: Any, scope: Any, tokens: tuple[Token, ...]) -> Any:
    """Return the scope of a request that may pass, without a token in its path; else None."""
    if not tokens:
        return scope
    scope = scope | {_GUARDED: True}
    path = http_location.path(datasette, scope)
    secret, rest = _in_path(path)
    if secret and token_file.is_one_of(tokens, secret):
        # The rest of the path is percent-encoded, as raw paths are.
        return scope | {
            "path": unquote(rest),
            "raw_path": rest.encode("latin-1"),
            _PREFIX: f"{_IN_PATH}{secret}",
        }
    sent = credentials.of_headers(scope["headers"])
    if sent and token_file.is_one_of(tokens, sent):
        return scope
    return scope | {_ANONYMOUS: True} if path == OPEN else None


def _in_origin_form(scope: Any) -> Any:
    """Return the scope of a request without a host in its target, which then is the Host.

    Any client may send the whole URL: RFC 9112, section 3.2.2.
    """
    match = _ABSOLUTE.fullmatch(scope.get("raw_path") or b"")
    if not match:
        return scope
    headers = [header for header in scope["headers"] if header[0] != b"host"]
    target = match[2] or b"/"
    return scope | {
        "raw_path": target,
        "path": unquote(target.decode("latin-1")),
        "headers": [*headers, (b"host", match[1])],
    }


_ABSOLUTE = re.compile(rb"(?i:https?)://([^/?#@]*)(/.*)?")


def _in_path(path: str) -> tuple[str, str]:
    """Return the token at the beginning of a path, and the rest of the path."""
    if not path.startswith(_IN_PATH):
        return "", path
    secret, slash, rest = path.removeprefix(_IN_PATH).partition("/")
    return secret, slash + rest or "/"


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
