"""The tree of watched directories beside a plain dict."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pipeline.watch.watched_paths import WatchedPaths

ROOT = b"/root"
NAMES = st.sampled_from([b"a", b"b", b"\xff c"])


class Tree(RuleBasedStateMachine):
    """Directories that are made, moved and deleted, each with an event in time."""

    def __init__(self) -> None:
        super().__init__()
        self.paths = WatchedPaths(ROOT)
        self.known: dict[int, bytes] = {1: ROOT}
        self.paths.add(ROOT, 1)
        self.last = 1

    def drawn(self, data: st.DataObject) -> bytes:
        """Return the path of a directory."""
        return data.draw(st.sampled_from(sorted(self.known.values())))

    def below(self, path: bytes) -> list[int]:
        """Return the watches of a directory and of all below it."""
        return [w for w, p in self.known.items() if p == path or p.startswith(path + b"/")]

    @rule(data=st.data(), name=NAMES)
    def make(self, data: st.DataObject, name: bytes) -> None:
        """Watch a new directory; one that had its path loses it, with all below it."""
        path = self.drawn(data) + b"/" + name
        for watch in self.below(path):
            del self.known[watch]
        self.last += 1
        assert self.paths.add(path, self.last)
        self.known[self.last] = path

    @rule(data=st.data(), name=NAMES)
    def move(self, data: st.DataObject, name: bytes) -> None:
        """Move a directory with those below it; what had its new path is forgotten."""
        source, target = self.drawn(data), self.drawn(data) + b"/" + name
        if source == ROOT or (target + b"/").startswith(source + b"/"):
            return
        if (source + b"/").startswith(target + b"/"):
            return  # no directory replaces one above it
        for watch in self.below(target):
            del self.known[watch]
        assert self.paths.move(source, target)
        for watch in self.below(source):
            self.known[watch] = target + self.known[watch].removeprefix(source)

    @precondition(lambda self: len(self.known) > 1)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Delete a directory that has none below it."""
        watch = data.draw(st.sampled_from(sorted(self.known.keys() - {1})))
        if len(self.below(self.known[watch])) == 1:
            self.paths.remove(watch)
            del self.known[watch]

    @invariant()
    def is_like_the_dict(self) -> None:
        """Each watch has its path, and each path its watch."""
        assert {watch: self.paths.path(watch) for watch in self.known} == self.known
        assert {path: self.paths.get(path) for path in self.known.values()} == {
            path: watch for watch, path in self.known.items()
        }
        assert self.paths.path(self.last + 1) is None


TestTree = Tree.TestCase


def tree(*paths: bytes) -> WatchedPaths:
    """Return the watches 1, 2, … of a root and of paths below it."""
    made = WatchedPaths(ROOT)
    for watch, path in enumerate((ROOT, *paths), 1):
        assert made.add(path, watch)
    return made


def test_a_watch_with_another_path_is_reported() -> None:
    """It moved before its event was read; afterwards it has the new path."""
    paths = tree(b"/root/a")
    assert not paths.add(b"/root/b", 2)
    assert paths.path(2) == b"/root/b"
    assert paths.add(b"/root/b", 2)


def test_a_directory_below_an_unwatched_one_is_reported() -> None:
    """Its path could not be followed; nor could it move there."""
    paths = tree(b"/root/a")
    assert not paths.add(b"/root/unwatched/b", 3)
    assert not paths.add(b"/elsewhere", 4)
    assert not paths.move(b"/root/a", b"/root/unwatched/a")
    assert (paths.path(3), paths.path(4)) == (None, None)


def test_a_directory_that_is_recorded_below_itself_has_no_path() -> None:
    """Events that come late may say so; the search for its path ends."""
    paths = tree(b"/root/a", b"/root/a/b")
    paths.add(b"/root/a/b/a", 2)
    assert (paths.path(2), paths.path(3)) == (None, None)


def test_the_root_of_the_file_system_has_paths_below_it() -> None:
    """Its own path is the only one that ends with a slash."""
    paths = WatchedPaths(b"/")
    assert paths.get(b"/") is None
    assert paths.add(b"/", 1)
    assert paths.add(b"/a", 2)
    assert paths.add(b"/a/b", 3)
    assert (paths.path(1), paths.path(3), paths.get(b"/a/b")) == (b"/", b"/a/b", 3)
