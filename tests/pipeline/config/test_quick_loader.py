"""Settings of scans without the validation."""

from pathlib import Path

import pytest

from catalog.model.errors import SettingsInvalid
from pipeline.config import loader, quick_loader
from pipeline.config.data_paths import DataPaths
from pipeline.config.scan_settings import ScanSettings, UsualSettings

KEYS = (
    *(key for model in (ScanSettings, DataPaths) for key, value in vars(model).items()
      if isinstance(value, property)),
    *UsualSettings.__dataclass_fields__,
)  # fmt: skip


@pytest.fixture(autouse=True)
def work_beside_a_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a root, a link to it, and a loop of links."""
    monkeypatch.chdir(tmp_path)
    Path("watched").mkdir()
    Path("link").symlink_to("watched")
    Path("loop").symlink_to("loop")


@pytest.mark.parametrize(
    ("text", "variables", "options"),
    [
        (None, {}, {}),
        ("", {}, {}),
        ('watched = "link"\ndata = "~/there"', {}, {}),
        ('watched = "link/../watched"', {"SKILLDROP_DATA": "link"}, {"data": Path("elsewhere")}),
        ('[validate]\nselect = ["spec"]', {"SKILLDROP_WATCHED": "link"}, {}),
    ],
)
def test_settings_that_need_no_validation_are_those_of_the_validation(
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
    variables: dict[str, str],
    options: dict[str, Path],
) -> None:
    """Every setting of a scan has the same value either way."""
    if text is not None:
        Path("skilldrop.toml").write_text(text)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    quick, validated = quick_loader.load(**options), loader.load(**options)
    assert isinstance(quick, UsualSettings)
    assert "quota" in KEYS
    assert {key: getattr(quick, key) for key in KEYS} == {
        key: getattr(validated, key) for key in KEYS
    }


def test_other_settings_are_validated(tmp_path: Path) -> None:
    """One more key, and all have the values of the validation."""
    Path("skilldrop.toml").write_text("[limits]\nfiles = 3")
    assert quick_loader.load() == loader.load()
    assert quick_loader.load().folder_limits.files == 3


@pytest.mark.parametrize(
    "text",
    [
        'wached = "x"',
        "watched = 5",
        'data = ""',
        'data = "loop"',
        'watched = "loop"',
        'watched = "~nobody-here/x"',
        'data = "watched"',
        'data = "link/var"',
        'watched = "."',
        'watched = "var/outcomes"',
        "settle_quiet = -1",
    ],
)
def test_a_wrong_setting_is_named_as_by_the_validation(text: str) -> None:
    """Directories inside one another, also through links, do not pass, nor does anything else."""
    Path("skilldrop.toml").write_text(text)
    with pytest.raises(SettingsInvalid) as expected:
        loader.load()
    with pytest.raises(SettingsInvalid) as told:
        quick_loader.load()
    assert str(told.value) == str(expected.value)
