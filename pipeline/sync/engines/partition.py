"""Partition of a scan into pieces of work."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.roots.local import walk
from pipeline.sync.engines.scanner import ScanOptions, ScanScope

WORTH_IT = 512
"""Paths to read from which on other processes are started: where nothing may be forked, that alone
takes a third of a second."""


def apart(scope: ScanScope, options: ScanOptions) -> list[str]:
    """Return paths that together are the part, enough of them to share out where there are."""
    return walk.taken_apart(Path(scope.root.path), scope.paths, WORTH_IT, options.limits.depth)


def is_worth_sharing(scope: ScanScope, options: ScanOptions, paths: Sequence[str]) -> bool:
    """Tell whether so much is to be read that it pays to start processes elsewhere."""
    known = 0 if options.deep else sum(map(bool, scope.known.values()))
    return len(paths) - known >= WORTH_IT


def pieces(scope: ScanScope, paths: Sequence[str], size: int) -> Iterator[ScanScope]:
    """Yield a part in pieces of so many paths, each with what is known at or below them."""
    known = sorted(scope.known)
    for start in range(0, len(paths), size):
        some = tuple(paths[start : start + size])
        yield replace(
            scope,
            paths=some,
            known={name: scope.known[name] for path in some for name in _at_or_below(known, path)},
        )


def _at_or_below(names: Sequence[str], path: str) -> Iterator[str]:
    """Yield the sorted names that are a path or lie below it."""
    if not path:
        yield from names
        return
    at = bisect_left(names, path)
    if at < len(names) and names[at] == path:
        yield path
    # "0" follows "/" in code points.
    yield from names[bisect_left(names, f"{path}/") : bisect_left(names, f"{path}0")]
