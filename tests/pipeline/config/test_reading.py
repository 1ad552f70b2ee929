"""Settings of the commands that only read the catalog."""

from pathlib import Path

import pytest

from catalog.model.errors import SettingsInvalid
from pipeline.config import loader, reading
from pipeline.config.site import Site


@pytest.fixture(autouse=True)
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work beside `here/`, with a file that stands for a catalog in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "catalog.db").touch()
    return tmp_path / "here" / "catalog.db"


@pytest.mark.parametrize(
    ("text", "variables", "option"),
    [
        ('data = "here"\nusage = false', {}, None),
        ('data = "other"\n[site]\nport = 9000\nnames = ["a"]', {"SKILLDROP_DATA": "here"}, None),
        ('data = "other"\n[site]\nenabled = false', {"SKILLDROP_DATA": "away"}, Path("here")),
        ('data = "here"\n[site]\nurl = "https://skills.example.org"', {}, None),
        ('data = "here"\n[site]\nport = 9000', {"SKILLDROP_SITE__HOST": "::1"}, None),
        ('data = "here"', {"SKILLDROP_DATA": ""}, None),
    ],
)
def test_readers_have_the_settings_of_all_other_commands(
    catalog: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    variables: dict[str, str],
    option: Path | None,
) -> None:
    """File, environment and command line count as they do elsewhere."""
    Path("skilldrop.toml").write_text(text)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings, all_settings = reading.load(data=option), loader.load(data=option)
    assert settings.catalog_path == all_settings.catalog_path == catalog
    assert settings.usage_path == all_settings.usage_path
    assert settings.site == Site(*(getattr(all_settings.site, key) for key in Site._fields))


def test_readers_work_while_another_setting_is_wrong(catalog: Path) -> None:
    """A mistake in the settings of the service does not keep agents from their skills."""
    Path("skilldrop.toml").write_text('data = "here"\nsettle_quiet = "soon"')
    assert reading.load().catalog_path == catalog


@pytest.mark.parametrize(
    "text", ["data = 5", 'data = ""', 'data = "here"\nusage = 2', 'dat = "here"', "site = 1"]
)
def test_a_wrong_setting_of_readers_is_named(text: str) -> None:
    """Their own settings, and all where there is no catalog, are validated as elsewhere."""
    Path("skilldrop.toml").write_text(text)
    with pytest.raises(SettingsInvalid, match=r"skilldrop\.toml") as told:
        reading.load()
    with pytest.raises(SettingsInvalid) as expected:
        loader.load()
    assert str(told.value) == str(expected.value)
