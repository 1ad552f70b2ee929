"""The command that installs the libraries of an extra."""

import sys
from pathlib import Path

import pytest

from catalog.model.errors import NotPossible
from pipeline.cli.extras import needing


@pytest.mark.parametrize(
    ("prefix", "installer", "command"),
    [
        ("/home/a/.venv", "pip", "PYTHON -m pip install 'mcp<3,>=2.3'"),
        ("/home/a/uv/tools/skilldrop", "uv", "uv pip install --python PYTHON 'mcp<3,>=2.3'"),
        ("/home/a/pipx/venvs/skilldrop", "pip", "pipx inject skilldrop 'mcp<3,>=2.3'"),
    ],
)
def test_the_command_is_that_of_the_installer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str, installer: str, command: str
) -> None:
    """It names the libraries, so that it works wherever skilldrop itself came from."""
    info = tmp_path / "skilldrop-1.dist-info"
    info.mkdir()
    (info / "INSTALLER").write_text(f"{installer}\n")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: skilldrop\nVersion: 1\nRequires-Dist: click>=8\n"
        "Provides-Extra: mcp\nRequires-Dist: mcp<3,>=2.3; extra == 'mcp'\n"
        "Provides-Extra: dask\nRequires-Dist: distributed; extra == 'dask'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "prefix", prefix)
    with pytest.raises(NotPossible) as caught, needing("mcp"):
        import nowhere_installed  # type: ignore[import-not-found]  # noqa: F401
    assert command.replace("PYTHON", sys.executable) in str(caught.value)
