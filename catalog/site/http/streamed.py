"""Responses read from a file piece by piece, in bounded memory and time."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import IO, Any

PIECE = 2**18
"""Bytes read into memory at once."""
LONGEST = 300.0
"""Seconds that a client may take for the whole response."""


class FileResponse:
    """Response whose body is a file from its current position; the file is closed at the end."""

    def __init__(
        self,
        file: IO[bytes],
        size: int,
        content_type: str,
        headers: Mapping[str, str],
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self._file, self._size, self._done = file, size, done
        self._headers = {**headers, "Content-Type": content_type, "Content-Length": str(size)}

    async def asgi_send(self, send: Any) -> None:
        """Send the response. Raises TimeoutError and OSError; the connection is then closed."""
        try:
            async with asyncio.timeout(LONGEST):
                await send(
                    {
                        "type": "http.response.start",
                        "status": 200,
                        "headers": [
                            (name.lower().encode(), value.encode("latin-1"))
                            for name, value in self._headers.items()
                        ],
                    }
                )
                await self._send_body(send)
        finally:
            self.close()

    def close(self) -> None:
        """Close the file without sending it."""
        self._file.close()
        self._done()

    async def _send_body(self, send: Any) -> None:
        left = self._size
        while left:
            piece = await asyncio.to_thread(self._file.read, min(PIECE, left))
            if not piece:
                raise OSError("the file became shorter while it was sent")
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def sha256(file: IO[bytes]) -> str:
    """Return the SHA-256 of a whole file, read in pieces."""
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
