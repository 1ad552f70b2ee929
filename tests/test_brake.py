"""When vanishing skills are too many to believe it."""

import pytest

from pipeline.brake import why_hold


@pytest.mark.parametrize(
    ("missing", "known", "removed_lately", "is_elsewhere", "why"),
    [
        pytest.param(0, 40, 0, True, None, id="nothing is missing"),
        pytest.param(19, 19, 0, False, None, id="few, though all"),
        pytest.param(20, 20, 0, False, "20 of 20 skills vanished at once", id="twenty, all"),
        pytest.param(20, 40, 0, False, None, id="exactly half"),
        pytest.param(21, 40, 0, False, "21 of 40 skills vanished at once", id="more than half"),
        pytest.param(500, 2000, 0, False, None, id="many, though a quarter"),
        pytest.param(6, 25, 15, False, "21 of 40 skills vanished at once", id="bit by bit"),
        pytest.param(1, 25, 19, False, None, id="bit by bit, less than half"),
        pytest.param(1, 900, 0, True, "another device lies there", id="elsewhere"),
    ],
)
def test_the_brake(missing: int, known: int, removed_lately: int, is_elsewhere: bool,
                   why: str | None) -> None:
    """Twenty or more, and more than half of what there was; on another device a single one."""
    assert why_hold(missing=missing, known=known, removed_lately=removed_lately,
                    is_elsewhere=is_elsewhere) == why
