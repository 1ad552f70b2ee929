"""Errors that a caller can act on, and records of failed work; bad skills are findings."""

from dataclasses import dataclass
from typing import NamedTuple


class SkilldropError(Exception):
    """Base of all errors of skilldrop, never raised itself. Its text is one sentence for people."""


class NotPossible(SkilldropError):
    """A request that cannot be met here; the text says why, and what to do."""


class CatalogBusy(SkilldropError):
    """Another process writes this catalog."""


class CatalogUnusable(SkilldropError):
    """The catalog file cannot be opened, is locked, or belongs to another program."""


class CatalogDamaged(CatalogUnusable):
    """The catalog file is damaged; it must be rebuilt from the roots."""


class FolderNotOwned(SkilldropError):
    """A folder that skilldrop would write to belongs to another program or catalog."""


class OutOfRoom(SkilldropError):
    """Publishing would exceed the settings for disk space; it continues once there is room."""


class RootUnreadable(SkilldropError):
    """A root is missing or cannot be listed."""


class TokensInvalid(SkilldropError):
    """The file of readers' tokens cannot be used, or not changed like that."""


class NotAsJudged(SkilldropError):
    """A skill's files changed after validation; they must be read again."""


class NotInCatalog(SkilldropError):
    """The catalog does not have the requested name."""


class FilterInvalid(SkilldropError):
    """A filter of a search has a value that it cannot have."""


class ClusterUnusable(SkilldropError):
    """A Dask cluster does not answer, or its workers would validate differently."""


class PathRefused(SkilldropError):
    """No published file can have the requested path or byte range."""


class PackageDamaged(SkilldropError):
    """A published file is missing or differs from the catalog."""


class NotPlaced(SkilldropError):
    """A directory of skills cannot be updated."""


class HookFailed(SkilldropError):
    """A delivery to a hook failed; it is repeated later."""


class HookRefused(HookFailed):
    """The receiver of a hook refuses a delivery, and would refuse it again."""


class PullFailed(SkilldropError):
    """A repository could not be pulled; its mirror keeps the last state."""


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
