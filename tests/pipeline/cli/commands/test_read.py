"""Commands that return published files, as called by people, programs and agents."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.program import run_raw
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter

PROGRAM = Path(sys.executable).with_name("skilldrop")
FILES = {
    "scripts/count.py": b"print('words')\n",
    "bom.txt": b"\xef\xbb\xbfBOM\r\n",
    "assets/logo.png": b"\x89PNG\r\n\x1a\n\0",
    "empty": b"",
    "evil.txt": "red \x1b[31m, back \u202e\tand on\r\n".encode(),
}


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return the default root and catalog with one skill."""
    made = Shelf(tmp_path)
    skill(made.root / "word-count", body="# Count\n", files=FILES)
    made.scan()
    yield made
    made.close()


def on_terminal(*words: str) -> tuple[int, str]:
    """Run the program on a terminal; return its exit code and the text shown."""
    ours, theirs = os.openpty()
    done = subprocess.run([PROGRAM, *words], stdout=theirs, stderr=theirs, check=False, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    return done.returncode, shown.replace("\r\n", "\n")


@pytest.mark.parametrize("path", FILES)
def test_a_pipe_gets_the_bytes_unchanged(shelf: Shelf, path: str) -> None:
    """`read > file` makes the same file, whatever its content."""
    done = run_raw("read", "word-count", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, FILES[path], b"")


def test_skill_md_is_read_by_default(shelf: Shelf) -> None:
    """The name of the skill is enough."""
    assert run_raw("read", "word-count").stdout == (shelf.root / "word-count/SKILL.md").read_bytes()


def test_escapes_are_spelt_out_on_a_terminal(shelf: Shelf) -> None:
    """The file is untrusted; line ends and tabs stay."""
    assert on_terminal("read", "word-count", "scripts/count.py") == (0, "print('words')\n")
    assert on_terminal("read", "word-count", "evil.txt") == (
        0,
        "red [U+001B][31m, back [U+202E]\tand on\n",
    )


def test_a_binary_file_is_not_printed_on_a_terminal(shelf: Shelf) -> None:
    """The message gives an alternative."""
    code, shown = on_terminal("read", "word-count", "assets/logo.png")
    assert code == 2
    assert "assets/logo.png is image/png, not text: write it to a file" in " ".join(shown.split())


def test_json_has_the_published_keys(shelf: Shelf) -> None:
    """With the whole text and its hash."""
    file = ("read", "word-count", "scripts/count.py")
    told = json.loads(run_raw(*file, "--json").stdout)
    assert {
        "skill",
        "skill_id",
        "version",
        "path",
        "sha256",
        "size",
        "media_type",
        "encoding",
        "text",
        "offset",
        "next_offset",
        "executable",
    } == set(told)
    assert (told["text"], told["offset"], told["next_offset"]) == ("print('words')\n", 0, None)


def test_a_skill_can_be_wrapped_as_for_agents(shelf: Shelf) -> None:
    """Only SKILL.md can be, and not as JSON."""
    done = run_raw("read", "word-count", "--wrapped")
    assert done.stdout.startswith(b'<skill_content name="word-count">\n# Count\n')
    for more in (("scripts/count.py",), ("--json",)):
        wrong = run_raw("read", "word-count", *more, "--wrapped")
        assert wrong.returncode == 2
        assert b"--wrapped works only for SKILL.md" in wrong.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("read", "Word-Count"), "The closest are: word-count."),
        (("read", "word-count", "../secret"), "it leads upwards"),
        (("read", "word-count", "count.py"), "The closest are: scripts/count.py."),
        (("--data", "elsewhere", "read", "word-count"), "There is no catalog at"),
        (("mcp", "--http", "nowhere"), "has no port from 1 to 65535"),
        (("mcp", "--http", "127.0.0.1:99999"), "has no port from 1 to 65535"),
        (("mcp", "--http", "host.invalid:8002"), "The MCP server cannot listen on host.invalid"),
        (("mcp", "--http", "203.0.113.7:8002"), "The MCP server cannot listen on 203.0.113.7"),
    ],
)
def test_an_impossible_request_is_one_sentence(
    shelf: Shelf, words: tuple[str, ...], told: str
) -> None:
    """Exit code 2, and what to do instead."""
    done = run_raw(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert told in " ".join(done.stderr.decode().split())
    assert b"Traceback" not in done.stderr


def python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a few lines of Python in a separate process."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_without_its_extra_the_server_names_the_command_to_paste() -> None:
    """The rest of the program works without it."""
    done = python(
        "import sys; sys.modules['mcp'] = None; sys.argv = ['skilldrop', 'mcp']\n"
        "from pipeline.cli.entry import main; main()"
    )
    assert done.returncode == 2
    assert done.stderr == (
        "skilldrop: The libraries of the extra mcp are not installed here. Install them with "
        f"`{sys.executable} -m pip install 'mcp<3,>=2.3'`.\n"
    )


def test_the_server_needs_no_site() -> None:
    """It can be imported without Datasette."""
    assert (
        python("import sys; sys.modules['datasette'] = None; import catalog.mcp.server").stderr
        == ""
    )


def reads(shelf: Shelf) -> list[tuple[str, str, int]]:
    """Return the counted reads: skill, route and number."""
    with closing(sqlite3.connect(shelf.settings.data / "usage.db")) as db:
        return db.execute("SELECT skill_id, route, reads FROM reads").fetchall()


def test_each_file_is_counted_once(shelf: Shelf) -> None:
    """Whatever the form of the output; an error is no read."""
    run_raw("read", "word-count")
    run_raw("read", "word-count", "scripts/count.py", "--json")
    run_raw("read", "word-count", "nothing")
    assert reads(shelf) == [("word-count", "command", 2)]


def test_no_read_is_counted_if_the_setting_says_so(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No database is made."""
    monkeypatch.setenv("SKILLDROP_USAGE", "false")
    assert run_raw("read", "word-count").returncode == 0
    assert not (shelf.settings.data / "usage.db").exists()


def test_a_read_that_cannot_be_counted_succeeds(shelf: Shelf) -> None:
    """Its output is whole, and one line says why."""
    (shelf.settings.data / "usage.db").mkdir()
    done = run_raw("read", "word-count", "scripts/count.py")
    assert (done.returncode, done.stdout) == (0, FILES["scripts/count.py"])
    assert b"This read is not counted: " in done.stderr
    assert done.stderr.count(b"\n") == 1
