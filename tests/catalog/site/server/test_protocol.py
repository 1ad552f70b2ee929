"""Connections to the site over real sockets: half a request, slow readers, and too many of them."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from catalog.site.http import limits
from catalog.site.server import app
from tests.support.waiting import PATIENCE, wait_for

BIG = 32 * 2**20
has_sent = threading.Event()
"""Whether all of a very large body was taken, or its connection has ended."""


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Respond with a small body, a very large body, or the body of the request."""
    if scope["type"] != "http":
        return
    if scope["method"] == "POST":
        while (await receive()).get("more_body"):
            pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/big":
        for _ in range(BIG // 2**16):
            await send({"type": "http.response.body", "body": bytes(2**16), "more_body": True})
        has_sent.set()
    await send({"type": "http.response.body", "body": b"done"})


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., socket.socket]]:
    """Return the function that connects to a server whose times are short, and sends something."""
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(limits, "READING_SECONDS", 0.3)
    monkeypatch.setattr(limits, "MOST_CONNECTIONS", 7)
    monkeypatch.setattr(limits, "MOST_OF_CLIENT", 5)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(
            application,
            http=app.BoundedProtocol,
            lifespan="off",
            log_level="critical",
            proxy_headers=False,
        )
    )
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    opened = []

    def connecting(sent: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
        connection = socket.create_connection(
            listener.getsockname(), timeout=PATIENCE, source_address=(source, 0)
        )
        opened.append(connection)
        connection.sendall(sent)
        return connection

    yield connecting
    for connection in opened:
        connection.close()
    server.should_exit = True
    thread.join()
    listener.close()


def received(connection: socket.socket) -> bytes:
    """Return all until the server ends the connection, for which it has a minute."""
    found = bytearray()
    with suppress(ConnectionResetError):
        while part := connection.recv(2**20):
            found += part
    return bytes(found)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", b"408"),
        (b"GET / HT", b"408"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX-", b"408"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf", b""),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha", b""),
    ],
)
def test_half_a_request_ends(
    connect: Callable[..., socket.socket], sent: bytes, status: bytes
) -> None:
    """Headers and bodies that do not arrive in time end the connection."""
    assert received(connect(sent))[9:12] == status


def test_a_trickle_of_bytes_ends_as_well(connect: Callable[..., socket.socket]) -> None:
    """The time counts for the whole request, not for each part of it."""
    connection = connect(b"GET / HTTP/1.1\r\nHost: a\r\n")
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        wait_for(lambda: connection.sendall(b"X-A: b\r\n"))


def test_half_a_second_request_ends(connect: Callable[..., socket.socket]) -> None:
    """Also on a connection that is kept open."""
    connection = connect(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    first = connection.recv(2**16)
    while not first.endswith(b"0\r\n\r\n"):
        first += connection.recv(2**16)
    connection.sendall(b"GET / HT")
    assert received(connection)[9:12] == b"408"


def test_who_takes_nothing_of_an_answer_is_left(connect: Callable[..., socket.socket]) -> None:
    """An answer does not wait in memory for a client that does not read."""
    has_sent.clear()
    connection = connect(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
    assert has_sent.wait(PATIENCE)
    assert len(received(connection)) < BIG


def test_a_slow_but_steady_reader_gets_all(connect: Callable[..., socket.socket]) -> None:
    """The timer restarts whenever the client reads."""
    connection = connect(b"GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert len(received(connection)) > BIG


def asking(path: str = "/") -> bytes:
    """Return a request that ends its connection."""
    return f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode()


def test_silent_connections_lock_nobody_out(
    connect: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest silent one of an address gives way; those of others stay."""
    monkeypatch.setattr(limits, "REQUEST_SECONDS", PATIENCE)
    other = connect(source="127.0.0.2")
    silent = [connect() for _ in range(limits.MOST_OF_CLIENT)]
    assert received(connect(asking()))[9:12] == b"200"
    assert received(silent[0])[9:12] == b"408"
    for connection in (other, *silent[1:]):
        connection.sendall(asking())
        assert received(connection)[9:12] == b"200"


def test_too_many_busy_connections_leave_health_a_reserve(
    connect: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """New connections are refused with 503, and existing ones go on."""
    monkeypatch.setattr(limits, "READING_SECONDS", PATIENCE)
    busy = [connect(asking("/big")) for _ in range(limits.MOST_OF_CLIENT)]
    begun = [connection.recv(1) for connection in busy]
    assert received(connect(asking()))[9:12] == b"503"
    assert received(connect(asking("/-/healthz")))[9:12] == b"200"
    assert len(begun[0] + received(busy[0])) > BIG
