"""Duration of one call."""

import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object]) -> float:
    """Call a function and return how many seconds it took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
