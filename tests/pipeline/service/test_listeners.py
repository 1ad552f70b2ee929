"""Listeners to changes: what the log says, and hooks that are told at least once, in order."""

import html
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from catalog.model.change import Event
from catalog.writing.store import Store
from pipeline.config.hook import Hook
from pipeline.outcomes.collect import OutcomeReport
from pipeline.service import chats, listeners
from pipeline.service.listeners import log_changes, log_outcomes
from tests.pipeline.service.test_payload import suggest
from tests.support.receivers import Received, receiver
from tests.support.serving import Serving
from tests.support.skills import SkillWriter

REJECTED = Event(
    1,
    "2026-01-01T00:00:00.000+00:00",
    "rejected",
    "event",
    "/r",
    "a\x1b[2J",
    "a",
    "a",
    None,
    "why",
)


def test_a_change_is_logged_without_terminal_escapes(caplog: pytest.LogCaptureFixture) -> None:
    """Controls in a path are written out."""
    caplog.set_level("INFO")
    log_changes([REJECTED])
    assert caplog.messages == ["rejected a[U+001B][2J (why)"]


def test_held_removals_are_counted_by_reason(caplog: pytest.LogCaptureFixture) -> None:
    """One line for each root and reason, however many skills are held."""
    held = REJECTED._replace(outcome="held", detail="30 of 30 skills disappeared at once")
    log_changes([held] * 30)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(
        "/r: 30 of 30 skills disappeared at once; the removal of 30 skills is held until"
    )


def test_a_skill_that_cannot_be_published_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The other results are information."""
    log_changes([REJECTED._replace(outcome="withheld", path="a")])
    assert [record.levelname for record in caplog.records] == ["WARNING"]


DANGEROUS = REJECTED._replace(
    outcome="withheld", path="a", detail="waits for review", dangers="data-sent-away, secret"
)


def test_a_danger_is_the_first_that_the_log_says(caplog: pytest.LogCaptureFixture) -> None:
    """It is a warning whether agents get the version or not; the next step is named."""
    log_changes([DANGEROUS, DANGEROUS._replace(outcome="added", detail=None)])
    withheld, added = caplog.messages
    assert withheld == (
        "withheld a (danger: data-sent-away, secret; waits for review);"
        " `skilldrop status` says what you can do"
    )
    assert added == "added a (danger: data-sent-away, secret)"
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_a_hook_can_ask_for_dangers_alone() -> None:
    """It gets their codes."""
    hook = Hook(name="a", on=("danger",), url="http://x/")
    events = Store.in_memory().events
    body = listeners._body(hook, [REJECTED, DANGEROUS], events)
    assert [event["dangers"] for event in json.loads(body or b"")["events"]] == [
        ["data-sent-away", "secret"]
    ]
    assert listeners._body(hook, [REJECTED], events) is None


def test_outcome_files_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Stored files, and rejected ones with the reason."""
    caplog.set_level("INFO")
    log_outcomes(OutcomeReport(stored=["a.json"], rejected={"b.json": "no JSON"}))
    assert caplog.messages == ["outcome a.json stored", "outcome b.json rejected: no JSON"]
    caplog.clear()
    log_outcomes(OutcomeReport(stored=["a.json"], unlinked=["a.json"], linked=1))
    assert caplog.messages == [
        "outcome a.json stored",
        "outcome a.json: the catalog does not have the skill or the version, or none is named",
        "1 earlier outcome linked to new skills",
    ]


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[Received]:
    """Serve a receiver, and try again soon after failures."""
    monkeypatch.setattr(listeners, "FIRST_PAUSE", 0.05)
    with receiver() as it:
        yield it


def hooked(received: Received, *on: str) -> tuple[Hook, ...]:
    """Return the settings of a hook for some kinds of changes."""
    return (Hook(name="chat", on=on, url=received.url),)


def events(received: Received) -> list[dict[str, Any]]:
    """Return all received events."""
    return [event for _, body in received for event in json.loads(body)["events"]]


def paths(received: Received) -> list[str]:
    """Return the paths of the received events without the sentinel."""
    return [event["path"] for event in events(received) if event["path"] != "sentinel"]


