"""Baseline of known findings, beside which validation reports only new ones."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from catalog.model.errors import SettingsInvalid
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
    _met: dict[str, Counter[Known]] = field(default_factory=dict)  # by the path of a skill

    @classmethod
    def read(cls, file: Path) -> "Baseline":
        """Return the baseline in a file. Raises SettingsInvalid if it is none."""
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
            raise SettingsInvalid(
                f"The baseline {file} cannot be read: {error.strerror or error}. "
                "Write it with --write-baseline."
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SettingsInvalid(
                f"{file} is not a baseline; write it with --write-baseline."
            ) from error
        return cls(file, Counter(known))

    def new_only(self, judgement: Judgement) -> Judgement:
        """Return a judgement without the known findings; a later one of a skill replaces it."""
        met: Counter[Known] = Counter()
        new = []
        for finding, line in with_lines(judgement):
            known = Known(self._relative(judgement.place(finding)), finding.code, line)
            met[known] += 1
            if met[known] > self.known[known]:
                new.append(finding)
        self._met[self._relative(judgement.path)] = met
        return replace(judgement, findings=tuple(new))

    def gone(self) -> list[Known]:
        """Return the known findings that the judged skills no longer have, or whose file is gone.

        A skill is judged if its judgement has passed through `new_only`.
        """
        met = self._all_met()
        return sorted(
            known
            for known, count in self.known.items()
            if met[known] < count and self._is_judged(known.path)
        )

    def write(self, judged: Iterable[Judgement]) -> int:
        """Write the findings of the judged skills in place of their old ones; return how many.

        Those of skills that were not judged stay, unless their files are gone.
        """
        for judgement in judged:
            self.new_only(judgement)
        met = self._all_met()
        kept = {known: n for known, n in self.known.items() if not self._is_judged(known.path)}
        content: dict[str, Any] = {}
        for known, count in sorted({**kept, **met}.items()):
            content.setdefault(known.path, {}).setdefault(known.code, {})[known.line] = count
        text = json.dumps({"version": _VERSION, "findings": content}, indent=1, ensure_ascii=False)
        write_whole(self.file, f"{text}\n".encode())
        return met.total()

    def _all_met(self) -> Counter[Known]:
        total: Counter[Known] = Counter()
        for met in self._met.values():  # `sum` would copy the total for each
            total.update(met)
        return total

    def _relative(self, path: str) -> str:
        folder = os.path.realpath(self.file.parent)
        return text_path(os.path.relpath(os.path.realpath(path), folder))

    def _is_judged(self, path: str) -> bool:
        parts = path.split("/")
        if any("/".join(parts[:end]) in self._met for end in range(1, len(parts) + 1)):
            return True
        file = self.file.parent / path.partition("!")[0]
        return "." in self._met or not os.path.lexists(file)


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
