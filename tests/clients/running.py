"""Real `skilldrop up` over the forty packages, and the edits that clients must see."""

import itertools
import socket
import sqlite3
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.clients.packages import PACKAGES, Files, files_of
from tests.support.ports import free_port
from tests.support.waiting import PATIENCE, wait_for

SETTINGS = """
data = "data"
settle_quiet = 0.2

[[roots]]
path = "roots/company"
level = "enterprise"

[[roots]]
path = "roots/project"
level = "project"

[[roots]]
path = "roots/plugins"
level = "plugin"
"""

EDITED = ("plain-01", "executable", "数据清洗", "office--pdf")
"""Packages that each edit changes."""


class Catalog:
    """Catalog in a folder, with the skilldrop that works on it."""

    site = token = ""

    def __init__(self, folder: Path, settings: str) -> None:
        self.folder, self.data = folder, folder / "data"
        self.folder.mkdir(parents=True, exist_ok=True)
        (folder / "skilldrop.toml").write_text(settings)

    @abstractmethod
    def skills(self) -> dict[str, Files]:
        """Return the files of every skill that agents may have."""

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of a `skilldrop` command on this catalog."""
        program = Path(sys.executable).with_name("skilldrop")
        return [str(program), "--config", str(self.folder / "skilldrop.toml"), *arguments]

    def run(self, *arguments: str) -> str:
        """Run a `skilldrop` command, and return its output."""
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def is_shown_in(self, folder: Path) -> bool:
        """Return whether a folder has the skills as they are now, and no others."""
        try:
            shown = [files_of(each) for each in folder.iterdir() if each.name[0] != "."]
        except FileNotFoundError:  # exchanged meanwhile
            return False
        wanted = self.skills().values()
        return len(shown) == len(wanted) and all(files in shown for files in wanted)


class Scanned(Catalog):
    """Catalog of folders that nobody changes, scanned once."""

    def __init__(self, folder: Path, roots: Iterable[Path]) -> None:
        tables = [f'[[roots]]\npath = "{root}"\nlevel = "project"\n' for root in roots]
        super().__init__(folder, 'data = "data"\n' + "".join(tables))
        self.run("scan")

    def skills(self) -> dict[str, Files]:
        """Return the files of the published skills."""
        return {folder.name: files_of(folder) for folder in self.data.glob("skills/[!.]*")}


class Running(Catalog):
    """Process `skilldrop up` with its roots, catalog and site in one folder."""

    def __init__(self, folder: Path, *, with_token: bool = False) -> None:
        super().__init__(folder, SETTINGS)
        self.roots = folder / "roots"
        for package in PACKAGES:
            package.write(self.roots)
        self.port = free_port()
        self.origin = self.site = f"http://127.0.0.1:{self.port}"
        if with_token:
            self.token = self.run("token", "new", "clients").strip()
            self.site += f"/token/{self.token}"
        self._mcp: subprocess.Popen[bytes] | None = None
        self._edits = itertools.count(1)
        self._write_edit(0)
        with (folder / "up.log").open("wb") as log:
            self.process = subprocess.Popen(
                self.command("up", "--port", str(self.port)), stdout=log, stderr=log
            )
        wait_for(lambda: len(self.published()) == len(self.skills()), self._raise_end)
        wait_for(self._answers, self._raise_end)

    def skills(self) -> dict[str, Files]:
        """Return the files of every skill that agents may have, as they lie in the roots."""
        return {
            package.key: files_of(self.roots / package.folder)
            for package in PACKAGES
            if package.valid
        }

    def published(self) -> dict[str, str]:
        """Return the published skills: their identifier, and the digest of their package."""
        return dict(self._rows("SELECT skill_id, digest FROM skills WHERE status = 'active'"))

    def _is_quiet(self) -> bool:
        return self._rows("SELECT quiet_since FROM health") != [(None,)]

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        if not (self.data / "catalog.db").exists():
            return []
        with closing(sqlite3.connect(f"file:{self.data / 'catalog.db'}?mode=ro", uri=True)) as db:
            try:
                return db.execute(sql).fetchall()
            except sqlite3.OperationalError:  # before the tables are made
                return []

    def edit(self) -> None:
        """Change, add and delete files of some skills, and wait until that is published."""
        before = self.published()
        self._write_edit(next(self._edits))
        wait_for(lambda: self._has_changed(before), self._raise_end)
        wait_for(self._is_quiet, self._raise_end)
        wait_for(lambda: self.is_shown_in(self.data / "skills"), self._raise_end)

    def _write_edit(self, number: int) -> None:
        for package in PACKAGES:
            if package.key in EDITED:
                folder = self.roots / package.folder
                with (folder / "SKILL.md").open("a", encoding="utf-8") as skill_md:
                    skill_md.write(f"\nEdit {number}.\n")
                (folder / f"edit-{number - 1}.txt").unlink(missing_ok=True)
                (folder / f"edit-{number}.txt").write_text(f"{number}\n")

    def _has_changed(self, before: dict[str, str]) -> bool:
        now = self.published()
        return sum(now[key] != digest for key, digest in before.items()) == len(EDITED)

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.origin}/-/healthz") as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    @cached_property
    def mcp(self) -> str:
        """Address of `skilldrop mcp --http`, which runs from now on."""
        port = free_port()
        self._mcp = subprocess.Popen(self.command("mcp", "--http", str(port)))
        wait_for(lambda: _accepts(port), self._raise_end)
        return f"http://127.0.0.1:{port}/mcp"

    def _raise_end(self) -> None:
        assert self.process.poll() is None, (self.folder / "up.log").read_text()

    def stop(self) -> None:
        """Stop the processes and wait for their end."""
        if self._mcp:
            self._mcp.terminate()
            self._mcp.wait(PATIENCE)
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0


def _accepts(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
