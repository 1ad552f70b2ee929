"""Random lives of a root under a real service, each checked against the promise.

    python benchmarks/soak.py --minutes 10
    python benchmarks/soak.py --seed 4711        # repeat one batch of lives

A life is a sequence of random changes. If one breaks the promise, its steps and seed are printed.
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
    """Run lives until the time is over; exit with 1 at the first broken promise."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="run only this batch")
    arguments = parser.parse_args()
    if MAY_MOUNT not in os.environ and (command := own_mounts()):
        os.execvp(command[0], [*command, sys.executable, *sys.argv])
    if not FAKETIME:
        print("libfaketime is not installed: process clocks are not changed")
    end = time.monotonic() + 60 * arguments.minutes
    batches = 0
    while time.monotonic() < end:
        number = arguments.seed if arguments.seed is not None else random.randrange(10**6)
        kind = LifeOfAProcess if number % 3 == 0 else Life
        print(f"seed {number}: {kind.__name__} …", flush=True)
        try:
            run_state_machine_as_test(seed(number)(kind), settings=LIVES)
        except BaseException:
            print(f"the promise broke; repeat with --seed {number}", flush=True)
            raise
        batches += 1
        if arguments.seed is not None:
            break
    print(f"{batches} batches of {LIVES.max_examples} lives; the promise held in all")


if __name__ == "__main__":
    main()
