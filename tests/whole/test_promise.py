"""Agreement of catalog and folder after random lives of a root."""

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.promise import Life, LifeOfAProcess, LifeUnderReview

LIVES = settings(
    max_examples=6,
    stateful_step_count=25,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


def test_the_promise_holds_after_any_life_of_a_root() -> None:
    """In a thread, with the same lives each time; `make soak` lives others."""
    run_state_machine_as_test(seed(7)(Life), settings=LIVES)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_promise_holds_for_the_program_itself() -> None:
    """In a process with full scans, which is suspended and whose helpers are killed."""
    few = settings(LIVES, max_examples=3, stateful_step_count=15)
    run_state_machine_as_test(seed(5)(LifeOfAProcess), settings=few)


def test_the_promise_holds_under_review() -> None:
    """Agents get approved content only, whatever reviewers decide meanwhile."""
    few = settings(LIVES, max_examples=4)
    run_state_machine_as_test(seed(3)(LifeUnderReview), settings=few)
