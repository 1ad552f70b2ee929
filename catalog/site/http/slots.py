"""Limits on the number of costly responses that are prepared at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class AllTaken(Exception):
    """No slot became free in time."""


class Slots:
    """Fixed number of slots; each costly response takes one while it is prepared."""

    def __init__(self, number: int, patience: float) -> None:
        """Take the number of slots, and the seconds that a request may wait for one."""
        self._free = asyncio.Semaphore(number)
        self._patience = patience

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold a slot. Raises AllTaken if none becomes free in time."""
        await self.take()
        try:
            yield
        finally:
            self.free()

    async def take(self) -> None:
        """Take a slot, to be returned by `free`. Raises AllTaken."""
        try:
            async with asyncio.timeout(self._patience):
                await self._free.acquire()
        except TimeoutError as error:
            raise AllTaken from error

    def free(self) -> None:
        """Return a slot."""
        self._free.release()
