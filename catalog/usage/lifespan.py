"""End of a server: the last counts are written after the last request."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from catalog.usage.counter import ReadCounter

App = Callable[[Any, Any, Any], Awaitable[None]]


def closing(app: App, counter: ReadCounter | None) -> App:
    """Return an ASGI application that closes the counter when its server stops."""
    if not counter:
        return app

    async def served(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"].startswith("lifespan.shutdown"):
                await asyncio.to_thread(counter.close)
            await send(message)

        await app(scope, receive, sent if scope["type"] == "lifespan" else send)

    return served
