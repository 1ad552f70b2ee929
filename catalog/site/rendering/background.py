"""Work on the texts of skills, done beside the event loop by one thread, one piece at a time.

Each piece bounds its own work. Waiting is bounded here, so that many long pieces of one visitor
keep others waiting for a few seconds at most: they get the plain form of their page.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

LONGEST_WAIT = 4.0
"""Seconds that a page waits for its piece of work."""

_THREAD = ThreadPoolExecutor(1, thread_name_prefix="texts")


async def aside(work: Callable[[], T], otherwise: Callable[[], T]) -> T:
    """Return what the work returns, or the quick alternative where its turn does not come."""
    loop = asyncio.get_running_loop()
    try:
        return await asyncio.wait_for(loop.run_in_executor(_THREAD, work), LONGEST_WAIT)
    except TimeoutError:  # work that has not begun is cancelled
        return otherwise()
