"""Where the repository and the real skills lie."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("SKILLDROP_CORPUS", REPOSITORY.parent / "shared" / "corpus"))


LONGEST = ("test_promise.py", "test_browser.py", "test_trouble.py", "test_reconcile.py")
"""Files that take long, in which little can be done by others meanwhile."""


def pytest_configure(config: pytest.Config) -> None:
    """Leave the files in the order of `pytest_collection_modifyitems`.

    pytest-xdist would end with those of the fewest tests, which take the longest.
    """
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that no process is left alone with one at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
