"""Failed work that is tried again."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Trouble:
    """Failed work that is tried again, as it is stored; times are ISO 8601."""

    part: str
    message: str  # a sentence
    since: str
    times: int
    last_at: str
    next_try_at: str | None  # None where it is unknown, or no try follows


class Problem(NamedTuple):
    """Failure of a part that tries again by itself."""

    message: str
    times: int
    next_try: float | None = None  # seconds on the monotonic clock
