"""Parts of a build that the next one takes over."""

from catalog.prompt_index import parts
from catalog.prompt_index.parts import Parts


def made(known: Parts[str, str], key: str, value: str) -> str:
    """Return the value of a key; this one, if it has to be made."""
    return known.get(key, lambda: value)


def test_a_part_is_made_once_while_each_build_uses_it() -> None:
    """The build that made it, and each one after it."""
    known: Parts[str, str] = Parts()
    assert made(known, "a", "first") == "first"
    assert made(known, "a", "second") == "first"
    for _ in range(3):
        known.begin()
        assert made(known, "a", "later") == "first"


def test_a_part_that_a_build_did_not_use_is_made_again() -> None:
    """What left an index takes no memory."""
    known: Parts[str, str] = Parts()
    made(known, "a", "first")
    known.begin()
    known.begin()
    assert made(known, "a", "second") == "second"


def test_only_so_many_parts_are_kept() -> None:
    """A very large index does not stay in memory twice."""
    known: Parts[str, str] = Parts()
    for number in range(parts.MOST):
        made(known, str(number), "first")
    assert made(known, "beyond", "first") == "first"
    assert made(known, "beyond", "second") == "second"
    assert made(known, "0", "second") == "first"
