"""Outcomes in the bytes of a file: one, or one in each line."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from catalog.model.outcome import BadOutcome, JudgedOutcome, RunFile
from pipeline.outcomes import files
from pipeline.outcomes.codes import OUTCOME_TOO_LARGE, OUTCOME_UNREADABLE
from pipeline.outcomes.files import Content
from pipeline.outcomes.parser import judge_outcome


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """Outcomes of a file, and how much of it they are."""

    outcomes: tuple[JudgedOutcome, ...]
    bytes: int = 0  # of the data: complete lines
    lines: int = 0
    is_whole: bool = True  # nothing more waits to be read

    @property
    def bad(self) -> tuple[BadOutcome, ...]:
        """The rejected ones."""
        return tuple(each for each in self.outcomes if isinstance(each, BadOutcome))


def judged(path: str, content: Content) -> JudgedFile:
    """Return the outcome of a file of one."""
    if len(content.data) > files.MOST_BYTES:
        return JudgedFile((BadOutcome(RunFile(path, None), (OUTCOME_TOO_LARGE.at(),)),))
    file = RunFile(path, hashlib.sha256(content.data).hexdigest())
    return JudgedFile((judge_outcome(file, content.data),))


def unreadable(path: str, error: OSError) -> JudgedFile:
    """Return the finding about a file that cannot be read."""
    finding = OUTCOME_UNREADABLE.at(f"It cannot be read: {error.strerror}.")
    return JudgedFile((BadOutcome(RunFile(path, None), (finding,)),))


def judged_lines(
    path: str, content: Content, before: int, occurrences: Callable[[str], int]
) -> JudgedFile:
    """Return the outcomes of the lines of a file of JSON Lines.

    `before` is the number of lines before them, and `occurrences` the number of equal ones by
    their first run_id. A last line without an end counts only if it is valid: its runtime may
    still be writing it.
    """
    data, is_whole = content.data, len(content.data) <= files.MOST_BYTES
    if not is_whole:
        data = data[: data.rfind(b"\n") + 1]
        if not data:
            return JudgedFile((BadOutcome(RunFile(path, None), (OUTCOME_TOO_LARGE.at(),)),))
    *lines, last = data.split(b"\n")
    known: Counter[str] = Counter()
    outcomes = []
    for number, line in enumerate((*lines, last), start=before + 1):
        if text := line.strip():
            file = RunFile(path, hashlib.sha256(text).hexdigest(), number)
            if file.run_id not in known:
                known[file.run_id] = occurrences(file.run_id)
            known[file.run_id] += 1
            outcomes.append(judge_outcome(replace(file, occurrence=known[file.run_id]), text))
    is_open = bool(last.strip()) and isinstance(outcomes[-1], BadOutcome)
    size = len(data) - len(last) * is_open
    return JudgedFile(tuple(outcomes), size, len(lines), is_whole)