def test_a_hook_is_told_of_what_it_asked_for(
    serving: Callable[..., Serving], skill: SkillWriter, received: Received
) -> None:
    """Publications and rejections arrive with skill and version; other changes do not."""
    it = serving(hooks=hooked(received, "published", "rejected")).start()
    skill(it.root / "a")
    it.settle()
    (it.root / "bad").mkdir()
    (it.root / "bad/SKILL.md").write_text("no frontmatter")
    it.settle()
    (it.root / "a/SKILL.md").unlink()
    it.settle()
    it.wait_for(lambda: "bad" in paths(received))
    assert [(e["outcome"], e["path"]) for e in events(received) if e["path"] != "sentinel"] == [
        ("added", "a"),
        ("rejected", "bad"),
    ]
    first = next(event for event in events(received) if event["path"] == "a")
    assert first["is_published"] is True
    assert first["version"]


def test_a_failing_hook_is_told_again_in_order(
    serving: Callable[..., Serving], skill: SkillWriter, received: Received
) -> None:
    """Failures are part of health and of no effect on ingestion; then all changes arrive."""
    received.answers = [500] * 4
    it = serving(hooks=hooked(received, "added")).start()
    skill(it.root / "a")
    it.wait_for(lambda: it.rows("SELECT 1 FROM troubles WHERE part = 'hook chat'"))
    skill(it.root / "b")
    it.wait_for(lambda: it.statuses().keys() == {"a", "b"})
    it.wait_for(lambda: paths(received) == ["a", "b"])
    it.wait_for(lambda: not it.rows("SELECT 1 FROM troubles"))
    assert received.refused == 4


def test_a_refused_delivery_is_told_and_not_repeated(
    serving: Callable[..., Serving], skill: SkillWriter, received: Received
) -> None:
    """A server that answers 404 would answer so for ever; later changes are sent."""
    received.answers = [404]
    it = serving(hooks=hooked(received, "added")).start()
    skill(it.root / "a")
    said = "SELECT message FROM troubles WHERE part = 'hook chat'"
    it.wait_for(lambda: it.rows(said))
    (row,) = it.rows(said)
    assert "its server answered 404. They are not sent again." in row[0]
    skill(it.root / "b")
    it.wait_for(lambda: paths(received) == ["b"])
    it.wait_for(lambda: not it.rows(said))
    assert received.refused == 1


def test_a_hook_can_be_for_some_sources_and_has_findings_and_what_waits(
    serving: Callable[..., Serving], skill: SkillWriter, received: Received
) -> None:
    """So authors who only drop folders hear of their own skills."""
    hook = Hook(name="ann", on=("added", "rejected"), sources=("ann",), url=received.url)
    it = serving(hooks=(hook,)).start()
    skill(it.root / "other", more="author: bob")
    skill(it.root / "mine", name="wrong", more="author: ann")
    it.wait_for(lambda: "mine" in paths(received))
    (event,) = (each for each in events(received) if each["path"] != "sentinel")
    assert (event["source"], event["review"]) == ("ann", None)
    found = {each["code"]: each for each in event["findings"]}
    assert found["name-not-folder"]["severity"] == "error"
    assert found["name-not-folder"]["line"] == 2


EVIL = DANGEROUS._replace(detail="waits for <!channel> @here ```", review="waits", version="v")
PAGE = f"https://s.example/skills/{EVIL.skill_id}"


@pytest.mark.parametrize("form", ["slack", "mattermost", "teams"])
def test_a_chat_gets_a_message_in_its_form(form: Any, received: Received) -> None:
    """No text of a skill becomes a mention, a link or markup there."""
    hook = Hook(name="a", on=("withheld",), url=received.url, format=form)
    body = listeners._body(hook, [EVIL], Store.in_memory().events, "https://s.example/")
    hook.send(body or b"", "1")
    ((_, got),) = received
    message = json.loads(got)
    if form == "teams":
        (attachment,) = message["attachments"]
        assert message["type"] == "message"
        assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
        (block,) = attachment["content"]["body"]
        run, link = block["inlines"]
        text = run["text"] + link["text"]
        assert link["selectAction"]["url"] == PAGE
        assert (block["type"], run["type"]) == ("RichTextBlock", "TextRun")
    else:
        text = message["text"]
    assert ", waits for review: waits for <!channel> @here" in html.unescape(text)
    assert text.endswith(f" {PAGE}")
    if form == "slack":
        assert "<" not in text
        assert message["mrkdwn"] is False
    if form == "mattermost":
        assert text.startswith("`")
        assert text.endswith(f"` {PAGE}")
        assert text.count("`") == 2


