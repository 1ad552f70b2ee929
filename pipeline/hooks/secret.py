"""Secret of a hook, from the environment or a file; it is never stored, logged or shown."""

import hashlib
import hmac
import os
from dataclasses import dataclass, field
from pathlib import Path

from catalog.model.errors import SecretMissing


@dataclass(frozen=True, slots=True)
class Secret:
    """Place of a secret."""

    env: str | None = None
    file: Path | None = field(default=None)

    def __bool__(self) -> bool:
        """Return whether there is a place."""
        return bool(self.env or self.file)

    def sign(self, body: bytes) -> str:
        """Return `sha256=` and the HMAC-SHA256 of a body, in hex digits. Raises SecretMissing."""
        return f"sha256={hmac.new(self._read(), body, hashlib.sha256).hexdigest()}"

    def matches(self, body: bytes, signature: str) -> bool:
        """Return in constant time whether a signature is that of a body. Raises SecretMissing."""
        return hmac.compare_digest(self.sign(body).encode(), signature.encode("latin-1", "replace"))

    def _read(self) -> bytes:
        if self.env:
            if value := os.environ.get(self.env):
                return value.encode()
            raise SecretMissing(f"the environment has no {self.env}")
        assert self.file
        try:
            content = self.file.read_bytes().strip()
        except OSError as error:
            raise SecretMissing(f"{self.file} cannot be read: {error.strerror}") from error
        if not content:
            raise SecretMissing(f"{self.file} is empty")
        return content
