"""Base of the tested clients: install, update, and the files of each skill."""

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tests.clients import installed
from tests.clients.packages import Files, files_of, without_bits
from tests.clients.running import Running

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

    package: ClassVar[str]
    """Name of its package on npm, or on PyPI if `is_python`."""

    is_python: ClassVar[bool] = False
    route: ClassVar[str]
    """How it gets the skills, for people."""

    missing: ClassVar[Mapping[str, str]] = {}
    """Valid skills that this client cannot have by its own rules, with the rule."""

    spoiled: ClassVar[tuple[str, ...]] = ()
    """Those of them that it has all the same, with other bytes."""

    own_files: ClassVar[frozenset[str]] = frozenset()
    """Files that the client adds to each skill."""

    keeps_bits: ClassVar[bool] = True
    """Whether executable files stay executable."""

    note: ClassVar[str] = ""
    """Further facts for the table."""

    with_token: ClassVar[bool] = False
    """Whether the skilldrop that it is used with has a readers' token."""

    def __init__(self, running: Running, home: Path) -> None:
        """Raise Absent if the client cannot be installed here."""
        self.running, self.home, self.work = running, home, home / "work"
        self.site, self.token = running.site, running.token
        npm = installed.npm_programs()
        paths = [npm] if not self.is_python else [installed.python_programs(), npm]
        for folder in (self.work, home / "tmp"):
            folder.mkdir(parents=True)
        self.env = {
            **QUIET,
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "LANG": "C.UTF-8",
            "PATH": ":".join([*map(str, paths), os.environ["PATH"]]),
        }

    @classmethod
    def version(cls) -> str:
        """Return the pinned version."""
        pinned = installed.python_version if cls.is_python else installed.npm_version
        return pinned(cls.package)

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
        done = subprocess.run(
            command,
            cwd=self.work,
            env=self.env | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert may_fail or done.returncode == 0, (
            f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
        return done.stdout
