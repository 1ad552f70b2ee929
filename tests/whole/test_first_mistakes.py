"""The first mistakes of people: each is told in one sentence that says what to do."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import run
from tests.support.skills import write_skill
from tests.support.waiting import wait_for
from tests.support.without_rights import bound_by_permissions

ROOT = Path("watched")


@pytest.fixture(autouse=True)
def at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan folders that were written just now; the root has one skill."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    write_skill(tmp_path / ROOT / "word-count")


def refused(*words: object) -> str:
    """Return the sentence with which a command refuses to work: exit code 2 and one line."""
    done = run(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    return done.stderr


def reported() -> str:
    """Scan, and return the state of the catalog."""
    assert run("scan").returncode == 0
    return run("status").stdout


def test_the_port_is_taken() -> None:
    """The message names the port and both ways out."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused("up", "--port", port)
    assert f"cannot listen on 127.0.0.1:{port}: another program uses it; `ss -ltnp`" in said
    assert "Stop it, or give another --port." in said


def test_the_port_of_the_mcp_server_is_taken() -> None:
    """The message names the option that this command has."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        said = refused("mcp", "--http", other.getsockname()[1])
    assert "Stop it, or give another --http PORT." in said


def test_a_folder_that_is_no_skill_is_asked_about() -> None:
    """Its finding is the answer, whatever the command and however the folder is named."""
    (ROOT / "notes").mkdir()
    (ROOT / "notes/readme.txt").touch()
    (ROOT / "leaves").symlink_to("..")
    reported()
    for name in ("notes", ROOT / "notes", (ROOT / "notes").absolute()):
        for command in ("status", "show"):
            assert "is no skill: The folder contains “readme.txt”" in refused(command, name)
        assert "info folder-without-skill" in run("findings", name).stdout
    assert "leaves' is no skill: The link leads out of the root" in refused("show", "leaves")


def test_a_new_skill_is_named_by_its_path() -> None:
    """The message names the option for the folder."""
    assert "Name the folder around it with --in." in refused("new", "drafts/word-count")


@pytest.mark.parametrize("wrong", [".claude", ".cluade/skills", "agents/skills"])
def test_no_agent_reads_the_linked_directory(tmp_path: Path, wrong: str) -> None:
    """The links are made; a note names the directory of an agent that was probably meant."""
    (tmp_path / wrong).mkdir(parents=True)
    reported()
    done = run("link", tmp_path / wrong)
    assert (done.returncode, done.stdout.count("Linked 1 skill")) == (0, 1)
    meant = ".agents/skills" if wrong == "agents/skills" else ".claude/skills"
    assert f"reads {tmp_path}/{wrong}; did you mean {tmp_path}/{meant}?" in done.stderr
    assert run("link", tmp_path / meant).stderr == ""


def test_the_data_directory_may_not_be_written(tmp_path: Path) -> None:
    """The message names the directory and the reason."""
    (tmp_path / "locked").mkdir(mode=0o500)
    with bound_by_permissions():
        said = refused("--data", "locked", "scan")
    assert f"{tmp_path}/locked" in said
    assert "permission" in said.lower()


def test_the_disk_is_full_before_the_first_scan(tmp_path: Path) -> None:
    """The message names the disk, and what is missing."""
    (tmp_path / "disk").mkdir()
    script = 'mount -t tmpfs -o size=64k tmpfs disk && exec "$0" "$@"'
    program = Path(sys.executable).with_name("skilldrop")
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", script, program, "--data", "disk/data", "scan"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("this system lets nobody mount anything")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no room left on the disk of" in done.stderr
    assert done.stderr.endswith("Free some first.\n")


def test_the_directory_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a root here, the message says how to name one for good."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    said = refused("up")
    assert "elsewhere/watched cannot be read: No such file or directory. Create it, run `" in said
    assert "skilldrop config init`, or name another with --watched, or its settings" in said
    assert refused("status").endswith(" Settings: no file was found.\n")
    Path("skilldrop.toml").touch()
    assert "such file or directory. Create it or name another with --watched" in refused("up")
    Path("skilldrop.toml").unlink()
    (tmp_path / "elsewhere/watched").touch()
    assert "Not a directory. Name another with --watched" in refused("up")


def test_the_settings_are_a_directory(tmp_path: Path) -> None:
    """Or the file is missing; the message names the option for another."""
    (tmp_path / "skilldrop.toml").mkdir()
    said = "The settings file skilldrop.toml cannot be read: Is a directory. Name another with"
    assert refused("status") == f"skilldrop: {said} --config.\n"
    assert "No such file or directory. Name another" in refused("--config", "nowhere", "scan")


def test_the_home_folder_may_not_be_written(tmp_path: Path) -> None:
    """The message names what cannot be made there, and the option for another place."""
    (tmp_path / "home").mkdir(mode=0o500)
    with bound_by_permissions(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path / "home"))
        said = refused("config", "init", "--watched", ROOT)
        folder = refused("config", "init", "--watched", tmp_path / "home/a", "--config", "a.toml")
    assert f"{tmp_path}/home/.config cannot be made: Permission denied. Name another" in said
    assert "another settings file: `skilldrop --config FILE config init`.\n" in said
    assert folder.endswith(
        "home/a cannot be made: Permission denied. Name another folder with --watched.\n"
    )


@pytest.mark.parametrize("words", [("--data", "watched/data"), ("--watched", ".")])
def test_the_data_lie_in_the_root(words: tuple[str, ...]) -> None:
    """Both directories are named, and the one to move."""
    said = refused(*words, "scan")
    assert "are inside one another; move the data directory elsewhere.\n" in said


def test_a_root_lies_in_a_root(tmp_path: Path) -> None:
    """Both roots are named; one of them can stay."""
    roots = (f"[[roots]]\npath = '{path}'\n" for path in (ROOT, ROOT / "word-count"))
    (tmp_path / "skilldrop.toml").write_text("".join(roots))
    said = refused("scan")
    assert f"the root {tmp_path}/watched/word-count is inside another root; keep only one" in said


def test_a_scan_is_interrupted(tmp_path: Path) -> None:
    """Ctrl-C ends it without a traceback, and the next scan completes the catalog."""
    for number in range(300):
        write_skill(ROOT / f"skill-{number}")
    program = Path(sys.executable).with_name("skilldrop")
    scan = subprocess.Popen([program, "scan"], stderr=subprocess.PIPE, text=True)
    wait_for((tmp_path / "var/catalog.db").exists)
    scan.send_signal(signal.SIGINT)
    assert (scan.communicate()[1], scan.returncode) == ("\n", 130)
    assert "301 active" in run("scan").stdout


def test_a_setting_has_a_typo(tmp_path: Path) -> None:
    """The message has the file, the key and the nearest one."""
    (tmp_path / "skilldrop.toml").write_text("[site]\nprot = 8002\n")
    said = "skilldrop.toml: there is no setting prot in [site]; did you mean port?"
    assert refused("status") == f"skilldrop: {said}\n"


def test_an_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is the command that installs it here."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "pipeline.service.scanning.dask_cluster", None)
    monkeypatch.delattr("pipeline.service.scanning.dask_cluster", raising=False)
    said = refused("scan", "--scheduler", "tcp://127.0.0.1:9")
    assert f"Install them with `{sys.executable} -m pip install 'distributed" in said


def test_a_root_has_links_in_place_of_skills(tmp_path: Path) -> None:
    """Links that lead out of the root are not followed; the real folder can be a root."""
    write_skill(tmp_path / "outside/pdf")
    (ROOT / "pdf").symlink_to("../outside/pdf")
    assert (
        f"1 entry of the roots is no skill:\n    {ROOT.absolute()}/pdf: warning link-leaves"
        in run("scan").stdout
    )
    said = "link-leaves-root The link leads out of the root; it is ignored. Replace it with a copy"
    assert f"not a skill: pdf  {said}" in reported()


def test_two_skills_have_one_name() -> None:
    """The one that came later is named, with the command that decides."""
    write_skill(ROOT / "other", name="word-count", body="Other.\n")
    said = reported()
    assert "name conflict: other  shadowed by the project skill in " in said
    assert "Rename one, or choose with `skilldrop prefer PATH`" in said


def test_a_folder_has_no_skill_md() -> None:
    """The folder is named, and the file that makes it a skill."""
    (ROOT / "notes").mkdir()
    (ROOT / "notes/readme.md").write_text("# Notes\n")
    assert "not a skill: notes  " in reported()
    assert "no SKILL.md. Add a SKILL.md to make it a skill" in reported()


def test_an_archive_lies_in_an_archive(tmp_path: Path) -> None:
    """The outer one has no skill; the inner one must be unpacked."""
    inner = shutil.make_archive(str(tmp_path / "packed/inner"), "zip", ROOT)
    shutil.make_archive(str(ROOT / "outer"), "zip", os.path.dirname(inner))
    said = reported()
    assert "error: outer.zip!  archive-without-skill The archive contains no SKILL.md; arch" in said
    assert "Pack the skill's folder with its SKILL.md, or remove the archive" in said
