"""Names of skill files in superseded packages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model.superseded import is_skill_file, path_of, possible_paths, stored_path
from pipeline.roots.names import is_junk

names = st.sampled_from(["SKILL.md", "skill.MD", "notes.md", "SKILL.md.superseded", "会议", "a\\x"])
paths = st.lists(names | st.text("aSKILmd./\\", min_size=1), min_size=1).map("/".join)


@given(paths, st.booleans())
def test_the_path_of_a_stored_file_is_known(path: str, is_current: bool) -> None:
    """In both states."""
    assert path_of(stored_path(path, is_current=is_current)) == path


@given(paths)
def test_a_current_package_has_plain_names(path: str) -> None:
    """Every file is where it is in the skill."""
    assert stored_path(path, is_current=True) == path


@given(paths)
def test_a_superseded_package_differs_only_in_its_skill_files(path: str) -> None:
    """They keep their folder, and no search for SKILL.md finds them."""
    stored = stored_path(path, is_current=False)
    assert not is_skill_file(stored)
    assert (stored != path) == is_skill_file(path)
    assert stored.rpartition("/")[0] == path.rpartition("/")[0]


@pytest.mark.parametrize("name", ["SKILL.md", "skill.md", "Skill.md", "SKILL.MD"])
def test_no_file_of_a_skill_has_a_hidden_name(name: str) -> None:
    """Such names are ignored in the roots, so a hidden file replaces no other."""
    hidden = stored_path(name, is_current=False)
    assert is_junk(hidden)
    assert possible_paths(f"assets/{name}") == (
        f"assets/{name}",
        f"assets/{hidden}",
        f"assets/{name}",
    )


def test_other_files_have_one_path() -> None:
    """A reader tries no other."""
    assert possible_paths("scripts/run.sh") == ("scripts/run.sh",)
