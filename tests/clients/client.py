"""Base of the tested clients: install, update, and the files of each skill."""

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import ClassVar

from tests.clients import installed
from tests.clients.packages import Files, files_of, without_bits
from tests.clients.running import Catalog, Running

NAMELESS = {"nameless": "it wants a name in SKILL.md"}
LONG = {"long-description": "it refuses a description over 1,024 characters"}
CHINESE = {"数据清洗": "it wants an ASCII name"}
MISNAMED = {"office--pdf": "it wants the folder's name in SKILL.md"}
"""Rules by which clients refuse skills, with the skill of the fixture that each rule excludes."""

NOWHERE = "http://127.0.0.1:9"
"""Proxy that refuses every connection: no client may call out."""

QUIET = {
    "CI": "1",
    "NO_COLOR": "1",
    "DO_NOT_TRACK": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
}


class Client(ABC):
    """Real client with a home folder of its own."""

    title: ClassVar[str]
    """Name of the client, for people."""

    package: ClassVar[str] = ""
    """Name of its package on npm, or on PyPI if `is_python`; empty for a program of the system."""

    is_python: ClassVar[bool] = False
    route: ClassVar[str]
    """How it gets the skills, for people."""

    missing: ClassVar[Mapping[str, str]] = {}
    """Valid skills that this client cannot have by its own rules, with the rule."""

    spoiled: ClassVar[Collection[str]] = ()
    """Those of them that it has with other bytes."""

    own_files: ClassVar[frozenset[str]] = frozenset()
    """Files that the client adds to each skill."""

    keeps_bits: ClassVar[bool] = True
    """Whether executable files stay executable."""

    note: ClassVar[str] = ""
    """Further facts for the table."""

    with_token: ClassVar[bool] = False
    """Whether the skilldrop that it is used with has a readers' token."""

    messages: Sequence[str] = ()
    """Its message about skills that it did not load, if any."""

    def __init__(self, catalog: Catalog, home: Path) -> None:
        """Raise Absent if the client cannot be installed here."""
        self.catalog, self.home, self.work = catalog, home, home / "work"
        self.site, self.token = catalog.site, catalog.token
        get = installed.python_programs if self.is_python else installed.npm_programs
        paths = [str(get())] if self.package else []
        for folder in (self.work, home / "tmp"):
            folder.mkdir(parents=True)
        self.env = {
            **QUIET,
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "LANG": "C.UTF-8",
            "PATH": ":".join([*paths, os.environ["PATH"]]),
        }

    @property
    def running(self) -> Running:
        """The skilldrop that is used with it, if that runs."""
        assert isinstance(self.catalog, Running)
        return self.catalog

    @classmethod
    def version(cls) -> str:
        """Return the pinned version."""
        pinned = installed.python_version if cls.is_python else installed.npm_version
        return pinned(cls.package)

    @classmethod
    def installed_version(cls) -> str:
        """Return the version that is there; raise Absent."""
        there = installed.python_installed if cls.is_python else installed.npm_installed
        return str(there(cls.package)["version"])

    @classmethod
    def needs(cls) -> str:
        """Return the version of Node or Python that it needs, as its package says."""
        if not cls.package:
            return "–"
        if cls.is_python:
            return f"Python {installed.python_installed(cls.package)['requires_python']}"
        needed = installed.npm_installed(cls.package).get("engines", {}).get("node")
        return f"Node {needed}" if needed else "no Node"

    def refused(self) -> Mapping[str, str]:
        """Return the valid skills that this client cannot have, with the rule."""
        return self.missing

    @abstractmethod
    def install(self) -> None:
        """Get all skills for the first time."""

    @abstractmethod
    def update(self) -> None:
        """Get what has changed since, in the client's own way."""

    @abstractmethod
    def skills(self) -> dict[str, Files]:
        """Return the files of each skill that the client has, by the client's name for it."""

    def as_kept(self, files: Files) -> Files:
        """Return files of a source folder as this client has them if all is well."""
        return files if self.keeps_bits else without_bits(files)

    def read(self, folder: Path) -> Files:
        """Return the files of a folder without those that the client adds."""
        files = files_of(folder)
        return {path: file for path, file in files.items() if path not in self.own_files}

    def below(self, folder: Path) -> dict[str, Files]:
        """Return the files of each skill in a folder of skills, which may have groups."""
        found = [*folder.glob("*/SKILL.md"), *folder.glob("*/*/SKILL.md")]
        return {str(path.parent.relative_to(folder)): self.read(path.parent) for path in found}

    def run(self, *command: str | Path, may_fail: bool = False, **env: str) -> str:
        """Run a program of the client in its work folder; return its output."""
        with TemporaryFile() as output:  # some cut what they write to a pipe
            done = subprocess.run(
                command,
                cwd=self.work,
                env=self.env | env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                timeout=300,
            )
            output.seek(0)
            said = output.read().decode()
        assert may_fail or done.returncode == 0, (
            f"{command}: {said[-2000:]}{done.stderr.decode()[-2000:]}"
        )
        return said
