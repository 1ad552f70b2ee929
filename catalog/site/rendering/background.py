"""Background thread for work on the texts of skills, one task at a time, beside the event loop.

Each task limits its own work. The wait for a turn is limited here: if one visitor's tasks keep the
thread busy, others wait a few seconds and then get the plain form of their page.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

LONGEST_WAIT = 4.0
"""Seconds that a page waits for its task."""

_THREAD = ThreadPoolExecutor(1, thread_name_prefix="texts")


async def aside(work: Callable[[], T], otherwise: Callable[[], T]) -> T:
    """Return the result of the work, or of the quick alternative after a timeout."""
    loop = asyncio.get_running_loop()
    try:
        return await asyncio.wait_for(loop.run_in_executor(_THREAD, work), LONGEST_WAIT)
    except TimeoutError:  # work that has not begun is cancelled
        return otherwise()
