"""Partition of a scan into pieces of work."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.roots.source import open_source
from pipeline.sync.engines.results import ScanOptions, ScanScope

WORTH_IT = 512
"""Fewest paths to read for which worker processes pay off; without fork, starting them takes a
third of a second."""


COMPARED_APART = 32
"""Paths that suffice to share a comparison among processes."""


def split(scope: ScanScope, options: ScanOptions, enough: int = WORTH_IT) -> list[str]:
    """Return paths that together cover the scope, enough of them to share among processes."""
    with open_source(scope.root.path, options.limits) as source:
        return source.split(scope.paths, enough)


def is_worth_sharing(scope: ScanScope, options: ScanOptions, paths: Sequence[str]) -> bool:
    """Return whether the scope has enough to read for worker processes to pay off."""
    known = 0 if options.deep else sum(map(bool, scope.known.values()))
    return len(paths) - known >= WORTH_IT


def only_compares(scope: ScanScope, options: ScanOptions) -> bool:
    """Return whether a scan reads few of its folders, unless many have changed."""
    is_unread = [not fingerprint for fingerprint in scope.known.values()]
    return not (options.deep or options.new_folders) and sum(is_unread) < WORTH_IT


def pieces(scope: ScanScope, paths: Sequence[str], size: int) -> Iterator[ScanScope]:
    """Yield a scope in pieces of `size` paths, each with its known folders at or below them."""
    known = sorted(scope.known)
    for start in range(0, len(paths), size):
        piece = tuple(paths[start : start + size])
        names = [name for path in piece for name in _at_or_below(known, path)]
        yield replace(
            scope,
            paths=piece,
            known={name: scope.known[name] for name in names},
            stats={name: scope.stats[name] for name in names if name in scope.stats},
        )


def _at_or_below(names: Sequence[str], path: str) -> Iterator[str]:
    """Yield the names, of a sorted sequence, that equal a path or lie below it."""
    if not path:
        yield from names
        return
    index = bisect_left(names, path)
    if index < len(names) and names[index] == path:
        yield path
    # "0" is the code point after "/".
    yield from names[bisect_left(names, f"{path}/") : bisect_left(names, f"{path}0")]
