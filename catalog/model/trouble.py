"""Work that failed and is tried again."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Trouble:
    """Work that failed and is tried again; times are ISO 8601."""

    part: str
    what: str  # a sentence
    since: str
    times: int
    last_at: str
    next_try_at: str | None  # none where it is not known, or nothing is tried


class Problem(NamedTuple):
    """Trouble of a part that tries again by itself."""

    what: str
    times: int
    next_try: float | None = None  # seconds on the monotonic clock
