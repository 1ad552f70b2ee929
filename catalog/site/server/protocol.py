"""HTTP protocol with limits on the number of connections and on slow clients."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from catalog.site.http import limits


def _answer(status: str, message: str) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(message)}\r\nConnection: close\r\n\r\n{message}"
    ).encode()


_BUSY = _answer("503 Service Unavailable", "Too many connections. Try again later.\n")
_SLOW = _answer("408 Request Timeout", "The request did not arrive in time.\n")


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with timeouts; without them it waits forever for half a request."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request, or refuse the connection above the limit."""
        super().connection_made(transport)
        if len(self.connections) > limits.MOST_CONNECTIONS:
            transport.write(_BUSY)
            transport.close()
        else:
            self._timer = self.loop.call_later(limits.REQUEST_SECONDS, self._end_request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._cancel()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Run the timer while a part of the request is missing."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._cancel()
        elif not self._timer:
            self._timer = self.loop.call_later(limits.REQUEST_SECONDS, self._end_request)

    def pause_writing(self) -> None:
        """Start the timer of a client that reads nothing."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(limits.READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer of a client that reads nothing."""
        if self._reading_timer:
            self._reading_timer.cancel()
            self._reading_timer = None
        super().resume_writing()

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _end_request(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_SLOW)
            self.transport.close()
        else:
            self.transport.abort()
