"""Reports of agents that loaded a skill from the disk."""

import json
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from shutil import which
from typing import Any

import httpx
import pytest

from catalog.filesystem import token_file
from catalog.site.api import reports
from catalog.usage import database
from tests.support.paths import REPOSITORY
from tests.support.records import NOON
from tests.support.serving import ServingProcess
from tests.support.shelf import Shelf
from tests.support.sites import Site
from tests.support.skills import write_skill

BY_MODEL = {
    "session_id": "b6d31634-21c7-45b4-b290-0b93d3c9cf12",
    "transcript_path": "/home/anna/.claude/projects/-home-anna-work/b6d31634.jsonl",
    "cwd": "/home/anna/work",
    "prompt_id": "c6b6580e-23de-4d51-8ba1-13471548c6e3",
    "permission_mode": "default",
    "effort": {"level": "medium"},
    "hook_event_name": "PostToolUse",
    "tool_name": "Skill",
    "tool_input": {"skill": "/pdf", "args": "hi there"},
    "tool_response": {"success": True, "commandName": "pdf"},
    "tool_use_id": "toolu_01",
    "duration_ms": 10,
}
"""Input of a hook of Claude Code 2.1.330, whose model asked for `/pdf`."""
BY_PERSON = {
    "session_id": "0a43e0f7-c649-455f-a6c8-21910a412794",
    "transcript_path": "/home/anna/.claude/projects/-home-anna-work/0a43e0f7.jsonl",
    "cwd": "/home/anna/work",
    "prompt_id": "71ffefbb-e23f-4187-aac0-302bf10df57c",
    "permission_mode": "default",
    "hook_event_name": "UserPromptExpansion",
    "expansion_type": "slash_command",
    "command_name": "pdf",
    "command_args": "some text",
    "command_source": "userSettings",
    "prompt": "/pdf some text",
}
"""Input of a hook after somebody has typed `/pdf some text`."""
BY_GEMINI = {
    "session_id": "6cd4882a-62d9-4ad1-bc66-433ca75741bd",
    "transcript_path": "/home/anna/.gemini/tmp/work/chats/session-2026-11-26T04-28-6cd4882a.jsonl",
    "cwd": "/home/anna/work",
    "hook_event_name": "AfterTool",
    "timestamp": "2026-11-26T04:28:07.479Z",
    "tool_name": "activate_skill",
    "tool_input": {"name": "pdf"},
    "tool_response": {
        "llmContent": '<activated_skill name="pdf">\n  <instructions>\n    # PDF\n',
        "returnDisplay": "Skill **pdf** activated.",
    },
}
"""Input of a hook of Gemini CLI 0.61."""


