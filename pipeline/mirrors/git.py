"""Runs of the system's git under a configuration in which a repository runs nothing.

No hook, submodule, filter or configuration of a repository has any effect. Credentials come from
the user's environment, SSH agent and credential helpers; they are never asked for or written.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from catalog.filesystem.operations import directory, remove
from catalog.model.errors import PullFailed
from catalog.text.visible import visible

TIMEOUT = 600.0
"""Most seconds of one run."""
_LOOK_EVERY = 0.25
"""Seconds between two looks at the size and at the request to stop."""
_SHOWN = 300
"""Most characters of a message of git that is passed on."""

_SAFE = (
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.symlinks=true",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "fetch.bundleURI=",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "protocol.allow=never",
)
ATTRIBUTES = "* !filter !working-tree-encoding !eol -text -ident\n"
"""Attributes above those of a repository, so that its files are written as they are stored."""
_OTHER_REPOSITORY = re.compile(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY|TEMPLATE_DIR|PREFIX"
    r"|ALTERNATE_OBJECT_DIRECTORIES|EXTERNAL_DIFF|EDITOR|PAGER|ALLOW_PROTOCOL|ATTR_.*|TRACE.*"
    r"|CURL_VERBOSE|REDIRECT_.*)"
)
"""Variables that name another repository, or would write its traffic somewhere."""
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s']+@")


@dataclass(frozen=True, slots=True)
class Git:
    """Runs of git for one repository, whose files and output are bounded together.

    A run ends if the folder has more than `most_bytes`, or soon after `must_stop`.
    """

    folder: Path  # for everything that is written
    url: str  # of `origin`
    most_bytes: int
    must_stop: Callable[[], bool]

    @property
    def repository(self) -> Path:
        """The bare repository."""
        return self.folder / "repository"

    def create(self) -> None:
        """Create the repository, or a new one in its place. Raises PullFailed and OSError."""
        self.forget()
        self.run("init", "--quiet", "--bare", "--template=", str(self.repository))
        (self.repository / "info").mkdir(exist_ok=True)
        (self.repository / "info" / "attributes").write_text(ATTRIBUTES)

    def forget(self) -> None:
        """Remove the repository. Raises OSError."""
        with directory(self.folder) as dir_fd:
            remove(self.repository.name, dir_fd)

    def line(self, *arguments: str) -> str:
        """Run git; return its output without the final line end."""
        with self.output(*arguments) as chunks:
            return b"".join(chunks).decode(errors="replace").rstrip("\n")

    @contextmanager
    def output(self, *arguments: str) -> Iterator[Iterator[bytes]]:
        """Run git; give its output in chunks."""
        self.run(*arguments)
        with (self.folder / "stdout").open("rb") as file:
            yield iter(lambda: file.read(2**16), b"")

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        """Run git. Raises PullFailed with its message, and OSError."""
        paths = [self.folder / name for name in ("stdout", "stderr")]
        for path in paths:
            path.unlink(missing_ok=True)
        with paths[0].open("xb") as stdout, paths[1].open("xb") as stderr:
            try:
                process = subprocess.Popen(
                    ["git", *self._options(), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    env=_environment() | dict(env or {}),
                    cwd=cwd or self.folder,
                    start_new_session=True,  # its helpers end with it, and none has a terminal
                )
            except FileNotFoundError as error:
                raise PullFailed("git is not installed here") from error
        try:
            self._wait(process)
        finally:
            _end(process)
        if process.returncode:
            raise PullFailed(_message(paths[1], arguments[0], process.returncode))

    def _options(self) -> Iterator[str]:
        scheme = self.url.partition("://")[0] if "://" in self.url else "file"
        for protocol in sorted({scheme, "https", "ssh"}):
            yield from ("-c", f"protocol.{protocol}.allow=always")
        nothing = self.folder / "nothing"  # never made
        ours = (f"core.hooksPath={nothing}", f"core.attributesFile={nothing}")
        for setting in (*_SAFE, *ours, f"remote.origin.url={self.url}"):
            yield from ("-c", setting)
        yield f"--git-dir={self.repository}"

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        began = time.monotonic()
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_EVERY)
            is_over = process.returncode is not None
            if not is_over and self.must_stop():
                raise PullFailed("it was stopped")
            if not is_over and time.monotonic() - began > TIMEOUT:
                raise PullFailed(f"it took longer than {TIMEOUT:g} s")
            if _size(self.folder) > self.most_bytes:
                raise PullFailed(
                    f"it has more than {self.most_bytes} bytes, the limit that mirror_bytes sets"
                )
            if is_over:
                return


def _environment() -> dict[str, str]:
    """Return the environment without variables that lead git elsewhere, and without questions."""
    kept = {key: value for key, value in os.environ.items() if not _OTHER_REPOSITORY.fullmatch(key)}
    return kept | {
        "GIT_TERMINAL_PROMPT": "0",
        "GCM_INTERACTIVE": "never",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "LC_ALL": "C.UTF-8",
    }


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End git and its helpers, if they still run."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder; links are not followed."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_size
    return total


def _message(stderr: Path, command: str, code: int) -> str:
    """Return the error of git in one line, without credentials."""
    with stderr.open("rb") as file:
        file.seek(max(0, stderr.stat().st_size - 4096))
        lines = file.read().decode(errors="replace").splitlines()
    errors = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    others = [line for line in lines if line.strip()]
    text = (errors or others or [f"git {command} ended with {code}"])[0]
    text = text.removeprefix("fatal: ").removeprefix("error: ")
    return visible(_CREDENTIALS.sub("", text))[:_SHOWN].rstrip(". ")
