"""Commands with which people install a skill."""

import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which

import pytest

from catalog.model.paths import repository_label
from catalog.reading.files import bundle
from catalog.reading.files.published import package_of
from catalog.reading.skills import install_lines
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter

OFFERED = {
    "skill_id": "会议",
    "name": "会议",
    "status": "active",
    "model_invocable": 1,
    "user_invocable": 1,
}


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return a published skill with a script that may be executed."""
    shelf = Shelf(tmp_path / "there")
    skill(shelf.root / "会议", files={"scripts/run.sh": "#!/bin/sh\n"})
    (shelf.root / "会议" / "scripts" / "run.sh").chmod(0o755)
    shelf.scan()
    yield shelf
    shelf.close()


@pytest.mark.skipif(not (which("curl") and which("unzip")), reason="no curl or no unzip")
def test_the_command_of_a_shell_installs_the_skill(shelf: Shelf, tmp_path: Path) -> None:
    """In a home folder without any skills: all files, with executable bits, and nothing else."""
    served, home = tmp_path / "served" / "skills" / "会议", tmp_path / "home"
    served.mkdir(parents=True)
    home.mkdir()
    with (served / "bundle.zip").open("wb") as archive:
        bundle.write(package_of(shelf.db, shelf.packages, "会议"), archive)
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path / "served")
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}/"
    line = install_lines.of_skill(site, OFFERED).lines[2]
    try:
        subprocess.run(
            ["sh", "-c", line.text], cwd=home, env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
            check=True, timeout=60,
        )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
    files = {path.name: path.stat().st_mode & 0o777 for path in home.rglob("*") if path.is_file()}
    assert files == {"SKILL.md": 0o644, "run.sh": 0o755}


def test_a_skill_for_users_has_a_command_for_clients_that_keep_to_it() -> None:
    """The note gives the reason, and one that nobody may start has nothing to install."""
    row = OFFERED | {"model_invocable": 0}
    (line,), (note,) = install_lines.of_skill("http://host/", row)
    assert line.client == "Claude Code"
    assert "disable-model-invocation" in note
    lines, (note,) = install_lines.of_skill("http://host/", row | {"user_invocable": 0})
    assert lines == []
    assert "nothing to install" in note
    assert install_lines.of_skill("http://host/", OFFERED | {"status": "shadowed"}) == ([], [])


def test_a_client_that_would_not_load_a_skill_has_no_command() -> None:
    """The note names the clients, the line and the fix."""
    findings = [
        {"code": "unquoted-value", "line": 3, "fix": "Put the value in quotes."},
        {"code": "description-short", "line": 3, "fix": "Say more."},
    ]
    lines, (note,) = install_lines.of_skill("http://host/", OFFERED, findings)
    assert {"skills (npx)", "opencode"}.isdisjoint(line.client for line in lines)
    assert "Claude Code" in {line.client for line in lines}
    assert note.startswith("Not loaded by opencode, skills (npx), ")
    assert note.endswith(": unquoted-value in line 3. Put the value in quotes.")


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b/tree/c0ffee/skills/x%20y"),
        ("https://gitlab.com/g/s/b", "https://gitlab.com/g/s/b/-/tree/c0ffee/skills/x%20y"),
        ("https://bitbucket.org/a/b", "https://bitbucket.org/a/b/src/c0ffee/skills/x%20y"),
        ("https://codeberg.org/a/b", "https://codeberg.org/a/b/src/commit/c0ffee/skills/x%20y"),
        ("https://git.sr.ht/~a/b", "https://git.sr.ht/~a/b/tree/c0ffee/item/skills/x%20y"),
        ("https://user:secret@github.com/a/b", "https://github.com/a/b/tree/c0ffee/skills/x%20y"),
        ("git@github.com:a/b.git", None),
        ("ssh://git@github.com/a/b.git", None),
        ("file:///srv/b.git", None),
        ("https://git.example.org/a/b", None),
        ("https://github.com:8443/a/b", None),
        ("https://github.com", None),
    ],
)
def test_a_folder_at_a_commit_has_a_page(url: str, page: str | None) -> None:
    """Only of http or https and of known hosts; without credentials."""
    assert install_lines.repository_page(url, "c0ffee", "skills", "x y") == page
    assert "secret" not in repository_label(url)


def test_the_whole_repository_has_a_page() -> None:
    """Without a commit it is that of the default branch."""
    assert (
        install_lines.repository_page("https://github.com/a/b", None, "x")
        == "https://github.com/a/b"
    )
    assert (
        install_lines.repository_page("https://git.sr.ht/~a/b", "c0")
        == "https://git.sr.ht/~a/b/tree/c0"
    )
    assert repository_label("https://github.com/a/b.git") == "github.com/a/b"
