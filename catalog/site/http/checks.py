"""Middleware that refuses requests before Datasette sees them, by a list of checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from catalog.site.http import errors
from catalog.site.http.security_headers import App, Send


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason for refusing a request, as a status and a sentence."""

    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict)


Check: TypeAlias = Callable[[Any], Refusal | None]
"""Function that checks the ASGI scope of a request; None accepts it."""


def wrap(app: App, datasette: Any, checks: Sequence[Check]) -> App:
    """Return the application behind the checks; the first refusal is the response."""

    async def checked(scope: Any, receive: Any, send: Send) -> None:
        refusal = (
            next(filter(None, (check(scope) for check in checks)), None)
            if (scope["type"] == "http")
            else None
        )
        if not refusal:
            await app(scope, receive, send)
            return
        await errors.refusal(
            datasette, scope["path"], refusal.message, refusal.status, refusal.headers
        ).asgi_send(send)

    return checked
