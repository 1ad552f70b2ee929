"""Namespaces of skills, from the folders they lie in."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model import naming
from catalog.model.naming import (
    SKILL_ID_BYTES,
    install_name,
    qualified_name,
    skill_id,
    version_name,
)


@pytest.mark.requirement("prd/install-id")
@pytest.mark.parametrize(
    ("name", "plugin", "path", "expected"),
    [
        pytest.param("pdf-tools", None, "pdf-tools", "pdf-tools", id="a plain name is itself"),
        pytest.param("PDF  Tools!", None, "x", "pdf-tools", id="runs of others become a hyphen"),
        pytest.param("snake_case", None, "x", "snake-case", id="an underscore is no letter"),
        pytest.param("--edge--", None, "x", "edge", id="no hyphen at the ends"),
        pytest.param("ﬁle①", None, "x", "file1", id="NFKC"),
        pytest.param("数据分析", None, "x", "数据分析", id="Chinese letters stay"),
        pytest.param(None, None, "a/Folder Name", "folder-name", id="no name: the folder's"),
        pytest.param("!!!", None, "a/b", "b", id="nothing usable in the name: the folder's"),
        pytest.param("!", None, "a/…", "skill-c39c48c4", id="nothing usable: the path's hash"),
        pytest.param("Skill", "My Plugin", "p/x", "my-plugin--skill", id="plugin"),
        pytest.param("skill", "!", "!/x", "bb7208bc--skill", id="a plugin without a letter"),
    ],
)
def test_skill_id(name: str | None, plugin: str | None, path: str, expected: str) -> None:
    """A skill_id is the slug of the qualified name, else of the folder, else a hash."""
    assert skill_id(name, plugin, path) == expected


@pytest.mark.requirement("textbook/plugin-apart")
def test_a_plugins_skill_never_has_the_id_of_a_bare_one() -> None:
    """Only qualification gives two hyphens in a row."""
    assert skill_id("p--s", None, "x") == "p-s"
    assert skill_id("s", "p", "x") == "p--s"


def test_long_names_stay_apart_and_fit_a_directory() -> None:
    """Names that differ only beyond the limit get different ids within it."""
    one, two = (skill_id("长" * 100 + end, None, "x") for end in "ab")
    assert one != two
    assert max(len(one.encode()), len(two.encode())) <= SKILL_ID_BYTES


@given(st.text(), st.none() | st.text(min_size=1), st.text())
def test_any_skill_id_is_safe_as_a_directory(name: str, plugin: str | None, path: str) -> None:
    """For any names, the id is short, not empty, not hidden and not a path."""
    own = skill_id(name, plugin, path)
    assert 0 < len(own.encode()) <= SKILL_ID_BYTES
    assert all(character.isalnum() or character == "-" for character in own)
    assert own == skill_id(name, plugin, path)


@pytest.mark.requirement("textbook/plugin-name")
def test_qualified_name() -> None:
    """A plugin's skill carries its plugin's name."""
    assert qualified_name("skill", "plugin") == "plugin:skill"
    assert qualified_name("skill", None) == "skill"


@pytest.mark.requirement("prd/packages-version-name")
def test_version_name_is_utc_to_the_second() -> None:
    """The time zone of the clock does not matter."""
    tokyo = datetime(2026, 1, 2, 8, 4, 5, tzinfo=timezone(timedelta(hours=9)))
    assert version_name(tokyo) == "20260101-230405"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("", "20260102-030405"),
        ("20260102-030404-9", "20260102-030405"),
        ("20260102-030405", "20260102-030405-2"),
        ("20260102-030405-2", "20260102-030405-3"),
        ("20260102-030405-9", "20260102-030406"),
        ("20260102-040405", "20260102-040405-2"),  # the clock was set back since
    ],
)
def test_a_version_sorts_behind_the_one_before(after: str, expected: str) -> None:
    """In a directory listing the newest comes last, even if the clock goes back."""
    name = version_name(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), after)
    assert name == expected
    assert name > after


@pytest.mark.parametrize(
    ("slug", "start"),
    [
        ("pdf", "pdf"),
        ("a-1", "a-1"),
        ("office--pdf", "office-pdf-"),
        ("café", "cafe-"),
        ("会议纪要", "skill-"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "x" * 55 + "-"),
    ],
)
def test_an_install_name_has_only_plain_characters(slug: str, start: str) -> None:
    """It is the skill_id, or what is left of it with a hash by which no other skill has it."""
    name = install_name(slug)
    assert name.startswith(start)
    assert len(name) == len(start) + (8 if name != slug else 0)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        ("none", "a/b/pdf", None),
        ("folder", "pdf", None),
        ("folder", "a/b/pdf", "a"),
        ("folder", "a.zip!/pdf", "a"),
        ("path", "pdf", None),
        ("path", "a/b/pdf", "a.b"),
        ("plugin", "office", "office"),
        ("plugin", "office/skills/pdf", "office"),
    ],
)
def test_a_namespace_comes_from_the_path(rule: str, path: str, expected: str | None) -> None:
    """By the rule of the root."""
    assert naming.namespace_of(path, rule) == expected
