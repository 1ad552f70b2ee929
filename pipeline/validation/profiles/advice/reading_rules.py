"""Rules of advice about the files that an agent should reach from SKILL.md, and read whole."""

from collections.abc import Iterator
from posixpath import basename

from catalog.model.finding import Finding
from catalog.text import humanize, tokens
from catalog.text.quoting import printable
from pipeline.roots.native_files import may_be_native
from pipeline.roots.text_files import FILE_BYTES, is_document
from pipeline.validation.profiles.advice.codes import FILE_UNREFERENCED, REFERENCE_TOO_LONG
from pipeline.validation.skill import Skill

REFERENCE_TOKENS = 5_000
"""Source: Agent Skills specification, Progressive disclosure, which asks for small files."""

MOST_ALIKE = 10
"""Number of findings of one code that are listed individually."""

_MOST_CANDIDATES = 50  # a folder with more files is a library or a data set
_FOLDERS = ("scripts/", "references/", "reference/")
_OF_TOOLS = frozenset(
    """
    conftest.py go.mod go.sum license license.txt license.md makefile package.json
    package-lock.json pyproject.toml readme.md requirements.txt tsconfig.json uv.lock yarn.lock
    """.split()
)
"""Names of files that tools read, or that are for people."""


def files_are_referenced(skill: Skill) -> Iterator[Finding]:
    """Find scripts and references that no text mentions which an agent reaches from SKILL.md."""
    files = [
        file.path
        for file in skill.files
        if file.path.startswith(_FOLDERS)
        and (file.is_text or not may_be_native(file.path, file.mode))  # which is another finding
    ]
    if not files or len(files) > _MOST_CANDIDATES or not skill.parsed.body:
        return
    stray = [path for path in files if path not in skill.led_to and _is_for_agents(path)]
    for path in stray[: 1 if len(stray) > MOST_ALIKE else None]:
        more = humanize.count(len(stray) - 1, "more file") if len(stray) > MOST_ALIKE else ""
        yield FILE_UNREFERENCED.at(
            f"Nothing that an agent reads names {printable(path)}{more and f', or {more}'}.",
            path=path,
        )


def references_are_short(skill: Skill) -> Iterator[Finding]:
    """Find documents of more than about 5,000 tokens to which SKILL.md leads."""
    for file in skill.files:
        if file.path == skill.document or not is_document(file.path):
            continue
        if file.size <= REFERENCE_TOKENS // 2 or file.path not in skill.led_to:
            continue  # a character costs two tokens at most
        text = skill.other_texts.get(file.path, "")
        cost = tokens.estimate_body(text)
        if cost > REFERENCE_TOKENS or file.size > FILE_BYTES:
            size = f"about {cost:,} tokens" if text else f"{file.size:,} bytes"
            yield REFERENCE_TOO_LONG.at(
                f"The file has {size}; {REFERENCE_TOKENS:,} tokens are recommended.",
                path=file.path,
            )


def _is_for_agents(path: str) -> bool:
    name = basename(path).lower()
    return not (name.startswith((".", "_")) or name in _OF_TOOLS or "/tests/" in path)