def of_codex(*skills: str) -> dict[str, Any]:
    """Return the log of Codex 0.169 with an event before and one for each loaded skill."""
    events = [{"event.name": "codex.user_prompt", "prompt": "[REDACTED]"}] + [
        {"event.name": "codex.skill_invocation", "skill.name": name, "skill.scope": "user"}
        for name in skills
    ]
    records = [
        {
            "eventName": "event",
            "body": None,
            "attributes": [
                {"key": key, "value": {"stringValue": value}} for key, value in event.items()
            ],
        }
        for event in events
    ]
    return {"resourceLogs": [{"scopeLogs": [{"scope": {}, "logRecords": records}]}]}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return two published skills."""
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    write_skill(shelf.root / "pdf")
    write_skill(shelf.root / "csv")
    shelf.scan()
    yield shelf
    shelf.close()


@pytest.fixture
def shelf(published: Shelf) -> Shelf:
    """Return them without reads and tokens."""
    published.settings.tokens_path.unlink(missing_ok=True)
    usage = database.path_of(published.settings.catalog_path)
    for file in usage.parent.glob(f"{usage.name}*"):
        file.unlink()
    return published


@pytest.fixture
def site(shelf: Shelf, serve: Callable[..., Site]) -> Site:
    """Return their site, which takes reports."""
    return serve(shelf.settings.catalog_path, reports=True)


def post(site: Site, report: Any, **more: Any) -> httpx.Response:
    """Send a report; a text as it is."""
    content = report if isinstance(report, str | bytes) else json.dumps(report)
    return site.ask("post", "/usage", content=content, **more)


def reported(shelf: Shelf) -> list[tuple[Any, ...]]:
    """Return the skills that agents reported, with the versions and the numbers."""
    with closing(sqlite3.connect(database.path_of(shelf.settings.catalog_path))) as db:
        return db.execute(
            "SELECT skill_id, version, reads FROM reads WHERE route = 'agent'"
        ).fetchall()


@pytest.mark.parametrize(
    "report", [BY_MODEL, BY_PERSON, BY_GEMINI, of_codex("pdf"), {"skill": "pdf"}]
)
def test_a_report_counts_as_a_read_of_the_current_version(
    site: Site, shelf: Shelf, report: dict[str, Any]
) -> None:
    """On the page of usage and in the queries; nothing else of it is stored."""
    assert (post(site, report).status_code, post(site, report).content) == (204, b"")
    site.write_counts()
    (version,) = shelf.db.execute("SELECT version FROM versions WHERE skill_id = 'pdf'").fetchone()
    assert reported(shelf) == [("pdf", version, 2)]
    assert [row["skill"] for row in site.rows("never_read")] == ["csv"]
    assert site.rows("read_most")[0]["by_agent"] == 2
    assert "2 from the disk" in site.get("/usage").text
    assert "2 reads in 30 days." in site.get("/skills/pdf").text


@pytest.mark.parametrize(
    "report",
    [
        "",
        "[" * 60_000,
        b"\xff",
        "[]",
        {},
        {"skill": ""},
        {"skill": ["pdf"]},
        {"resourceLogs": [{"scopeLogs": "x"}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": {"key": 1}}]}]}]},
        BY_MODEL | {"tool_name": "Read"},
        BY_MODEL | {"tool_response": "pdf"},
    ],
)
def test_another_body_is_answered_with_its_right_form(site: Site, report: Any) -> None:
    """In one sentence."""
    answer = post(site, report)
    assert answer.status_code == 400
    assert answer.text == 'A report is {"skill": "NAME"}, or the input of a hook that has one.\n'


def test_a_skill_that_is_not_in_the_catalog_is_answered_with_its_nearest_names(
    site: Site, shelf: Shelf
) -> None:
    """It never enters the database."""
    answer = post(site, {"skill": "pdff" + "f" * 60_000})
    assert (answer.status_code, len(answer.text) < 300) == (404, True)
    answer = post(site, {"skill": "pdff"})
    assert (answer.status_code, "The closest are: pdf." in answer.text) == (404, True)
    site.write_counts()
    assert reported(shelf) == []


def test_a_log_counts_each_skill_that_was_loaded(site: Site, shelf: Shelf) -> None:
    """A log without any is fine; one that the catalog does not have is told, and hinders none."""
    assert post(site, of_codex()).status_code == 204
    assert post(site, of_codex("pdf", "csv", "pdf")).status_code == 204
    assert post(site, of_codex("skill-creator", "csv")).status_code == 404
    assert post(site, of_codex(*["pdf"] * 1000)).status_code == 204
    site.write_counts()
    assert sorted((skill, reads) for skill, _, reads in reported(shelf)) == [
        ("csv", 2),
        ("pdf", 102),
    ]


def test_a_large_report_is_refused_before_all_of_it_is_read(site: Site) -> None:
    """It may come in pieces, and without its size."""
    sent = []

    async def pieces(number: int) -> Any:
        yield b'{"skill": "pdf"}'
        for _ in range(number):
            sent.append(2**10)
            yield b" " * 2**10

    assert post(site, '{"skill": "pdf"}'.ljust(reports.MOST_BYTES)).status_code == 204
    assert post(site, '{"skill": "pdf"}'.ljust(reports.MOST_BYTES + 1)).status_code == 413
    assert site.ask("post", "/usage", content=pieces(9)).status_code == 204
    sent.clear()
    assert site.ask("post", "/usage", content=pieces(3000)).status_code == 413
    assert sum(sent) < 2 * reports.MOST_BYTES


def test_a_client_that_hangs_up_within_its_report_leaves_no_trace(
    site: Site, shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is counted, and nothing logged."""
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": b'{"skill": "pdf"', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/usage",
        "raw_path": b"/usage",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 9),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
    }
    site.runner.run(site.app(scope, receive, send))
    site.write_counts()
    assert (messages, caplog.records, reported(shelf)) == ([], [], [])


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "127.0.0.1"},
        {"Host": "skills.example.org"},
        {"Origin": "http://localhost"},
        {"Origin": "null", "Content-Type": "text/plain"},
    ],
)
def test_a_report_from_elsewhere_or_from_a_web_page_is_refused(
    shelf: Shelf, serve: Callable[..., Site], headers: dict[str, str]
) -> None:
    """A proxy stands for anybody, and a page of any site can send to this machine."""
    site = serve(shelf.settings.catalog_path, reports=True, names=("skills.example.org",))
    assert post(site, {"skill": "pdf"}, headers=headers).status_code == 403


