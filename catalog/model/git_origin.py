"""Origin of a root in a git repository."""

import hashlib
import re
from dataclasses import dataclass

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class GitOrigin:
    """Branch, tag or commit of a repository, and the folder in it that is the root."""

    url: str  # without credentials
    ref: str | None = None  # None for the repository's default branch
    path: str = ""  # relative, "" for the whole repository

    @property
    def folder_name(self) -> str:
        """Name of its mirror, which changes with the URL or the path, but not with the ref."""
        words = [word for word in _NOT_IN_NAMES.split(self.url.removesuffix(".git")) if word]
        key = hashlib.sha256(f"{self.url}\n{self.path}".encode()).hexdigest()[:8]
        return "-".join([*words[-2:], key])

    def __str__(self) -> str:
        """Return the origin for people."""
        return " ".join(
            filter(None, (self.url, self.path and f"({self.path})", self.ref and f"at {self.ref}"))
        )
