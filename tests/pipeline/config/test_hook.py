"""Deliveries of hooks to real servers and programs."""

import hashlib
import hmac
import sys
import time
from pathlib import Path

import pytest

from catalog.model.errors import HookFailed
from pipeline.config.hook import DELIVERY, SIGNATURE, Hook
from tests.support.receivers import receiver


def hook(
    url: str | None = None,
    *command: str,
    env: str | None = None,
    timeout: float = 20.0,
) -> Hook:
    """Return a hook."""
    return Hook(
        "chat",
        ("published",),
        url=url,
        command=command,
        secret_env=env,
        timeout=timeout,
    )


def test_a_request_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signature is the HMAC-SHA256 of the body under the secret."""
    monkeypatch.setenv("HOOK_SECRET", "s3cret")
    with receiver() as received:
        hook(received.url, env="HOOK_SECRET").send(b'{"a": 1}', "1-2")
    ((headers, body),) = received
    assert body == b'{"a": 1}'
    digest = hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
    assert headers[SIGNATURE] == f"sha256={digest}"
    assert headers[DELIVERY] == "1-2"


def test_a_secret_that_is_missing_is_told() -> None:
    """Nothing is sent unsigned by mistake."""
    with receiver() as received:
        with pytest.raises(HookFailed, match="no NO_SUCH_SECRET"):
            hook(received.url, env="NO_SUCH_SECRET").send(b"{}", "1-1")
        assert received == []


def test_a_redirect_is_not_followed() -> None:
    """Another server never gets the body."""
    with receiver() as received, receiver() as other:
        received.answers, received.location = [302, 307], other.url
        for _ in range(2):
            with pytest.raises(HookFailed, match="answered 30"):
                hook(received.url).send(b"{}", "1-1")
        assert other == []


def test_a_failure_does_not_show_the_url() -> None:
    """The path of a URL is often a secret."""
    with receiver() as received:
        received.answers = [500]
        with pytest.raises(HookFailed) as failure:
            hook(received.url).send(b"{}", "1-1")
    assert str(failure.value) == ("The hook chat did not get changes: its server answered 500.")
    with pytest.raises(HookFailed) as failure:
        hook(received.url).send(b"{}", "1-1")  # the server is gone
    assert "T0KEN" not in str(failure.value)
    assert "refused" in str(failure.value)


def test_a_command_reads_the_body_and_no_shell_runs(tmp_path: Path) -> None:
    """The words of a command are given as they are."""
    script = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"
    target = tmp_path / "$(touch x); a"
    hook(None, sys.executable, "-c", script, str(target)).send(b'{"a": 1}', "1-1")
    assert target.read_bytes() == b'{"a": 1}'
    assert not (tmp_path / "x").exists()


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    """By its exit code, or that it is missing."""
    with pytest.raises(HookFailed, match="exit code 3"):
        hook(None, sys.executable, "-c", "raise SystemExit(3)").send(b"{}", "1-1")
    with pytest.raises(HookFailed, match="No such file"):
        hook(None, str(tmp_path / "none")).send(b"{}", "1-1")


def test_a_command_that_does_not_read_is_no_failure() -> None:
    """A program may end without reading a large body."""
    hook(None, sys.executable, "-c", "pass").send(b"x" * 10**6, "1-1")


def test_a_command_ends_with_all_that_it_started(tmp_path: Path) -> None:
    """After its time, a command and its children are killed."""
    alive = tmp_path / "alive"
    script = f"(sleep 2; touch {alive}) & sleep 60"
    began = time.monotonic()
    with pytest.raises(HookFailed, match=r"longer than 0\.3 s"):
        hook(None, "/bin/sh", "-c", script, timeout=0.3).send(b"{}", "1-1")
    assert time.monotonic() - began < 30
    assert not alive.exists()
