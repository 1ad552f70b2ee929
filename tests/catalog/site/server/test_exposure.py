"""Warning about a site that anybody may read."""

from pathlib import Path

import pytest

from catalog.filesystem import token_file
from catalog.site.server import exposure
from tests.support.records import NOON


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "files.example.org"])
def test_a_site_beyond_this_machine_needs_protection(tmp_path: Path, host: str) -> None:
    """A token or a stated proxy ends the warning."""
    catalog = tmp_path / "catalog.db"
    warning = exposure.warning(catalog, host, behind_proxy=False)
    assert warning
    assert host in warning
    assert exposure.warning(catalog, host, behind_proxy=True) is None
    token_file.add(tmp_path / token_file.NAME, "lab", NOON)
    assert exposure.warning(catalog, host, behind_proxy=False) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_a_site_of_this_machine_needs_none(tmp_path: Path, host: str) -> None:
    """Nobody else reaches it."""
    assert exposure.warning(tmp_path / "catalog.db", host, behind_proxy=False) is None
