"""Libraries for agents in Python, which load a folder of skills with their own loaders."""

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar

from tests.clients.client import CHINESE, LONG, MISNAMED, NAMELESS
from tests.clients.packages import PACKAGES, Files
from tests.clients.sources import FolderClient

LINE_ENDS = {
    "crlf": "it gives texts back with `\\n` at the end of lines, also where they have `\\r\\n`"
}
SCRIPT = Path(__file__).with_name("load_folder.py")


class Library(FolderClient):
    """Library whose loader runs in the Python of the clients."""

    is_python = True
    loader: ClassVar[str]
    """Name of its function in load_folder.py."""

    def skills(self) -> dict[str, Files]:
        """Return the folders of the loaded skills, with the content that the library gives back.

        A file that the library gives back counts with those bytes, all others as they lie in the
        folder that it names.
        """
        answer = json.loads(self.run("python", SCRIPT, self.loader, self.given))
        self.messages = answer["messages"]
        return {Path(skill["folder"]).name: self._files(skill) for skill in answer["skills"]}

    def _files(self, skill: dict[str, Any]) -> Files:
        folder = Path(skill["folder"])
        files = self.read(folder)
        if skill["body"] is not None and skill["body"].strip() != _body(folder / "SKILL.md"):
            files["SKILL.md"] = (hashlib.sha256(skill["body"].encode()).hexdigest(), False)
        for path, digest in skill["files"].items():
            _, executable = files.get(path, ("", False))
            files[path] = (digest, executable)
        return files


def _body(skill_md: Path) -> str:
    """Return the text below the frontmatter."""
    _, _, below = skill_md.read_bytes().decode().partition("\n---")
    return below.strip()


class FastMcpFolder(Library):
    """FastMCP."""

    title, package, loader = "FastMCP `SkillsDirectoryProvider`", "fastmcp", "fastmcp"
    reads, spoiled = "all files, as resources", tuple(LINE_ENDS)
    missing: ClassVar = {
        "数据清洗": "it lists the skill, but does not find its resources by their own addresses",
        **LINE_ENDS,
    }


class GoogleAdk(Library):
    """Google's Agent Development Kit."""

    title, package, loader = "Google ADK `load_skill_from_dir`", "google-adk", "google_adk"
    reads = "the text of SKILL.md, `references/`, `assets/`, `scripts/`"
    missing: ClassVar = {**NAMELESS, **LONG, **CHINESE, **MISNAMED}


class Strands(Library):
    """Strands Agents."""

    title, package, loader = "Strands `strict=True`", "strands-agents", "strands"
    reads = "the text of SKILL.md"
    missing: ClassVar = {**NAMELESS, **CHINESE, **MISNAMED}


class AgentFramework(Library):
    """Microsoft's Agent Framework."""

    title, package = "Microsoft agent-framework `FileSkillsSource`", "agent-framework-core"
    loader, follows_links = "agent_framework", False
    reads, spoiled = "SKILL.md, and the text files that it offers", tuple(LINE_ENDS)
    missing: ClassVar = {**NAMELESS, **LONG, **CHINESE, **MISNAMED, **LINE_ENDS}


class DeepAgents(Library):
    """Deep Agents of LangChain."""

    title, package, loader = "deepagents `virtual_mode=True`", "deepagents", "deepagents"
    reads, follows_links = "all files, by its backend", False
    missing = NAMELESS


class PydanticAi(Library):
    """Skills for Pydantic AI."""

    title, package, loader = "pydantic-ai-skills", "pydantic-ai-skills", "pydantic_ai_skills"
    reads, spoiled = "the text of SKILL.md, all text files, and scripts", tuple(LINE_ENDS)
    missing: ClassVar = {**MISNAMED, **LINE_ENDS}


class Agno(Library):
    """agno."""

    title, package, loader = "agno `LocalSkills`", "agno", "agno"
    reads = "the text of SKILL.md, `references/`, `scripts/`"
    missing: ClassVar = dict.fromkeys(
        [package.key for package in PACKAGES if package.valid],
        "one skill that breaks the specification stops the whole folder",
    )


class AgnoUnchecked(Agno):
    """agno without its own validation."""

    title, loader = "agno `LocalSkills(validate=False)`", "agno_unchecked"
    missing: ClassVar = {}


class SkillsRef(Library):
    """Reference library of the specification."""

    title, package, loader = "skills-ref `validate`", "skills-ref", "skills_ref"
    reads = "none: it validates"
    missing: ClassVar = {**NAMELESS, **LONG, **MISNAMED}


LIBRARIES: tuple[type[Library], ...] = (
    FastMcpFolder,
    GoogleAdk,
    Strands,
    AgentFramework,
    DeepAgents,
    PydanticAi,
    Agno,
    AgnoUnchecked,
    SkillsRef,
)
