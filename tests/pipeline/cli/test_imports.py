import gc
import os
from contextlib import suppress

import pytest

from pipeline.cli.imports import quick_imports


@pytest.mark.parametrize("before", [None, "logfire"])
def test_imports_leave_the_collector_and_the_environment_as_they_were(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """Programs that hooks start find their own plugins of pydantic, even after a failed import."""
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    if before:
        monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", before)
    with suppress(ImportError), quick_imports():
        assert (gc.isenabled(), os.environ["PYDANTIC_DISABLE_PLUGINS"]) == (False, "__all__")
        raise ImportError
    assert (gc.isenabled(), os.environ.get("PYDANTIC_DISABLE_PLUGINS")) == (True, before)


def test_imported_objects_are_not_collected_later() -> None:
    """Later collections, such as that of the end, pass over all that has been imported."""
    gc.unfreeze()
    with quick_imports():
        pass
    assert gc.get_freeze_count() > 1000
