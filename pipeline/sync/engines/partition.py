"""Partition of a scan into pieces of work."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.roots.source import open_source
from pipeline.sync.engines.scanner import ScanOptions, ScanScope

WORTH_IT = 512
"""Paths to read from which on worker processes pay off; starting them without fork takes a third of
a second."""


def split(scope: ScanScope, options: ScanOptions) -> list[str]:
    """Return paths that together are the scope, enough of them to share among processes."""
    with open_source(scope.root.path, options.limits) as source:
        return source.split(scope.paths, WORTH_IT)


def is_worth_sharing(scope: ScanScope, options: ScanOptions, paths: Sequence[str]) -> bool:
    """Tell whether there is so much to read that worker processes pay off."""
    known = 0 if options.deep else sum(map(bool, scope.known.values()))
    return len(paths) - known >= WORTH_IT


def pieces(scope: ScanScope, paths: Sequence[str], size: int) -> Iterator[ScanScope]:
    """Yield a scope in pieces of `size` paths, each with the known folders at or below them."""
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