def test_a_reader_with_a_token_may_report_from_everywhere(site: Site, shelf: Shelf) -> None:
    """Once there is one, nobody may without, as with all other addresses."""
    secret = token_file.add(shelf.settings.tokens_path, "lab", NOON)
    through = {"X-Forwarded-For": "192.0.2.1"}
    report = {"skill": "pdf"}
    assert post(site, report).status_code == 401
    bearer = {"Authorization": f"Bearer {secret}"}
    assert post(site, report, headers=through | bearer).status_code == 204
    address = f"/token/{secret}/usage"
    assert site.ask("post", address, json=report, headers=through).status_code == 204


@pytest.mark.parametrize(("usage", "asked"), [(True, False), (False, True)])
def test_a_site_takes_no_reports_unless_it_should(
    shelf: Shelf, serve: Callable[..., Site], *, usage: bool, asked: bool
) -> None:
    """Nor where reads are not counted; the page of usage stays."""
    site = serve(shelf.settings.catalog_path, usage=usage, reports=asked)
    answer = post(site, {"skill": "pdf"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert site.get("/usage").status_code == 200


def test_other_addresses_and_methods_stay_refused(site: Site) -> None:
    """The site only reads."""
    assert [site.ask("post", path).status_code for path in ("/", "/skills")] == [405, 405]
    answer = site.ask("put", "/usage")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")


@pytest.mark.skipif(not which("curl"), reason="no curl")
def test_the_hooks_in_the_documentation_report_to_a_real_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They succeed and say nothing, also where no site runs."""
    page = (REPOSITORY / "docs/explanation/who-reads-what.md").read_text("utf-8")
    (settings,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    hooks = json.loads(settings)["hooks"]
    monkeypatch.setenv("SKILLDROP_SITE__REPORTS", "true")
    it = ServingProcess(tmp_path, site={"enabled": True})
    write_skill(it.root / "pdf")
    it.start()
    try:
        it.settle()
        it.wait_for(lambda: it.health()["site_host"])
        port = it.health()["site_port"]
        asked = ("curl", "-sf", f"http://127.0.0.1:{port}/-/openapi.json")
        it.wait_for(lambda: subprocess.run(asked, capture_output=True).returncode == 0)
        for report in (BY_MODEL, BY_PERSON, BY_PERSON | {"command_name": "nothing"}):
            (matched,) = hooks[report["hook_event_name"]]
            (hook,) = matched["hooks"]
            for address in (f"127.0.0.1:{port}", "127.0.0.1:9"):
                command = hook["command"].replace("127.0.0.1:8001", address)
                done = subprocess.run(
                    command, shell=True, input=json.dumps(report).encode(), capture_output=True
                )
                assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    finally:
        it.stop()
    with closing(sqlite3.connect(it.settings.data / "usage.db")) as db:
        assert db.execute("SELECT skill_id, reads, route FROM reads").fetchall() == [
            ("pdf", 2, "agent")
        ]
