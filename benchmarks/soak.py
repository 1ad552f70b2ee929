"""Lives random lives of a root under a real service for as long as is asked, and checks each.

    python benchmarks/soak.py --minutes 10
    python benchmarks/soak.py --seed 4711        # one batch of lives again

A life that breaks the promise is printed as the steps that lead there, with its seed.
"""

import argparse
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.departures import MAY_MOUNT, own_mounts
from tests.support.promise import Life, LifeOfAProcess
from tests.support.serving import FAKETIME

LIVES = settings(
    max_examples=10,
    stateful_step_count=40,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


def main() -> None:
    """Live until the time is over; end with 1 at the first broken promise."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="live this batch alone")
    given = parser.parse_args()
    if MAY_MOUNT not in os.environ and (words := own_mounts()):
        os.execvp(words[0], [*words, sys.executable, *sys.argv])
    if not FAKETIME:
        print("libfaketime is not installed: no clock of a process is set")
    end = time.monotonic() + 60 * given.minutes
    batches = 0
    while time.monotonic() < end:
        number = given.seed if given.seed is not None else random.randrange(10**6)
        kind = LifeOfAProcess if number % 3 == 0 else Life
        print(f"seed {number}: {kind.__name__} …", flush=True)
        try:
            run_state_machine_as_test(seed(number)(kind), settings=LIVES)
        except BaseException:
            print(f"the promise broke; again with --seed {number}", flush=True)
            raise
        batches += 1
        if given.seed is not None:
            break
    print(f"{batches} batches of {LIVES.max_examples} lives; the promise held in all")


if __name__ == "__main__":
    main()
