"""Server of tests that records what hooks post to it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Received(list[tuple[dict[str, str], bytes]]):
    """Headers and bodies of the accepted requests, and the status of the next answers."""

    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self.answers: list[int] = []  # of the next requests; then 204
        self.refused = 0
        self.release = threading.Event()  # an answer of 0 waits for it
        self.location = ""


@contextmanager
def receiver() -> Iterator[Received]:
    """Serve on loopback; give the received requests."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # http.server calls it
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = received.answers.pop(0) if received.answers else 204
            if status == 0:
                received.release.wait()
                status = 204
            if status < 300:
                received.append((dict(self.headers), body))
            else:
                received.refused += 1
            self.send_response(status)
            if received.location:
                self.send_header("Location", received.location)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    received.url = f"http://127.0.0.1:{server.server_address[1]}/T0KEN"
    try:
        yield received
    finally:
        received.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
