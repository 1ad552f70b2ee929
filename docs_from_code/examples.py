"""Examples of findings: lines that raise a code, and lines that mean the same and do not."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True)
class Example:
    """Lines of SKILL.md, as they raise a finding and as they do not."""

    bad: str
    good: str

    def as_markdown(self) -> str:
        """Return both as blocks of code."""
        return f"Bad:\n\n{_block(self.bad)}\nGood:\n\n{_block(self.good)}"


EXAMPLES: Mapping[str, Example] = {
    code: Example(**lines)
    for code, lines in yaml.safe_load(
        Path(__file__).with_name("examples.yml").read_text("utf-8")
    ).items()
}
"""An example for each code that a SKILL.md alone can raise and show."""


def _block(lines: str) -> str:
    shown = "".join(map(_visible, lines.rstrip("\n")))
    return f"```text\n{shown}\n```\n"


def _visible(character: str) -> str:
    if character == "\t":
        return "→"
    is_shown = character.isprintable() or character == "\n"
    return character if is_shown else f"<U+{ord(character):04X}>"
