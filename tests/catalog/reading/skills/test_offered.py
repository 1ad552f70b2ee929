"""Pages of the skills that agents or users may start."""

from pathlib import Path

import pytest

from catalog.model.errors import NotInCatalog
from catalog.reading.skills import offered
from tests.support.shelf import Shelf
from tests.support.skills import write_skill


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Return a shelf with skills of several priorities, for models, users and both."""
    made = Shelf(tmp_path)
    for name, priority in (("low", "0.1"), ("none", None), ("also-none", None), ("high", "0.9")):
        more = f"metadata:\n  priority: '{priority}'" if priority else ""
        write_skill(made.root / name, more=more)
    write_skill(made.root / "for-people", more="disable-model-invocation: true")
    write_skill(made.root / "for-models", more="user-invocable: false")
    made.scan()
    return made


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9])
def test_pages_together_are_all_skills_in_index_order(shelf: Shelf, limit: int) -> None:
    """However many are on a page."""
    names: list[str] = []
    after = None
    while True:
        rows, after = offered.page(shelf.db, "model", limit, after)
        names += [row["name"] for row in rows]
        if after is None:
            break
        assert len(rows) == limit
    assert names == ["high", "low", "also-none", "for-models", "none"]


@pytest.mark.requirement("textbook/mode-users", "textbook/mode-models")
def test_users_and_models_have_their_own_skills(shelf: Shelf) -> None:
    """A skill that one may not start is neither listed nor found for it."""
    rows, _ = offered.page(shelf.db, "user", 9)
    assert [row["name"] for row in rows] == ["high", "low", "also-none", "for-people", "none"]
    assert offered.one(shelf.db, "user", "for-people")["name"] == "for-people"
    for starter, skill_id in (("model", "for-people"), ("user", "for-models"), ("user", "x")):
        with pytest.raises(NotInCatalog):
            offered.one(shelf.db, starter, skill_id)  # type: ignore[arg-type]
    with pytest.raises(NotInCatalog):
        offered.page(shelf.db, "user", 9, 999)
