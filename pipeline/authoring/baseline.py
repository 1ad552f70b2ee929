"""Baseline of known findings, beside which validation reports only new ones."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from catalog.model.errors import NotPossible
from catalog.model.finding import Finding
from catalog.model.paths import text_path
from catalog.text.visible import with_plain_line_ends
from pipeline.authoring.atomic_replace import write_whole
from pipeline.authoring.lint import Judgement

_VERSION = 1


class Known(NamedTuple):
    """Identity of a finding that stays the same when its line moves."""

    path: str  # of the file, relative to the baseline's folder
    code: str
    line: str  # hash of the field and of the line's text


@dataclass(slots=True)
class Baseline:
    """Findings of a baseline file, each with how often it occurs."""

    file: Path
    known: Counter[Known] = field(default_factory=Counter)

    @classmethod
    def read(cls, file: Path) -> "Baseline":
        """Return the baseline in a file. Raises NotPossible if it is none."""
        try:
            content = json.loads(file.read_text("utf-8"))
            if content["version"] != _VERSION:
                raise ValueError("another version")
            known = {
                Known(path, code, line): int(count)
                for path, codes in content["findings"].items()
                for code, lines in codes.items()
                for line, count in lines.items()
            }
        except OSError as error:
            raise NotPossible(
                f"The baseline {file} cannot be read: {error.strerror or error}. "
                "Write it with --write-baseline."
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotPossible(
                f"{file} is not a baseline; write it with --write-baseline."
            ) from error
        return cls(file, Counter(known))

    def new_only(self, judgement: Judgement) -> Judgement:
        """Return a judgement without the known findings."""
        met: Counter[Known] = Counter()
        new = []
        for known, finding in self._identified(judgement):
            met[known] += 1
            if met[known] > self.known[known]:
                new.append(finding)
        return replace(judgement, findings=tuple(new))

    def write(self, judged: Iterable[Judgement]) -> int:
        """Write the findings of the judged skills; return how many."""
        counts = Counter(known for one in judged for known, _ in self._identified(one))
        content: dict[str, Any] = {}
        for known, count in sorted(counts.items()):
            content.setdefault(known.path, {}).setdefault(known.code, {})[known.line] = count
        text = json.dumps({"version": _VERSION, "findings": content}, indent=1, ensure_ascii=False)
        write_whole(self.file, f"{text}\n".encode())
        return counts.total()

    def _identified(self, judgement: Judgement) -> Iterator[tuple[Known, Finding]]:
        for finding, line in with_lines(judgement):
            yield Known(self._relative(judgement.place(finding)), finding.code, line), finding

    def _relative(self, path: str) -> str:
        folder = os.path.realpath(self.file.parent)
        return text_path(os.path.relpath(os.path.realpath(path), folder))


def with_lines(judgement: Judgement) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with a hash of its field and of the text of its line.

    A finding without a line in the judged SKILL.md has the hash of an empty line.
    """
    lines = with_plain_line_ends(judgement.text).split("\n")
    for finding in judgement.findings:
        has_line = finding.path == judgement.document and 0 < (finding.line or 0) <= len(lines)
        text = lines[finding.line - 1].strip() if has_line and finding.line else ""
        parts = f"{finding.field or ''}\0{text}".encode("utf-8", "replace")
        yield finding, hashlib.sha256(parts).hexdigest()[:16]
