"""Script for the Python of the clients: load a folder of skills with one library; print JSON.

Nothing in a skill is executed: libraries that can run scripts are only asked for their text.
"""

import asyncio
import hashlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Loaded:
    """Skill that a library has loaded, and all content that its interface gives back."""

    name: str
    folder: str
    """Folder that the library names; its own name for the skill if it names none."""

    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the files that it gives back, by their path below the folder."""

    body: str | None = None
    """Text below the frontmatter, if it gives that instead of SKILL.md."""

    def add(self, path: str, content: str | bytes) -> None:
        """Add a file that the library gives back, as text or as bytes."""
        data = content.encode() if isinstance(content, str) else content
        self.files[path] = hashlib.sha256(data).hexdigest()


async def fastmcp(folder: Path) -> list[Loaded]:
    """Read all resources of a server with `SkillsDirectoryProvider`."""
    from fastmcp import Client, FastMCP
    from fastmcp.server.providers.skills import SkillsDirectoryProvider
    from mcp import MCPError

    server = FastMCP("Skills")
    server.add_provider(SkillsDirectoryProvider(folder, supporting_files="resources"))
    skills: dict[str, Loaded] = {}
    async with Client(server) as client:
        for resource in await client.list_resources():
            name, _, path = resource.name.partition("/")
            skill = skills.setdefault(name, Loaded(name, str(folder / name)))
            if path == "_manifest":  # it is made for the folder
                continue
            try:
                (content,) = await client.read_resource(resource.uri)
            except MCPError as error:
                logging.warning("%s: %s", folder / name, error)
            else:
                skill.add(path, _content(content))
    return [skill for skill in skills.values() if "SKILL.md" in skill.files]


def _content(content: Any) -> str | bytes:
    from base64 import b64decode

    return content.text if hasattr(content, "text") else b64decode(content.blob)


async def google_adk(folder: Path) -> list[Loaded]:
    """Call `load_skill_from_dir` for each folder."""
    from google.adk.skills import load_skill_from_dir

    loaded = []
    for each in _folders(folder):
        try:
            skill = load_skill_from_dir(each)
        except ValueError as error:  # of pydantic, too
            logging.warning("%s: %s", each, error)
            continue
        found = Loaded(skill.name, str(each), body=skill.instructions)
        resources = skill.resources
        texts = {path: script.src for path, script in resources.scripts.items()}
        for parent, files in (
            ("references", resources.references),
            ("assets", resources.assets),
            ("scripts", texts),
        ):
            for path, content in files.items():
                found.add(f"{parent}/{path}", content)
        loaded.append(found)
    return loaded


async def strands(folder: Path) -> list[Loaded]:
    """Call `Skill.from_directory` with `strict=True`."""
    from strands.vended_plugins.skills import Skill

    return [
        Loaded(skill.name, str(skill.path), body=skill.instructions)
        for skill in Skill.from_directory(folder, strict=True)
    ]


async def agent_framework(folder: Path) -> list[Loaded]:
    """Ask a `FileSkillsSource` for its skills and their resources."""
    from agent_framework import FileSkillsSource, SkillsSourceContext

    context = SkillsSourceContext(agent=None)  # type: ignore[arg-type,unused-ignore]  # files need none
    loaded = []
    for skill in await FileSkillsSource(folder).get_skills(context):
        found = Loaded(skill.frontmatter.name, skill.path)
        text, *_ = (await skill.get_content()).rpartition("\n\n<available_resources")
        found.add("SKILL.md", text)
        for path in _paths(Path(skill.path)):
            if resource := await skill.get_resource(path):
                found.add(path, await resource.read())
        loaded.append(found)
    return loaded


async def deepagents(folder: Path) -> list[Loaded]:
    """Load with `SkillsMiddleware`, and read through its backend with `virtual_mode=True`."""
    from deepagents.backends.filesystem import FilesystemBackend
    from deepagents.middleware.skills import SkillsMiddleware

    backend = FilesystemBackend(root_dir=folder, virtual_mode=True)
    middleware = SkillsMiddleware(backend=backend, sources=["/"])
    loaded = []
    for skill in middleware.before_agent({}, None, None)["skills_metadata"]:
        inner = skill["path"].removesuffix("SKILL.md")
        found = Loaded(skill["name"], str(folder) + inner.rstrip("/"))
        paths = list(_listed(backend, inner))
        for path, answer in zip(paths, backend.download_files(paths), strict=True):
            found.add(path.removeprefix(inner), answer.content)
        loaded.append(found)
    return loaded


def _listed(backend: Any, folder: str) -> Iterator[str]:
    """Yield the paths of all files that a backend lists below a folder."""
    for entry in backend.ls(folder).entries:
        if entry["is_dir"]:
            yield from _listed(backend, entry["path"])
        else:
            yield entry["path"]


async def pydantic_ai_skills(folder: Path) -> list[Loaded]:
    """Load what a run is offered, and the resources that `SkillsCapability` has indexed."""
    from pydantic_ai.workspaces import LocalWorkspaceBackend
    from pydantic_ai_harness import Skills
    from pydantic_ai_skills import SkillsCapability

    packages = SkillsCapability(folder).packages
    offered = await Skills(folder, workspace=LocalWorkspaceBackend(folder)).load()
    for skipped in offered.skipped:
        logging.warning(skipped.message)
    loaded = []
    for skill in offered.skills:
        found = Loaded(skill.name, skill.directory, body=skill.body)
        for resource in packages[skill.name].resources:
            content = await resource.load(None)
            if isinstance(content, str):  # JSON and YAML are given back as objects
                found.add(resource.name, content)
        for script in packages[skill.name].scripts:
            found.add(script.name, Path(script.uri).read_bytes())
        loaded.append(found)
    return loaded


async def agno(folder: Path) -> list[Loaded]:
    """Load with `LocalSkills` as it is by default, which stops at the first invalid skill."""
    from agno.skills import SkillValidationError

    try:
        return _agno(folder)
    except SkillValidationError as error:
        logging.warning("%s: %s", folder, error)
        return []


async def agno_unchecked(folder: Path) -> list[Loaded]:
    """Load with `LocalSkills` and `validate=False`."""
    return _agno(folder, validate=False)


def _agno(folder: Path, **options: bool) -> list[Loaded]:
    from agno.skills import LocalSkills, Skills

    skills = Skills(loaders=[LocalSkills(str(folder), **options)])
    tools: dict[str, Callable[..., str]] = {
        tool.name: tool.entrypoint for tool in skills.get_tools()
    }
    loaded = []
    for skill in skills.get_all_skills():
        found = Loaded(skill.name, skill.source_path, body=skill.instructions)
        for path in skill.references:
            said = json.loads(tools["get_skill_reference"](skill.name, path))
            found.add(f"references/{path}", said["content"])
        for path in skill.scripts:
            said = json.loads(tools["get_skill_script"](skill.name, path))
            found.add(f"scripts/{path}", said["content"])
        loaded.append(found)
    return loaded


async def skills_ref(folder: Path) -> list[Loaded]:
    """Call `validate` for each folder, and `read_properties` for the valid ones."""
    from skills_ref import read_properties, validate

    loaded = []
    for each in _folders(folder):
        if problems := validate(each):
            logging.warning("%s: %s", each, "; ".join(problems))
        else:
            loaded.append(Loaded(read_properties(each).name, str(each)))
    return loaded


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder that have a SKILL.md."""
    return sorted(path.parent for path in folder.glob("[!.]*/SKILL.md"))


def _paths(folder: Path) -> list[str]:
    """Return the paths of all files below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path.relative_to(folder).as_posix() for path in files]


class _Kept(logging.Handler):
    """Handler that keeps all messages in a list."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self.messages.append(record.getMessage())


LIBRARIES: tuple[Callable[[Path], Awaitable[list[Loaded]]], ...] = (
    fastmcp,
    google_adk,
    strands,
    agent_framework,
    deepagents,
    pydantic_ai_skills,
    agno,
    agno_unchecked,
    skills_ref,
)


def main() -> None:
    """Load the folder of the second argument with the library of the first one."""
    library, folder = sys.argv[1:]
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some libraries print warnings
    load = {each.__name__: each for each in LIBRARIES}[library]
    kept = _Kept()
    logging.basicConfig(handlers=[kept])
    warnings.simplefilter("ignore")
    loaded = asyncio.run(_awaited(load(Path(folder))))
    answer = {"skills": [asdict(each) for each in loaded], "messages": kept.messages}
    with output:
        output.write(json.dumps(answer))


async def _awaited(loading: Awaitable[list[Loaded]]) -> list[Loaded]:
    return await loading


if __name__ == "__main__":
    main()
