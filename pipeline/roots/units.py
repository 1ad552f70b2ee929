"""Units: what settles, is scanned and asked for as one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from catalog.model.paths import is_archive, top_of_archive


class WatchUnit(NamedTuple):
    """What settles as one: the outermost skill folder of a path, or a root's top-level entry."""

    root: str  # absolute path
    path: str  # relative to the root; "" is all of it

    def lies_in(self, other: "WatchUnit") -> bool:
        """Tell whether this is the other unit or a part of it."""
        return self == other or other in self.wholes()

    def wholes(self) -> Iterator["WatchUnit"]:
        """Yield every larger unit that this one could be a part of."""
        path = self.path
        while path:
            path = path.rpartition("/")[0]
            yield WatchUnit(self.root, path)


def with_archives(units: Iterable[WatchUnit]) -> list[WatchUnit]:
    """Return the units, each file's with that of what it may hold; that is one, and no parts."""
    found = []
    for unit in units:
        top = top_of_archive(unit.path)
        found.append(WatchUnit(unit.root, top) if top else unit)
        if unit.path and not top and is_archive(unit.path):
            found.append(WatchUnit(unit.root, f"{unit.path}!"))
    return found


def outermost(units: Sequence[WatchUnit]) -> list[WatchUnit]:
    """Return the units that lie in no other one, so that no folder is looked at twice."""
    asked = dict.fromkeys(units)
    return [unit for unit in asked if not any(whole in asked for whole in unit.wholes())]
