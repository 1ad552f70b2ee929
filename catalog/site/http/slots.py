"""Bounds on how many costly answers are made at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class AllTaken(Exception):
    """No slot became free in time."""


class Slots:
    """A number of slots, each of which one answer takes while it is made."""

    def __init__(self, number: int, patience: float) -> None:
        """Take the number of slots, and the seconds that somebody may wait for one."""
        self._free = asyncio.Semaphore(number)
        self._patience = patience

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold a slot. Raises AllTaken where there is none in time."""
        await self.take()
        try:
            yield
        finally:
            self.free()

    async def take(self) -> None:
        """Take a slot, which `free` gives back. Raises AllTaken."""
        try:
            async with asyncio.timeout(self._patience):
                await self._free.acquire()
        except TimeoutError as error:
            raise AllTaken from error

    def free(self) -> None:
        """Give a slot back."""
        self._free.release()
