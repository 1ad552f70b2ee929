"""The difference of two texts, in bounded time."""

import difflib
import time

from hypothesis import given
from hypothesis import strategies as st

from catalog.text.differences import Work, difference

LINES = st.lists(st.sampled_from("abcdefg"), max_size=30).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


def applied(old: str, new: str, work: Work) -> tuple[list[str], list[str]]:
    """Return what a difference says that was removed and added, and nothing else."""
    found = list(difference(old, new, work).lines())
    return (
        [line.text for line in found if line.kind == "del"],
        [line.text for line in found if line.kind == "add"],
    )


@given(LINES, LINES)
def test_it_is_the_unified_diff_that_python_makes_of_what_differs(old: str, new: str) -> None:
    """Line ends aside, patching the old text with it gives the new one."""
    ours = difference(old, new).unified("a", "b").splitlines()
    theirs = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "a", "b", lineterm=""))
    assert bool(ours) == bool(theirs)
    assert ours[:2] == theirs[:2]
    assert _patched(old.splitlines(), ours) == new.splitlines()


@given(LINES, LINES)
def test_without_any_work_left_it_is_still_true(old: str, new: str) -> None:
    """It says of more lines than necessary that they changed, and of none that they did not."""
    ours = difference(old, new, Work(0)).unified("a", "b").splitlines()
    assert _patched(old.splitlines(), ours) == new.splitlines()


def test_lines_in_another_order_take_no_minutes() -> None:
    """60,000 short lines, none of which stands where it stood, are compared in seconds."""
    old = "".join(f"{number:x}\n" for number in range(60_000))
    new = "".join(f"{number * 7 % 60_000:x}\n" for number in range(60_000))
    began = time.process_time()
    found = difference(old, new)
    assert time.process_time() - began < 5
    assert found.is_coarse


def test_what_both_begin_and_end_with_is_found_without_work() -> None:
    """One changed line in a long text is one changed line, however little may be compared."""
    old = [str(number) for number in range(5_000)]
    new = [*old[:2_500], "other", *old[2_501:]]
    assert applied("\n".join(old), "\n".join(new), Work(2)) == (["2500"], ["other"])


def _patched(lines: list[str], diff: list[str]) -> list[str]:
    """Apply a unified diff."""
    result, at = [], 0
    for line in diff[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            result += lines[at:first]
            at = first
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[at] == line[1:]
            at += 1
            if line.startswith(" "):
                result.append(line[1:])
    return result + lines[at:]
