"""Services that are stopped after a test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.serving import Serving


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Serving]]:
    """Return a function that makes a service with given settings; it is stopped after the test."""
    made: list[Serving] = []

    def make(**settings: Any) -> Serving:
        made.append(Serving(tmp_path, **settings))
        return made[-1]

    yield make
    for one in made:
        one.stop()
