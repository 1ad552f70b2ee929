"""Hook: a server or a program that gets changes, or memories of runs, as JSON."""

import hashlib
import hmac
import http.client
import os
import signal
import subprocess
import urllib.error
import urllib.request
from contextlib import suppress
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, FiniteFloat, StringConstraints, model_validator
from pydantic.dataclasses import dataclass as settings_table

from catalog.model.change import OF_MEMORIES
from catalog.model.errors import HookFailed, HookRefused
from catalog.model.setting import STRICT, Words
from catalog.model.values import IngestionOutcome

SIGNATURE = "X-Skilldrop-Signature-256"
"""Header with `sha256=` and the HMAC-SHA256 of the body, in hex digits."""
DELIVERY = "X-Skilldrop-Delivery"
"""Header with the ids of the first and the last event; a repeated delivery has the same."""
MEMORY = "memory"
"""Kind of the events of memories."""
KINDS: tuple[str, ...] = ("danger", "published", "conflict", *(
    outcome for union in get_args(IngestionOutcome) for outcome in (get_args(union) or [union])
), MEMORY)  # fmt: skip
"""Kinds of events: the outcomes of ingestions, three that any of them can have, and memories."""


def _http_url(url: str) -> str:
    parts = urlsplit(url)
    if (parts.scheme not in ("http", "https") or not parts.hostname) and "@" not in parts.netloc:
        raise ValueError("no URL")  # its message shows the URL; one with a password has another
    return url


@settings_table(frozen=True, slots=True, config=STRICT)
class Hook:
    """Receiver of changes or of memories, by a URL or by a command: a table `[[hooks]]`."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="a short name, without spaces"
    )
    on: tuple[Literal[KINDS], ...] = Field(  # type: ignore[valid-type]  # computed
        min_length=1, description=f"a list of {', '.join(KINDS)}"
    )
    sources: Words = ()  # of the skills; empty for all
    format: Literal["json", "slack", "mattermost", "teams"] = Field(
        default="json", description="one of json, slack, mattermost, teams"
    )
    url: Annotated[str, AfterValidator(_http_url)] | None = Field(
        default=None, description="a URL with http or https, without user name and password"
    )
    command: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(
        default=(), description="a program and its arguments, as a list"
    )
    secret_env: str | None = Field(
        default=None, min_length=1, description="the name of an environment variable"
    )
    timeout: FiniteFloat = Field(
        default=10.0, gt=0, le=600, description="a number of seconds above 0, at most 600"
    )

    @model_validator(mode="after")
    def _one_receiver(self) -> Self:
        if self.url and "@" in urlsplit(self.url).netloc:
            raise ValueError("has a user name or password in url; use secret_env")
        if bool(self.url) == bool(self.command):
            raise ValueError("needs either url or command")
        if self.takes_memories and len(set(self.on)) > 1:
            raise ValueError(f"has {MEMORY} beside changes in on; give memories their own hook")
        if self.takes_memories and (self.sources or self.format != "json"):
            raise ValueError(f"has sources or a format of chats with {MEMORY}; remove them")
        if self.command and self.secret_env:
            raise ValueError("has a command, which needs no secret; remove secret_env")
        return self

    @property
    def takes_memories(self) -> bool:
        """Whether it gets memories only."""
        return MEMORY in self.on

    @property
    def listener(self) -> str:
        """Name of its row in `listeners`."""
        return f"{OF_MEMORIES if self.takes_memories else ''}hook {self.name}"

    def trouble(self) -> str | None:
        """Return a sentence if its secret is not here."""
        if self.secret_env and not os.environ.get(self.secret_env):
            return f"The hook {self.name} needs the variable {self.secret_env}, which is not set."
        return None

    def send(self, body: bytes, delivery: str) -> None:
        """Deliver a body once. Raises HookFailed, without URL and secret in its text.

        It is HookRefused if the server says that this delivery will never do.
        """
        try:
            if self.url:
                self._post(self.url, body, delivery)
            else:
                self._run(body)
        except urllib.error.HTTPError as error:
            error.close()
            failure = self._failure(f"its server answered {error.code}")
            if 400 <= error.code < 500 and error.code not in _TEMPORARY:
                raise HookRefused(f"{failure} They are not sent again.") from None
            raise failure from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._failure(_in_words(error)) from None

    def _post(self, url: str, body: bytes, delivery: str) -> None:
        headers = {"Content-Type": "application/json", DELIVERY: delivery}
        if self.secret_env:  # never stored, logged or shown
            if not (secret := os.environ.get(self.secret_env)):
                raise self._failure(f"the environment has no {self.secret_env}")
            digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            headers[SIGNATURE] = f"sha256={digest}"
        request = urllib.request.Request(url, body, headers, method="POST")
        with _OPENER.open(request, timeout=self.timeout) as response:
            response.read(1)

    def _run(self, body: bytes) -> None:
        process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.communicate(body, self.timeout)
        except subprocess.TimeoutExpired:
            raise self._failure(f"it took longer than {self.timeout:g} s") from None
        finally:  # it, and all that it started
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode:
            raise self._failure(f"its command ended with exit code {process.returncode}")

    def _failure(self, reason: str) -> HookFailed:
        news = "memories" if self.takes_memories else "changes"
        return HookFailed(f"The hook {self.name} did not get {news}: {reason}.")


_TEMPORARY = (408, 425, 429)
"""Answers that ask for another try: Request Timeout, Too Early, Too Many Requests."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is a failure: the body is for the configured server alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def _in_words(error: Exception) -> str:
    """Return why a delivery failed, without the URL, whose path may be a secret."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, OSError):
        error = error.reason
    if isinstance(error, TimeoutError):
        return "its server did not answer in time"
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
