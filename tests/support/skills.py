"""Real skill folders, written for a test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

DESCRIPTION = "Takes a text file and gives its word count. Use when asked how long a text is."


class SkillWriter(Protocol):
    """The type of the `skill` fixture."""

    def __call__(
        self,
        folder: Path,
        *,
        name: str | None = None,
        description: str = DESCRIPTION,
        more: str = "",
        body: str = "# A skill\n",
        files: Mapping[str, str | bytes] | None = None,
    ) -> Path:
        """Write a skill and return its folder."""
        ...


def write_skill(
    folder: Path,
    *,
    name: str | None = None,
    description: str = DESCRIPTION,
    more: str = "",
    body: str = "# A skill\n",
    files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a skill and return its folder.

    name defaults to the folder's; `more` holds further lines of frontmatter. All are written as
    they are, so YAML that needs quotes needs them here. `files` are paths and contents beside
    SKILL.md; one named SKILL.md takes the place of the generated one.
    """
    frontmatter = [f"name: {name or folder.name}", f"description: {description}"]
    frontmatter += more.splitlines()
    skill_md = "\n".join(["---", *frontmatter, "---", "", body])
    for path, content in {"SKILL.md": skill_md, **(files or {})}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
