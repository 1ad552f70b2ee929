"""Middleware that refuses requests before Datasette sees them, by a list of checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from catalog.site.http import errors
from catalog.site.http.security_headers import App, Send


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason why a request is not answered, as a status and a sentence."""

    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict)


Check: TypeAlias = Callable[[Any], Refusal | None]
"""Looks at the scope of a request; None lets it pass."""


def wrap(app: App, datasette: Any, checks: Sequence[Check]) -> App:
    """Return the application behind the checks, of which the first that objects answers."""

    async def checked(scope: Any, receive: Any, send: Send) -> None:
        refused = (
            next(filter(None, (check(scope) for check in checks)), None)
            if (scope["type"] == "http")
            else None
        )
        if not refused:
            await app(scope, receive, send)
            return
        await errors.refusal(
            datasette, scope["path"], refused.message, refused.status, refused.headers
        ).asgi_send(send)

    return checked
