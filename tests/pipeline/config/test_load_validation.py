"""Settings of `skilldrop validate`: where they are, and errors in them."""

from pathlib import Path

import pytest

from catalog.model.errors import NotPossible
from pipeline.config import loader


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty project with a subfolder, which is the working directory."""
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    return tmp_path


def test_the_nearest_file_with_such_a_table_counts(project: Path) -> None:
    """A file without the table is passed over, and skilldrop.toml precedes pyproject.toml."""
    assert loader.load_validation().settings.ignore == ()
    (project / "pyproject.toml").write_text('[tool.skilldrop.validate]\nignore = ["spec"]\n')
    (project / "deeper/pyproject.toml").write_text("[tool.other]\n")
    found = loader.load_validation()
    assert (found.settings.ignore, found.folder) == (("spec",), project.resolve())
    (project / "skilldrop.toml").write_text('[validate]\nignore = ["advice"]\n')
    assert loader.load_validation().settings.ignore == ("advice",)
    (project / "other.toml").write_text('[validate]\nper-path-ignores = {old = ["spec"]}\n')
    assert loader.load_validation(project / "other.toml").settings.per_path_ignores == {
        "old": ("spec",)
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('ignores = ["spec"]', "there is no setting ignores in [validate]; did you mean ignore?"),
        (
            "select = 3",
            "select in [validate] is 3; it must be a list of finding codes and profiles",
        ),
        ('severity = {spec = "bad"}', "severity in [validate] is 'bad'; it must be a table of"),
    ],
)
def test_an_error_is_one_sentence(project: Path, line: str, message: str) -> None:
    """It names the file, the table and the key."""
    (project / "deeper/skilldrop.toml").write_text(f"[validate]\n{line}\n")
    with pytest.raises(NotPossible) as info:
        loader.load_validation()
    assert str(info.value).startswith("skilldrop.toml: ")
    assert message.lower() in str(info.value).lower()


@pytest.mark.parametrize("content", ["validate = 3\n", "[[validate]]\nselect = []\n"])
def test_a_value_that_is_no_table_is_an_error(project: Path, content: str) -> None:
    """The sentence names the table."""
    (project / "deeper/skilldrop.toml").write_text(content)
    with pytest.raises(NotPossible) as raised:
        loader.load_validation()
    assert str(raised.value) == "skilldrop.toml: [validate] must be a table."


def test_other_commands_accept_the_table(project: Path) -> None:
    """They do not use it."""
    (project / "deeper/skilldrop.toml").write_text('[validate]\nignore = ["spec"]\n')
    assert loader.load().site.enabled
