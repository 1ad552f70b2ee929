"""Number of removals from which they are held."""

import pytest

from pipeline.service.scanning.removals import reason_to_hold


@pytest.mark.parametrize(
    ("missing", "known", "removed_lately", "why"),
    [
        pytest.param(0, 40, 20, None, id="nothing is missing"),
        pytest.param(19, 19, 0, None, id="few, though all"),
        pytest.param(20, 20, 0, "20 of 20 skills disappeared at once", id="twenty, all"),
        pytest.param(20, 40, 0, None, id="exactly half"),
        pytest.param(21, 40, 0, "21 of 40 skills disappeared at once", id="more than half"),
        pytest.param(500, 2000, 0, None, id="many, though a quarter"),
        pytest.param(6, 25, 15, "21 of 40 skills disappeared at once", id="bit by bit"),
        pytest.param(1, 25, 19, None, id="bit by bit, less than half"),
    ],
)
def test_many_removals_at_once_are_held(
    missing: int, known: int, removed_lately: int, why: str | None
) -> None:
    """Twenty or more, if they are more than half of the skills."""
    reason = reason_to_hold(missing=missing, known=known, removed_lately=removed_lately)
    assert (reason and reason.message) == why
