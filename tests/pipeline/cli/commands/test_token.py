"""Commands for readers' tokens, for the installation of a skill, and the warning of `status`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.site.server.process import SiteProcess
from pipeline.service.heartbeat import Heartbeat, Troubles
from pipeline.service.open_catalog import open_store
from tests.support import program
from tests.support.records import NOON
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return the default root and catalog: a skill, one for people alone, and a rejected one."""
    made = Shelf(tmp_path)
    skill(made.root / "word-count", description="Counts words.")
    skill(made.root / "people-only", more="disable-model-invocation: true")
    skill(made.root / "wrong", description="")
    made.scan()
    yield made
    made.close()


def run(*words: str, code: int = 0) -> tuple[str, str]:
    """Run the program, and return its output and its messages."""
    done = program.run(*words)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def test_tokens_come_and_go(shelf: Shelf) -> None:
    """A token is printed once, listed by name, and removed; the last one only on purpose."""
    assert run("token", "list")[0].startswith("There are no tokens")
    secret, note = run("token", "new", "lab")
    assert secret.startswith("skilldrop_")
    assert len(secret.strip()) > 50
    assert "needs a token" in note
    assert json.loads(run("token", "new", "ci", "--json")[0])["name"] == "ci"
    assert [row["name"] for row in json.loads(run("token", "list", "--json")[0])] == ["lab", "ci"]
    assert secret.strip() not in run("token", "list")[0]
    assert run("token", "remove", "lab") == (
        "Removed the token lab; the site refuses its reader.\n",
        "",
    )
    assert "--open" in run("token", "remove", "ci", code=2)[1]
    assert "No token is left" in run("token", "remove", "ci", "--open")[1]


def test_a_skill_is_shown_with_its_installation(shelf: Shelf) -> None:
    """Each client has its line, with the address of the site, and none needs a token yet."""
    out, _ = run("show", "word-count")
    assert out.startswith("word-count\nCounts words.\nstatus    active\nversion   2")
    assert "  npx skills add http://127.0.0.1:8001/skills/word-count\n" in out
    assert "~/.claude/skills/word-count" in out
    facts = json.loads(run("show", "word-count", "--json")[0])
    assert {"skill_id", "name", "description", "status", "location", "version"} <= facts.keys()
    assert [line["client"] for line in facts["install"]][2:3] == ["Claude Code"]


def test_the_address_is_the_configured_one(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """With tokens, the lines have a place for one."""
    monkeypatch.setenv("SKILLDROP_SITE__URL", "https://skills.example.org")
    run("token", "new", "lab")
    out, _ = run("show", "word-count")
    assert "npx skills add https://skills.example.org/token/TOKEN/skills/word-count" in out
    assert "curl -fsSn https://skills.example.org/skills/word-count/bundle.zip" in out
    assert "\nTOKEN stands for your token; `skilldrop token new NAME`, where the site runs" in out
    assert "~/.netrc: `machine skills.example.org login me password TOKEN`.\n" in out


def test_a_skill_that_agents_do_not_get_is_not_installed(shelf: Shelf) -> None:
    """It is shown with its status or the reason, and a wrong name with the closest ones."""
    out, _ = run("show", "people-only")
    assert "Claude Code:\n" in out
    assert "npx" not in out
    assert out.endswith("Clients that ignore this have no command here.\n")
    rejected = json.loads(run("show", "wrong", "--json")[0])
    assert (rejected["status"], rejected["install"]) == ("rejected", [])
    assert "The closest are: word-count." in run("show", "word-cont", code=2)[1]


def test_an_unprotected_site_is_told(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status warns if the settings let everybody in the network read."""
    assert json.loads(run("status", "--json")[0])["site_warning"] is None
    monkeypatch.setenv("SKILLDROP_SITE__HOST", "0.0.0.0")
    assert "The server listens on 0.0.0.0" in run("status")[0]
    run("token", "new", "lab")
    assert "listens on" not in run("status")[0]


def test_the_site_of_a_running_service_counts(shelf: Shelf) -> None:
    """Its address may come from the command line of `up`, which other commands do not see."""
    store = open_store(shelf.settings)
    site = SiteProcess(shelf.settings.catalog_path, "0.0.0.0", 9001)
    heartbeat = Heartbeat(Troubles(), site)
    heartbeat.begin(store, NOON)
    try:
        assert "The server listens on 0.0.0.0" in run("status")[0]
        assert "http://127.0.0.1:9001/skills/word-count" in run("show", "word-count")[0]
        heartbeat.end(store, NOON)
        assert "listens on" not in run("status")[0]
        assert "http://127.0.0.1:8001/skills/word-count" in run("show", "word-count")[0]
    finally:
        store.close()


@pytest.mark.parametrize("url", ["skills.example.org", "ftp://x", "https://x/below"])
def test_an_address_that_is_none_is_a_usage_error(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """The message names the setting."""
    monkeypatch.setenv("SKILLDROP_SITE__URL", url)
    assert "url" in run("status", code=2)[1].lower()
