"""Examples of findings: lines or paths that raise a code, and corrected ones that do not."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

OMITTED = "[…]"
"""Mark in bad lines for a long text that is not shown."""


@dataclass(frozen=True, slots=True)
class Example:
    """Lines of a file, or paths of a skill's files, that raise a finding, and corrected ones."""

    bad: str
    good: str
    paths: bool = False  # one per line, with ` -> target` for a link, instead of lines of a file

    def as_markdown(self) -> str:
        """Return both as blocks of code."""
        noun = " paths" if self.paths else ""
        return f"Bad{noun}:\n\n{_block(self.bad)}\nGood{noun}:\n\n{_block(self.good)}"


EXAMPLES: Mapping[str, Example] = {
    code: Example(**lines)
    for code, lines in yaml.safe_load(
        Path(__file__).with_name("rule_examples.yml").read_text("utf-8")
    ).items()
}
"""An example for each code that lines or a path can show, by the code."""


def _block(lines: str) -> str:
    shown = "".join(map(_visible, lines.rstrip("\n")))
    return f"```text\n{shown}\n```\n"


def _visible(character: str) -> str:
    if character == "\t":
        return "→"
    if character.isprintable() or character == "\n":
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as `surrogateescape` decodes it
        return f"<{code - 0xDC00:02X}>"
    return f"<U+{code:04X}>"
