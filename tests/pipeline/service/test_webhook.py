"""Webhook: signed requests ask for a pull at once; all others are refused."""

import hashlib
import hmac
import http.client
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.config.root_settings import GitRootSettings
from pipeline.config.settings import WebhookSettings
from pipeline.service.pulls import MOST_BYTES
from tests.support.ports import free_port
from tests.support.program import run
from tests.support.repositories import Repository
from tests.support.serving import Serving


@pytest.fixture
def it(serving: Callable[..., Serving], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serving:
    """Return a service with a repository that is pulled once a day, and a webhook."""
    monkeypatch.setenv("PUSH_SECRET", "s3cret")
    repository = Repository(tmp_path / "repo")
    repository.skill("one")
    repository.commit()
    it = serving(
        roots=(GitRootSettings(git=repository.url, every="1d"),),
        webhook=WebhookSettings(port=free_port(), secret_env="PUSH_SECRET"),
    ).start()
    it.wait_for(lambda: it.statuses() == {"one": "active"})
    it.wait_for(it.is_quiet)
    return it


def post(
    it: Serving,
    more: dict[str, str] | None = None,
    *,
    key: bytes = b"s3cret",
    path: str = "/pull",
) -> int:
    """Send a request and return the status."""
    body = b"{}"
    signature = f"sha256={hmac.new(key, body, hashlib.sha256).hexdigest()}"
    connection = http.client.HTTPConnection("127.0.0.1", it.settings.webhook.port or 0, timeout=20)
    connection.request("POST", path, body, {"X-Hub-Signature-256": signature} | (more or {}))
    return connection.getresponse().status


def test_a_push_is_pulled_at_once(it: Serving, tmp_path: Path) -> None:
    """A signed request pulls, long before the interval is over."""
    repository = Repository.__new__(Repository)
    repository.folder = tmp_path / "repo"
    repository.skill("two")
    repository.commit()
    assert post(it) == 202
    it.wait_for(lambda: it.statuses() == {"one": "active", "two": "active"})


def test_all_other_requests_are_refused(it: Serving) -> None:
    """A wrong or missing signature, another path or method, and a large body pull nothing."""
    pulled = it.rows("SELECT pulled_at FROM mirrors")
    assert post(it, key=b"other") == 403
    assert post(it, {"X-Hub-Signature-256": ""}) == 403
    assert post(it, {"X-Hub-Signature-256": "sha256=\xe9"}) == 403
    assert post(it, path="/") == 404
    assert post(it, {"Content-Length": str(MOST_BYTES + 1)}) == 413
    assert post(it, {"Content-Length": "many"}) == 411
    connection = http.client.HTTPConnection("127.0.0.1", it.settings.webhook.port or 0, timeout=20)
    connection.request("GET", "/pull")
    assert connection.getresponse().status == 405
    it.rescan()
    assert it.rows("SELECT pulled_at FROM mirrors") == pulled


def test_silent_clients_do_not_stop_the_service(it: Serving) -> None:
    """Connections without a request hold neither the service nor its end."""
    silent = [
        socket.create_connection(("127.0.0.1", it.settings.webhook.port or 0)) for _ in range(20)
    ]
    it.rescan()
    it.stop()
    for connection in silent:
        connection.close()


def test_a_port_in_use_is_part_of_health(
    serving: Callable[..., Serving], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service runs on, and says that the webhook does not listen."""
    monkeypatch.setenv("PUSH_SECRET", "s3cret")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        it = serving(webhook=WebhookSettings(port=port, secret_env="PUSH_SECRET")).start()
        it.wait_for(lambda: it.rows("SELECT 1 FROM troubles WHERE part = 'webhook'"))
        it.settle()


def test_a_webhook_needs_a_secret(tmp_path: Path) -> None:
    """Settings without one are refused."""
    (tmp_path / "skilldrop.toml").write_text("[webhook]\nport = 8002\n")
    done = run("status")
    assert (done.returncode, "needs either secret_env or secret_file" in done.stderr) == (2, True)
