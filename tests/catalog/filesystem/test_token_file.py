"""File with the readers' tokens."""

import json
import os
import stat
from pathlib import Path

import pytest

from catalog.filesystem import token_file
from catalog.model.errors import TokensInvalid
from tests.support.records import NOON


def test_only_the_hash_is_stored(tmp_path: Path) -> None:
    """The file is for its owner alone, and the token is not in it."""
    path = tmp_path / "var" / "tokens.json"
    secret = token_file.add(path, "lab", NOON)
    assert secret not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert token_file.is_one_of(token_file.load(path), secret)
    assert not token_file.is_one_of(token_file.load(path), secret + "x")
    assert os.listdir(path.parent) == ["tokens.json"]


def test_a_change_is_seen_at_once(tmp_path: Path) -> None:
    """A site that runs knows new tokens and forgets removed ones."""
    path = tmp_path / "tokens.json"
    assert token_file.load(path) == ()
    token_file.add(path, "one", NOON)
    assert [token.name for token in token_file.load(path)] == ["one"]
    token_file.add(path, "two", NOON)
    assert [token.name for token in token_file.load(path)] == ["one", "two"]
    assert not token_file.remove(path, "one")
    assert [token.name for token in token_file.load(path)] == ["two"]


def test_the_last_token_is_removed_only_on_purpose(tmp_path: Path) -> None:
    """Revoking a token must not open the site to everybody by the way."""
    path = tmp_path / "tokens.json"
    token_file.add(path, "lab", NOON)
    with pytest.raises(TokensInvalid, match="--open"):
        token_file.remove(path, "lab")
    assert token_file.remove(path, "lab", opens=True)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [("lab", "already"), ("", "letters"), ("a b", "letters"), ("-x", "letters"), ("a" * 65, "64")],
)
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str, message: str) -> None:
    """Names are short, plain and different."""
    path = tmp_path / "tokens.json"
    token_file.add(path, "lab", NOON)
    with pytest.raises(TokensInvalid, match=message):
        token_file.add(path, name, NOON)


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    """The message lists them."""
    path = tmp_path / "tokens.json"
    token_file.add(path, "lab", NOON)
    with pytest.raises(TokensInvalid, match=r"no token other. The tokens are: lab\."):
        token_file.remove(path, "other")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"tokens": []}',
        '{"tokens": [{"name": "x"}]}',
        json.dumps({"tokens": [{"name": "x", "sha256": "short", "created": ""}]}),
    ],
)
def test_a_damaged_file_is_not_the_same_as_none(tmp_path: Path, text: str) -> None:
    """It is an error, because no file means that everybody may read."""
    path = tmp_path / "tokens.json"
    path.write_text(text)
    with pytest.raises(TokensInvalid, match="damaged"):
        token_file.load(path)
