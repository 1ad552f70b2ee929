"""Hook: a server or a program that is given changes, or memories of runs, as JSON."""

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass

from catalog.model.errors import HookFailed, SecretMissing
from catalog.writing.events import OF_MEMORIES
from pipeline.hooks.secret import Secret

SIGNATURE = "X-Skilldrop-Signature-256"
"""Header with `sha256=` and the HMAC-SHA256 of the body, in hex digits."""
MEMORY = "memory"
"""Kind of the events of memories."""
DELIVERY = "X-Skilldrop-Delivery"
"""Header with the ids of the first and the last event; a repeated delivery has the same."""


@dataclass(frozen=True, slots=True)
class Hook:
    """Receiver of changes or of memories, by a URL or by a command."""

    name: str
    on: frozenset[str]
    url: str | None
    command: tuple[str, ...]
    secret: Secret
    timeout: float  # seconds
    owner: str | None = None  # whose memories: `user`, `user:anna`; None for all

    @property
    def takes_memories(self) -> bool:
        """Whether it is told of memories, and of nothing else."""
        return MEMORY in self.on

    @property
    def listener(self) -> str:
        """Name of its row in `listeners`."""
        return f"{OF_MEMORIES if self.takes_memories else ''}hook {self.name}"

    def send(self, body: bytes, delivery: str) -> None:
        """Deliver a body once. Raises HookFailed, whose text has neither URL nor secret."""
        try:
            if self.url:
                self._post(self.url, body, delivery)
            else:
                self._run(body)
        except SecretMissing as error:
            raise self._failure(str(error)) from error
        except (OSError, ValueError) as error:
            raise self._failure(_reason(error)) from error

    def _post(self, url: str, body: bytes, delivery: str) -> None:
        from pipeline.hooks.post import post  # few catalogs have a hook with a URL

        headers = {"Content-Type": "application/json", DELIVERY: delivery}
        if self.secret:
            headers[SIGNATURE] = self.secret.sign(body)
        if reason := post(url, body, headers, self.timeout):
            raise self._failure(reason)

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
        return HookFailed(f"The hook {self.name} was not told of {news}: {reason}.")


def _reason(error: Exception) -> str:
    """Return the error in words."""
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
