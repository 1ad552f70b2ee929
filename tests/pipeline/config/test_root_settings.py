"""Settings of roots that are repositories: accepted forms, and refusals that show no secret."""

from pathlib import Path

import pytest

from catalog.model.errors import NotPossible
from pipeline.config.loader import load


def root(folder: Path, text: str) -> Path:
    """Write settings with one root, and return the file."""
    file = folder / "skilldrop.toml"
    file.write_text(f"[[roots]]\n{text}\n")
    return file


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.org/team/skills.git",
        "http://127.0.0.1:8000/team/skills",
        "ssh://git@git.example.org:2222/team/skills.git",
        "git@git.example.org:team/skills.git",
        "file:///srv/git/skills.git",
        "/srv/git/skills.git",
    ],
)
def test_forms_of_urls(tmp_path: Path, url: str) -> None:
    """Each common form is accepted, and its mirror lies in the data directory."""
    settings = load(root(tmp_path, f'git = "{url}"'), data=tmp_path / "data")
    (spec,) = settings.root_specs
    assert Path(spec.path).parent.parent == tmp_path / "data/mirrors"
    assert spec.origin
    assert spec.origin.url == url


@pytest.mark.parametrize(
    "url",
    [
        "https://u:hunter2@x.example/a",
        "https://hunter2@x.example/a",
        "ssh://git:hunter2@x.example/a",
        "u:hunter2@x.example:a",
        "https://x.example/a?token=hunter2",
    ],
)
def test_credentials_in_urls_are_refused_and_not_shown(tmp_path: Path, url: str) -> None:
    """A password or token is refused with a sentence that does not contain it."""
    with pytest.raises(NotPossible, match="credential helper") as refused:
        load(root(tmp_path, f'git = "{url}"'))
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('git = "ext::sh -c id"', "URL of a git repository"),
        ('git = "--upload-pack=id"', "URL of a git repository"),
        ('git = "ssh://-oProxyCommand=id/a"', "URL of a git repository"),
        ('git = "/a"\nref = "--upload-pack=id"', "a branch, a tag or a commit"),
        ('git = "/a"\nref = "a:b"', "a branch, a tag or a commit"),
        ('git = "/a"\nref = "a..b"', "a branch, a tag or a commit"),
        ('git = "/a"\npath = "../b"', "path of a folder in the repository"),
        ('git = "/a"\npath = "/b"', "path of a folder in the repository"),
        ('git = "/a"\nevery = "soon"', 'a time such as "5m"'),
        ('git = "/a"\nevry = "5m"', "did you mean every"),
        ('git = "/a"\n[[roots]]\ngit = "/a"', "configured twice"),
    ],
)
def test_settings_that_cannot_work_are_refused(tmp_path: Path, more: str, message: str) -> None:
    """With one sentence; none of them reaches git."""
    with pytest.raises(NotPossible, match=message):
        load(root(tmp_path, more))


@pytest.mark.parametrize(("every", "seconds"), [("5m", 300.0), ("1.5h", 5400.0), ("30 s", 30.0)])
def test_times_have_units(tmp_path: Path, every: str, seconds: float) -> None:
    """Seconds, minutes, hours and days."""
    settings = load(root(tmp_path, f'git = "/a"\nevery = "{every}"'), data=tmp_path / "data")
    assert [pause for _, pause in settings.git_roots] == [seconds]
