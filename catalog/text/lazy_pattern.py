"""Regular expressions that are compiled when they are first used.

Large ones take milliseconds to compile, and most runs of a command use few of them.
"""

import re
from typing import Any, AnyStr, cast


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression, compiled when one of its methods is first called.

    Raises re.error then.
    """
    return cast(re.Pattern[AnyStr], _LazyPattern(pattern, flags))


class _LazyPattern:
    """Stand-in for a compiled pattern; it has the methods that were called so far."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, method)
        return method

    def __reduce__(self) -> tuple[Any, ...]:
        return _LazyPattern, (self.pattern, self.flags)
