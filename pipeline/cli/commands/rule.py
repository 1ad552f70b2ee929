"""Command that explains a finding: problem, reason, fix, source, examples, how to leave it out."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import yaml

from catalog.model.finding import ALWAYS, IF_STRICT, NEVER, UNLESS_PERMISSIVE, FindingType
from catalog.model.values import Acceptance
from catalog.text.visible import visible
from pipeline.authoring.code_fixes import FIXES, RENAMED
from pipeline.cli.output import terminal
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects import registry

PURPOSES: Mapping[str, str] = {
    "reading": "Raised while a folder is read, whatever the profiles.",
    **registry.PURPOSES,
    "outcome": "Problems of a file that a runtime dropped after a run, not of a skill. See "
    "[Outcomes](outcomes.md).",
}
"""Purpose of each profile, as Markdown for a page of docs/reference/."""
REJECTS: Mapping[frozenset[Acceptance], str] = {
    ALWAYS: "rejects the skill",
    UNLESS_PERMISSIVE: "rejects unless the root is permissive",
    IF_STRICT: "rejects in strict roots",
    NEVER: "never rejects",
}
"""Consequence of a finding, by the acceptances under which it rejects."""
_BYTE = re.compile("[\udc80-\udcff]")  # as `surrogateescape` decodes one that is not UTF-8
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
OMITTED = "[…]"
"""Mark in bad lines for a long text that is not shown."""


@dataclass(frozen=True, slots=True)
class Example:
    """Lines of a file, or paths of a skill's files, that raise a finding, and corrected ones."""

    bad: str
    good: str
    paths: bool = False  # one per line, with ` -> target` for a link, instead of lines of a file

    def as_markdown(self) -> str:
        """Return both as one block, with - before bad lines and + before corrected ones."""
        bad, good = (_shown(lines).split("\n") for lines in (self.bad, self.good))
        lines = list(difflib.unified_diff(bad, good, n=len(bad), lineterm=""))[3:]
        return "\n".join(["```diff", *lines, "```\n"])


def _shown(lines: str) -> str:
    """Return lines with → for a tab, and codes for bytes that are not UTF-8 and the like."""
    text = _BYTE.sub(lambda byte: f"<{ord(byte[0]) - 0xDC00:02X}>", lines.rstrip("\n"))
    return "\n".join(map(visible, text.replace("\t", "→").split("\n")))


@cache
def examples() -> Mapping[str, Example]:
    """Return an example for each code that lines or a path can show, by the code."""
    return {
        code: Example(**lines)
        for file in (Path(__file__).with_name("rule_examples.yml"), *registry.EXAMPLES)
        for code, lines in yaml.safe_load(file.read_text("utf-8")).items()
    }


@click.command()
@click.argument("code", required=False)
def rule(code: str | None) -> None:
    """Explain the finding CODE, with examples; without CODE, list all codes.

    \b
    Examples:
      skilldrop rule name-not-folder
      skilldrop rule | grep safety
    """
    if code is None:
        kinds = REGISTRY.values()
        rows = [(kind.code, kind.profile, kind.severity, kind.summary) for kind in kinds]
        for line in terminal.table(rows):
            terminal.echo(line)
        return
    if code not in REGISTRY:
        near = difflib.get_close_matches(code, REGISTRY, n=1)
        hint = f"did you mean {near[0]}?" if near else "`skilldrop rule` lists all codes."
        raise click.UsageError(f"There is no finding {code!r}; {hint}")
    terminal.echo("\n".join(_page(REGISTRY[code])))


def _page(kind: FindingType) -> Iterator[str]:
    """Yield the parts of the page, as Markdown that is easy to read as plain text."""
    yield f"# {kind.code}\n\n{kind.summary}\n"
    why = _LINK.sub(r"\1", PURPOSES[kind.profile])
    yield f"- Why: {why}"
    is_automatic = kind.code == RENAMED or kind.code in FIXES
    automatic = " `validate --fix` does it where the meaning is clear." if is_automatic else ""
    yield f"- Fix: {kind.fix}{automatic}"
    yield f"- Severity: {kind.severity}; {REJECTS[kind.rejects]}."
    yield f"- Profile: {kind.profile}\n- Source: {kind.source}.\n"
    if example := examples().get(kind.code):
        yield example.as_markdown()
    yield (
        f'Leave it out with `--ignore {kind.code}`, with `ignore = ["{kind.code}"]` below '
        f"`[validate]` in skilldrop.toml, or on one line with `# skilldrop: ignore={kind.code}` in "
        f"the frontmatter and `<!-- skilldrop: ignore={kind.code} -->` below it."
    )
