"""Authors and colleagues on macOS and Windows, which lack calls that Linux has."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.paths import REPOSITORY
from tests.support.skills import write_skill

_MACOS = """
import ctypes, errno, os
for name in ("O_PATH", "sched_getaffinity"):
    delattr(os, name)
for name in ("EREMOTEIO", "EUCLEAN", "ENOMEDIUM"):
    delattr(errno, name)

class Libc(ctypes.CDLL):
    def __getattr__(self, name):
        if name in ("syncfs", "renameat2") or name.startswith("inotify"):
            raise AttributeError(name)
        return super().__getattr__(name)

def opened(path, *arguments, **options):
    if os.fspath(path).startswith("/proc/"):
        raise FileNotFoundError(2, "No such file or directory", path)
    return open_file(path, *arguments, **options)

open_file, os.open, ctypes.CDLL = os.open, opened, Libc
os.supports_dir_fd.add(opened)
"""
_WINDOWS = """
import ctypes, errno, multiprocessing.context, os, shutil, signal, stat, sys, tempfile
for name in (
    "O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH chown fchmod fchown fork forkpty"
    " geteuid getgid getuid killpg lchown link mkfifo mknod nice posix_spawn pread pwrite"
    " register_at_fork sched_getaffinity statvfs symlink sync uname"
).split():
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGQUIT", "SIGURG", "pthread_sigmask"):
    delattr(signal, name)
for name in ("EREMOTEIO", "EUCLEAN", "ENOMEDIUM"):
    delattr(errno, name)
for name in ("ForkContext", "ForkServerContext"):
    delattr(multiprocessing.context, name)
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
    known.clear()

def by_paths(call):
    def called(path, *arguments, dir_fd=None, src_dir_fd=None, dst_dir_fd=None, **options):
        assert dir_fd is src_dir_fd is dst_dir_fd is None, f"{call.__name__} by a directory"
        assert not isinstance(path, int) or stat.S_ISREG(os.fstat(path).st_mode), call.__name__
        return call(path, *arguments, **options)
    return called

def opened(path, flags, mode=0o777, *, dir_fd=None):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return by_paths(open_file)(path, flags, mode, dir_fd=dir_fd)

def loaded(name, *arguments, **options):
    if name is None:
        raise TypeError("argument of type 'NoneType' is not iterable")
    return load(name, *arguments, **options)

open_file, os.open, load, ctypes.CDLL = os.open, opened, ctypes.CDLL, loaded
for name in ("chmod listdir lstat mkdir readlink remove rename replace rmdir scandir stat unlink"
             .split()):
    setattr(os, name, by_paths(getattr(os, name)))
shutil._use_fd_functions = False
"""
_RUN = """
import sys
commands = sys.argv[1:]
from pipeline.cli.entry import main
for command in commands:
    sys.argv = ["skilldrop", *command.split()]
    try:
        main()
    except SystemExit as ended:
        print("\\f", end="", flush=True)
        print(f"\\f{ended.code}\\f", end="", file=sys.stderr, flush=True)
"""
_STRICT = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
"""Options under which a text file without a named encoding fails: Windows has another one."""
FAULTY = """\
---
name: {}
description: Counts words: all of them. Use when somebody asks for the length of a text.
---

Read [the rules](references/rules.md), [the list](list.md) and [another](missing.md).
"""


@pytest.fixture(params=[_MACOS, _WINDOWS], ids=["macos", "windows"])
def hiding(request: pytest.FixtureRequest) -> str:
    """Return the program that hides the calls which a system lacks."""
    return str(request.param)


class Told(NamedTuple):
    """Exit code of a command, and its answer."""

    code: int
    stdout: str
    stderr: str


def run(hiding: str, folder: Path, *commands: str) -> list[Told]:
    """Run commands in a folder, one after another, without the calls that are hidden."""
    done = subprocess.run(
        [sys.executable, *_STRICT, "-c", hiding + _RUN, *commands],
        cwd=folder,
        env={"PYTHONPATH": str(REPOSITORY), "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *messages, _ = done.stderr.split("\f")
    pairs = zip(done.stdout.split("\f"), messages[::2], messages[1::2], strict=False)
    return [Told(int(code), answer, said) for answer, said, code in pairs]


def faulty(folder: Path) -> None:
    """Write a skill with findings, links inside and out of the folder, and a routing test."""
    for path, text in {
        "SKILL.md": FAULTY.format(folder.name),
        "references/rules.md": "Rules.\n",
        "evals/evals.json": '[{"query": "how long is it", "should_trigger": true}]',
        "../../outside.md": "Not of the skill.\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "list.md").symlink_to("references/rules.md")
    (folder / "out.md").symlink_to("../../outside.md")
    (folder / "more").symlink_to("references")


def test_an_author_writes_checks_and_mends_a_skill(hiding: str, tmp_path: Path) -> None:
    """The answers of `new`, `validate` and `validate --fix` are those of Linux."""
    here, linux = tmp_path / "here", tmp_path / "linux"
    for folder in (here, linux):
        faulty(folder / "words")
    commands = (
        "new csv-profile",
        "validate .",
        "validate words/SKILL.md",
        "validate words csv-profile --fix --json",
    )
    told = run(hiding, here, *commands)
    assert told == run("", linux, *commands)
    assert len(told) == len(commands)
    assert max(each.code for each in told) < 2
    assert "1 routing test run by searches among 2 skills" in told[-1].stderr
    assert "link-leaves-root" in told[-1].stdout
    assert "'Counts words: all of them." in (here / "words/SKILL.md").read_text()


def test_an_archive_is_checked(hiding: str, tmp_path: Path) -> None:
    """It is read in place."""
    write_skill(tmp_path / "words")
    shutil.make_archive(str(tmp_path / "words"), "zip", tmp_path, "words")
    (told,) = run(hiding, tmp_path, "validate words.zip --quiet")
    assert (told.code, told.stderr) == (0, "")


def test_copies_are_kept_on_macos(tmp_path: Path) -> None:
    """Without inotify, a scan and `link --copy` do what they do on Linux."""
    write_skill(tmp_path / "watched/words")
    for number in (1, 2):
        write_skill(tmp_path / "watched/words", description=f"Counts words, in {number} ways.")
        scanned, linked = run(_MACOS, tmp_path, "scan", "link --copy agents")
        assert scanned.code == 0
        assert "1 skill" in linked.stdout, linked.stderr
        original = (tmp_path / "watched/words/SKILL.md").read_bytes()
        assert (tmp_path / "agents/words/SKILL.md").read_bytes() == original
    shutil.rmtree(tmp_path / "watched/words")
    write_skill(tmp_path / "watched/letters")
    assert [told.code for told in run(_MACOS, tmp_path, "scan")] == [0]
    assert [path.name for path in (tmp_path / "agents").iterdir()] == ["letters"]


def test_windows_is_told_that_it_keeps_no_catalog(tmp_path: Path) -> None:
    """With what works there, and nothing is written."""
    write_skill(tmp_path / "watched/words")
    (told,) = run(_WINDOWS, tmp_path, "link --copy agents")
    assert told.code == 2, told.stderr
    assert "`validate`, `new` and `pull` work here" in told.stderr
    assert not (tmp_path / "agents").exists()
