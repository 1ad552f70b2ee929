"""Watch units: paths that settle and are scanned as one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from catalog.model.paths import is_archive, top_of_archive


class WatchUnit(NamedTuple):
    """Path that settles as one: an outermost skill folder, an archive, or an entry of a root."""

    root: str  # absolute path
    path: str  # relative to the root; "" is all of it

    def lies_in(self, other: "WatchUnit") -> bool:
        """Whether this is the other unit or a part of it."""
        return self == other or other in self.wholes()

    def wholes(self) -> Iterator["WatchUnit"]:
        """Yield every larger unit of which this one could be a part."""
        path = self.path
        while path:
            path = path.rpartition("/")[0]
            yield WatchUnit(self.root, path)


def changed_lately(changed_ns: int, now_ns: int, quiet: float) -> bool:
    """Return whether something changed less than `quiet` seconds ago by its own time stamp.

    A time stamp more than `quiet` seconds in the future comes from another clock and is ignored.
    """
    return abs(now_ns - changed_ns) < quiet * 1e9


def with_archives(units: Iterable[WatchUnit]) -> list[WatchUnit]:
    """Return the units, and for each archive file the unit of its contents (`x.zip!`).

    A path inside an archive becomes the unit of the whole archive.
    """
    result = []
    for unit in units:
        top = top_of_archive(unit.path)
        result.append(WatchUnit(unit.root, top) if top else unit)
        if unit.path and not top and is_archive(unit.path):
            result.append(WatchUnit(unit.root, f"{unit.path}!"))
    return result


def outermost(units: Sequence[WatchUnit]) -> list[WatchUnit]:
    """Return the units that lie in no other one, so that no folder is scanned twice."""
    distinct = dict.fromkeys(units)
    return [unit for unit in distinct if not any(whole in distinct for whole in unit.wholes())]