def test_a_long_line_of_a_chat_shows_that_it_is_cut() -> None:
    """Chats refuse long messages; the address of the page stays whole."""
    event = {"outcome": "added", "name": "a", "skill_id": "a", "detail": "word " * 200}
    sent = chats.message("slack", [event | {"review": None, "findings": []}], "https://s/")["text"]
    line, _, page = sent.rpartition(" ")
    assert len(line) <= chats.MOST_CHARS
    assert line.endswith("…")
    assert page == "https://s/skills/a"


def test_a_chat_is_told_the_worst_of_a_skill_in_one_line() -> None:
    """A danger comes before the words of the change, but not before those of a decision."""
    findings = [
        {"severity": "danger", "message": "It sends."},
        {"severity": "error", "message": "x"},
    ]
    event = {"outcome": "updated", "name": "a", "skill_id": "a", "detail": "d", "review": None}
    decided = event | {"review": "approved", "detail": "approved in review by ann: ok"}
    decision = chats.message("slack", [decided | {"findings": findings}], "")["text"]
    assert decision == "a updated: approved in review by ann: ok"
    assert [
        chats.message("slack", [event | {"findings": found}], "")["text"]
        for found in (findings[::-1], findings[1:], [])
    ] == ["a updated: danger: It sends.", "a updated: d", "a updated: d"]


def test_memories_reach_their_hook_once_and_in_order(
    serving: Callable[..., Serving], skill: SkillWriter, received: Received
) -> None:
    """Also if the hook fails at first, and over a stop and a start."""
    received.answers = [500] * 2
    hook = Hook(name="anna", on=("memory",), url=received.url)
    it = serving(hooks=(hook,))
    it.start()
    skill(it.root / "meetings")
    it.settle()
    for number in range(3):
        suggest(it.settings.outcomes_folder, f"memory {number}", run=f"run-{number}")
        it.wait_for(lambda number=number: len(it.rows("SELECT 1 FROM outcomes")) == number + 1)
    it.wait_for(lambda: len(events(received)) == 3)
    it.stop()
    it.start()
    suggest(it.settings.outcomes_folder, "memory 3", run="run-3")
    it.wait_for(lambda: len(events(received)) == 4)
    assert [event["memory_write"]["content"] for event in events(received)] == [
        f"memory {number}" for number in range(4)
    ]
    assert {event["outcome"]["skill_id"] for event in events(received)} == {"meetings"}


def test_a_delivery_during_a_stop_is_not_repeated(
    serving: Callable[..., Serving], skill: SkillWriter, received: Received
) -> None:
    """A stop waits for its answer, so the next start tells only later memories."""
    received.answers = [0]
    it = serving(hooks=(Hook(name="all", on=("memory",), url=received.url),)).start()
    skill(it.root / "meetings")
    it.settle()
    suggest(it.settings.outcomes_folder, "early")
    it.wait_for(lambda: not received.answers)
    assert it.service
    it.service.stop()
    received.release.set()
    it.stop()
    it.start()
    suggest(it.settings.outcomes_folder, "late", run="run-2")
    it.wait_for(lambda: len(received) >= 2)
    told = [event["memory_write"]["content"] for event in events(received)]
    assert told == ["early", "late"]


def test_a_hook_that_hangs_blocks_nothing(
    serving: Callable[..., Serving],
    skill: SkillWriter,
    received: Received,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While a server does not answer, skills are published; a stop waits for a moment only."""
    monkeypatch.setattr(listeners, "GRACE", 0.01)
    received.answers = [0]
    it = serving(hooks=hooked(received, "added")).start()
    skill(it.root / "a")
    it.wait_for(lambda: not received.answers)
    skill(it.root / "b")
    it.wait_for(lambda: it.statuses() == {"a": "active", "b": "active"})
    it.stop()


def test_no_change_is_lost_over_a_stop(
    serving: Callable[..., Serving], skill: SkillWriter, received: Received
) -> None:
    """A change that was not delivered before the end is delivered after the next start."""
    received.answers = [500] * 1000
    it = serving(hooks=hooked(received, "added")).start()
    skill(it.root / "a")
    it.wait_for(lambda: received.refused)
    it.stop()
    received.answers.clear()
    it.start()
    it.wait_for(lambda: paths(received) == ["a"])
