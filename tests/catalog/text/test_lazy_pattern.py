import pickle
import re

import pytest

from catalog.text.lazy_pattern import lazy


def test_a_lazy_pattern_matches_like_a_compiled_one() -> None:
    """Its methods are those of the compiled pattern, before and after the first use."""
    pattern = lazy("A+", re.IGNORECASE)
    for _ in range(2):
        assert pattern.sub("b", "xaAx") == "xbx"
        assert [found.group() for found in pattern.finditer("aa A")] == ["aa", "A"]
    assert lazy(rb"\d").findall(b"1a2") == [b"1", b"2"]
    assert (pattern.pattern, pickle.loads(pickle.dumps(pattern)).findall("a")) == ("A+", ["a"])


def test_a_lazy_pattern_is_compiled_when_it_is_first_used() -> None:
    """An error in it appears then."""
    pattern = lazy("(")
    with pytest.raises(re.error):
        pattern.search("")
