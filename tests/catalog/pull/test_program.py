"""The program `pull` is one file for any Python, and says what it did."""

import ast
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.site.rendering import assets
from tests.support import program as skilldrop
from tests.support.paths import REPOSITORY
from tests.support.pull_sites import PullSite, pull_site
from tests.support.serving import ServingProcess
from tests.support.skills import write_skill

MODULES = sorted((REPOSITORY / "catalog/pull").glob("*.py"))


@pytest.fixture
def served() -> Iterator[PullSite]:
    """Yield a site with one skill."""
    with pull_site() as site:
        site.publish("pdf", {"SKILL.md": "---\nname: pdf\ndescription: Reads.\n---\n"})
        yield site


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_it_uses_the_standard_library_of_an_old_python_alone(module: Path) -> None:
    """A laptop has Python, but not our libraries."""
    tree = ast.parse(module.read_text(), feature_version=(3, 9))
    names = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else map(_name, node.names))
        if name and not name.startswith("catalog.pull")
    }
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def _name(alias: ast.alias) -> str:
    return alias.name


def test_the_site_serves_it_as_one_file(tmp_path: Path, served: PullSite) -> None:
    """It runs in any folder, without this repository and its libraries."""
    (tmp_path / "pull.pyz").write_bytes(assets.pull_program())
    done = subprocess.run(
        [sys.executable, "-I", "-S", "pull.pyz", served.url, "skills"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "skills: 1 added, 0 unchanged\n  added pdf\n"
    assert (tmp_path / "skills/pdf/SKILL.md").exists()


_HIDING = """
import os, sys
for name in ("link", "symlink", "chown", "fork", "posix_spawn", "statvfs", "getuid"):
    if hasattr(os, name): delattr(os, name)
os.supports_dir_fd.clear(); os.supports_follow_symlinks.clear()
for name in ("fcntl", "ctypes", "pwd", "grp", "resource", "termios"): sys.modules[name] = None
sys.argv = ["pull.pyz", *sys.argv[1:]]
import runpy; runpy.run_path("pull.pyz", run_name="__main__")
"""


def test_it_needs_nothing_that_only_unix_has(tmp_path: Path, served: PullSite) -> None:
    """Windows has neither locks of files nor links."""
    (tmp_path / "pull.pyz").write_bytes(assets.pull_program())
    for said in ("1 added", "1 unchanged"):
        done = subprocess.run(
            [sys.executable, "-I", "-c", _HIDING, served.url, "skills"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert said in done.stdout, done.stderr


def test_the_command_is_the_same_program(tmp_path: Path, served: PullSite) -> None:
    """Its result can be read by programs."""
    done = skilldrop.run("pull", served.url, tmp_path / "skills", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["added"] == ["pdf"]


def test_what_stays_is_said_with_exit_code_1(tmp_path: Path, served: PullSite) -> None:
    """A timer reports it so."""
    (tmp_path / "pdf").mkdir()
    done = skilldrop.run("pull", served.url, tmp_path)
    assert done.returncode == 1
    assert "not copied: pdf: the name is taken there; move that away" in done.stdout


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("127.0.0.1", "begins with https:// or http://"),
        ("http://127.0.0.1:9", "cannot be reached: Connection refused."),
        ("http://[", "is no address"),
        ("http://127.0.0.1:x", "is no address"),
        ("http://" + "x" * 70 + ".invalid", "cannot be reached"),
    ],
)
def test_a_site_that_is_none_is_said_in_a_sentence(url: str, said: str, tmp_path: Path) -> None:
    """The exit code is that of a problem one can fix."""
    done = skilldrop.run("pull", url, tmp_path / "skills")
    assert done.returncode == 2
    assert said in done.stderr


def test_the_token_goes_in_a_header(tmp_path: Path, served: PullSite) -> None:
    """It comes from a file or the environment, never from the list of processes."""
    (tmp_path / "token").write_text("secret\n")
    skilldrop.run("pull", served.url, tmp_path / "skills", "--token-file", tmp_path / "token")
    skilldrop.run("pull", served.url, tmp_path / "others", SKILLDROP_TOKEN="other")
    said = [headers.get("Authorization") for _, headers in served.requests]
    assert said == ["Bearer secret"] * 3 + ["Bearer other"] * 3
    done = skilldrop.run("pull", served.url, tmp_path / "skills", "--token-file", "nowhere")
    assert done.stderr == "Error: nowhere cannot be read: No such file or directory.\n"


def test_a_selection_is_asked_for(tmp_path: Path, served: PullSite) -> None:
    """The site selects as `link` does."""
    skilldrop.run("pull", served.url, tmp_path / "s", "--tag", "a b", "--tag", "c", "--only", "pdf")
    assert served.requests[0][0] == "/pull.json?tag=a+b&tag=c&only=pdf"


def test_one_more_skill_takes_none_away(tmp_path: Path, served: PullSite) -> None:
    """Names add up until one is dropped; the site is asked for those of before apart."""
    for words in (["--only", "pdf"], ["--only", "csv"], ["--drop", "pdf"], ["--drop", "csv"]):
        assert skilldrop.run("pull", served.url, tmp_path / "s", *words).returncode == 0
    asked = [path for path in served.paths() if path.startswith("/pull.json")]
    assert [path.partition("?")[2] for path in asked] == [
        "only=pdf",
        "only=csv&also=pdf",
        "also=csv",
        "also=",
    ]
    done = skilldrop.run("pull", served.url, tmp_path / "s", "--drop", "pdf")
    assert done.stderr == "Error: pdf is not among the skills that --only named there: none.\n"


@pytest.mark.parametrize(
    ("words", "repeated"),
    [
        (["--only", "pdf"], "also=pdf"),
        (["--index", "office"], "index=office"),
        (["--tag", "a b", "--level", "project", "--only", "pdf"], "level=project&tag=a+b&also=pdf"),
        (["--only", "pdf", "--repair"], "also=pdf"),
    ],
    ids=["name", "index", "several", "repair"],
)
def test_a_pull_without_a_selection_repeats_the_earlier_one(
    tmp_path: Path, served: PullSite, words: list[str], repeated: str
) -> None:
    """It says so, and names the option that takes every skill."""
    skilldrop.run("pull", served.url, tmp_path / "s", *words)
    for _ in range(2):
        done = skilldrop.run("pull", served.url, tmp_path / "s")
        said = shlex.join(word for word in words if word != "--repair")
        selected = done.stdout.partition("selected as before: ")[2].partition(";")[0]
        assert sorted(shlex.split(selected)) == sorted(shlex.split(said))
    everything = skilldrop.run("pull", served.url, tmp_path / "s", "--all", "--yes")
    plain = skilldrop.run("pull", served.url, tmp_path / "s")
    assert "selected as before" not in everything.stdout + plain.stdout
    asked = [path.partition("?")[2] for path in served.paths() if path.startswith("/pull.json")]
    assert asked[1:] == [repeated, repeated, "", ""]
    assert "--all takes every skill" in skilldrop.run("pull", "x", "--all", *words).stderr


def test_a_link_of_skilldrop_has_the_name(tmp_path: Path, served: PullSite) -> None:
    """The command that removes it is named."""
    (tmp_path / "var/skills/pdf").mkdir(parents=True)
    (tmp_path / "var/skills/.skilldrop").touch()
    (tmp_path / "s").mkdir()
    (tmp_path / "s/pdf").symlink_to(tmp_path / "var/skills/pdf")
    done = skilldrop.run("pull", served.url, tmp_path / "s")
    assert f"taken there; `skilldrop unlink {tmp_path}/s` removes that link\n" in done.stdout


def test_another_selection_removes_nothing_unasked(tmp_path: Path, served: PullSite) -> None:
    """Not even one of many, and not the second time either."""
    for name in ("a", "b", "c"):
        served.publish(name, {"SKILL.md": "---\nname: x\n---\n"})
    skilldrop.run("pull", served.url, tmp_path / "s")
    del served.skills["a"]
    for _ in range(2):
        done = skilldrop.run("pull", served.url, tmp_path / "s", "--tag", "x")
        assert done.returncode == 1
        assert "1 of 4 skills would be removed. Add --yes to agree, or choose" in done.stdout
    done = skilldrop.run("pull", served.url, tmp_path / "s", "--tag", "x", "--yes")
    assert "1 removed" in done.stdout


def test_an_option_is_never_shortened(tmp_path: Path, served: PullSite) -> None:
    """The nearest one is named instead."""
    for word, nearest in (("--to", "--token-file"), ("--onyl", "--only")):
        done = skilldrop.run("pull", served.url, word, tmp_path / "s")
        assert done.returncode == 2
        assert f"there is no {word}; the nearest is {nearest}\n" in done.stderr
    assert served.paths() == []


def test_it_repeats_itself_after_an_error(
    tmp_path: Path, served: PullSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time counts by the clock, so that a night asleep is no hour of waiting."""
    now = 1_000_000.0
    naps = []

    def sleep(seconds: float) -> None:
        nonlocal now
        naps.append(seconds)
        now += 40_000.0  # the machine was asleep
        served.answers.clear() if len(naps) == 1 else None
        if len(naps) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("catalog.pull.program.time.time", lambda: now)
    monkeypatch.setattr("catalog.pull.program.time.sleep", sleep)
    done = skilldrop.run("pull", served.url, tmp_path / "skills", "--every", "1h")
    assert done.returncode == 130
    assert sum(path.startswith("/pull.json") for path, _ in served.requests) == 3
    assert max(naps) <= 60


@pytest.mark.parametrize("time", ["0", "x", "5y", "", "-1m", "15", "0.1m"])
def test_a_time_that_is_none_is_a_usage_error(time: str, tmp_path: Path) -> None:
    """Nothing is asked."""
    done = skilldrop.run("pull", "http://127.0.0.1:9", tmp_path, f"--every={time}")
    assert done.returncode == 2
    assert "invalid time value" in done.stderr


def test_a_timer_of_systemd_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: PullSite
) -> None:
    """Its units are right for systemd, which is told of them."""
    log = tmp_path / "log"
    systemctl = tmp_path / "bin/systemctl"
    systemctl.parent.mkdir()
    systemctl.write_text(f'#!/bin/sh\necho "$@" >>{log}\n')
    systemctl.chmod(0o755)
    done = skilldrop.run(
        *("pull", served.url, tmp_path / "my skills", "--tag", "50%", "--every", "2h"),
        *("--install-timer", "--yes"),
        PATH=f"{systemctl.parent}:{os.environ['PATH']}",
        XDG_CONFIG_HOME=str(tmp_path / "config"),
    )
    assert done.returncode == 0, done.stderr
    service, unit = sorted((tmp_path / "config/systemd/user").iterdir())
    assert "OnUnitActiveSec=7200" in unit.read_text()
    assert f'"{tmp_path}/my skills" "--tag" "50%%"' in service.read_text()
    assert log.read_text() == f"--user daemon-reload\n--user enable --now {unit.name}\n"


def test_a_machine_without_systemd_is_told_of_the_other_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written."""
    monkeypatch.setattr("catalog.pull.timer.shutil.which", lambda _: None)
    done = skilldrop.run("pull", "http://127.0.0.1:9", tmp_path, "--install-timer", "--yes")
    assert (done.returncode, "--every" in done.stderr) == (2, True)


def test_a_repaired_skill_md_takes_the_place_of_one_that_agents_refuse(tmp_path: Path) -> None:
    """Only its repairs differ, the lock file has both digests, and an export does the same."""
    it = ServingProcess(tmp_path, site={"enabled": True})
    write_skill(it.root / "colon", description="Does this: and that.")
    write_skill(it.root / "plain")
    published = (it.root / "colon/SKILL.md").read_bytes()
    repaired = published.replace(b"Does this: and that.", b"'Does this: and that.'")
    it.start()
    try:
        it.settle()
        it.wait_for(lambda: it.health()["site_host"])
        url, copy = f"http://127.0.0.1:{it.health()['site_port']}", tmp_path / "copy"
        it.wait_for(lambda: skilldrop.run("pull", url, copy).returncode == 0)
        assert (copy / "colon/SKILL.md").read_bytes() == published
        done = skilldrop.run("pull", url, copy, "--repair")
        assert "updated colon\n  repaired: colon/SKILL.md" in done.stdout
        assert (copy / "colon/SKILL.md").read_bytes() == repaired
        assert skilldrop.run("pull", url, copy, "--repair").stdout.startswith(
            f"{copy}: 3 unchanged"
        )
        (row,) = (
            each
            for each in json.loads((copy / "skilldrop.lock").read_text())["skills"]
            if each["folder"] == "colon"
        )
        assert row["repaired"] == hashlib.sha256(repaired).hexdigest()
        assert row["digest"] == it.rows("SELECT digest FROM skills WHERE name = 'colon'")[0][0]
        said = "answers: 404 Not Found. Give the address of the site itself."
        assert said in skilldrop.run("pull", f"{url}/nowhere", copy).stderr
        own = ("--watched", it.root, "--data", it.settings.data)
        skilldrop.run(*own, "token", "new", "ann")
        said = "answers: It needs the token of a reader: put yours into SKILLDROP_TOKEN or a"
        it.wait_for(lambda: said in skilldrop.run("pull", url, copy).stderr)
        done = skilldrop.run(*own, "export", tmp_path / "image", "--repair")
        assert "repaired: colon/SKILL.md" in done.stdout
        assert (tmp_path / "image/colon/SKILL.md").read_bytes() == repaired
    finally:
        it.stop()


def test_a_real_site_is_followed(tmp_path: Path) -> None:
    """Additions, changes and removals arrive; skills for people alone do not."""
    it = ServingProcess(tmp_path, site={"enabled": True})
    for name in ("a", "b", "c"):
        write_skill(it.root / name, description=f"Does {name}.")
    write_skill(it.root / "mine", description="For people.", more="disable-model-invocation: true")
    it.start()
    try:
        it.settle()
        port = it.health()["site_port"]
        it.wait_for(lambda: it.health()["site_host"])
        pulled = ("pull", f"http://127.0.0.1:{port}", tmp_path / "copy", "--json")
        it.wait_for(lambda: skilldrop.run(*pulled).returncode == 0)
        copies = {path.name for path in (tmp_path / "copy").iterdir() if path.is_dir()}
        assert copies == {"a", "b", "c", "sentinel"}
        write_skill(it.root / "a", description="Does more.")
        (it.root / "b/SKILL.md").unlink()
        it.settle()
        said = json.loads(skilldrop.run(*pulled).stdout)
        assert (said["updated"], said["removed"]) == (["a", "sentinel"], ["b"])
        published = (it.settings.data / "skills/a/SKILL.md").read_bytes()
        assert (tmp_path / "copy/a/SKILL.md").read_bytes() == published
    finally:
        it.stop()
