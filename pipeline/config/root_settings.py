"""Settings of roots: directories, and mirrors of repositories."""

import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ByteSize, Field, model_validator

from catalog.model import naming
from catalog.model.setting import A_SIZE, Root, Table
from catalog.model.skill import GitOrigin, RootSpec
from catalog.model.values import LEVELS, Acceptance, Level, Review, SecretRule
from pipeline.dialects.registry import DEFAULT_PROFILES, OF_PROFILES
from pipeline.mirrors.mirror import Mirror


class RootSettings(Table):
    """Settings of one `[[roots]]` table: a directory to watch."""

    path: Root
    level: Level = Field("project", description=f"one of {', '.join(LEVELS)}")
    acceptance: Acceptance = Field("lenient", description="one of strict, lenient, permissive")
    profiles: tuple[Literal[tuple(OF_PROFILES)], ...] = Field(  # type: ignore[valid-type]
        DEFAULT_PROFILES,
        description="a list of profiles; `skilldrop validate --help` lists them",
    )
    namespace: naming.NamespaceRule = Field("none", description="one of none, folder, path")
    review: Review = Field("dangers", description="one of none, dangers, findings, always")
    secrets: SecretRule = Field("leave-out", description="one of leave-out, reject, report")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.wants_review and self.review != "always" and "safety" not in self.profiles:
            raise ValueError(f'review = "{self.review}" needs safety in profiles; add it')
        if self.level == "plugin" and self.namespace != naming.NO_NAMESPACE:
            raise ValueError("a plugin root has the plugins as namespaces; remove namespace")
        return self

    @property
    def wants_review(self) -> bool:
        """Whether its settings, not only the defaults, ask for reviews."""
        return "review" in self.model_fields_set and self.review != "none"

    def spec_in(self, mirrors: Path) -> RootSpec:
        """Return the root, as the catalog's RootSpec; `mirrors` is the folder of mirrors."""
        return RootSpec(**dict(self) | {"path": str(self.path)})


_SCHEMES = ("https", "http", "ssh", "git", "file")
_SCP = re.compile(r"[\w.+-]+@[\w.-]+:[^:]+")  # git@host:team/skills.git
_REF = re.compile(r"(?![-/.])(?!.*(//|\.\.|@\{|\.lock$|[/.]$))[^\s~^:?*\[\\\x00-\x1f\x7f]+")
_TIME = re.compile(r"(\d+(?:\.\d+)?) ?([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LEAST = 1.0
"""Least seconds between two pulls."""


def credentials_in(url: object) -> bool:
    """Return whether a URL contains a password, or a user name or query that may be a token."""
    if not isinstance(url, str):
        return False
    scheme, has_scheme, rest = url.rpartition("://")
    user, at, _ = rest.partition("/")[0].rpartition("@")
    if not has_scheme or scheme == "ssh":
        return ":" in user
    return bool(at) or (scheme.startswith("http") and "?" in rest)


def _url(url: str) -> str:
    if _SCP.fullmatch(url) or (url.startswith("/") and "\n" not in url):
        return url
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not (parts.netloc or parts.path) or parts.query:
        raise ValueError("no URL of a repository")
    if (parts.hostname or "")[:1] == "-" or any(ord(char) <= 32 for char in url):
        raise ValueError("no URL of a repository")
    return url


def _ref(ref: str) -> str:
    if not _REF.fullmatch(ref):
        raise ValueError("no name of a branch, tag or commit")
    return ref


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if path.startswith(("/", "-", ":")) or ".." in parts or "\0" in path:
        raise ValueError("no path in a repository")
    return "/".join(parts)


def _seconds(value: object) -> object:
    if isinstance(value, str) and (match := _TIME.fullmatch(value.strip())):
        return float(match[1]) * _SECONDS[match[2]]
    return value


class GitRootSettings(RootSettings):
    """Settings of one `[[roots]]` table with `git`: the mirror of a repository."""

    git: Annotated[str, AfterValidator(_url)] = Field(
        description="the URL of a git repository, without credentials"
    )
    ref: Annotated[str, AfterValidator(_ref)] | None = Field(
        None, description="a branch, a tag or a commit"
    )
    path: Annotated[str, AfterValidator(_inside)] = Field(  # type: ignore[assignment]  # not on disk
        "", description="the path of a folder in the repository"
    )
    every: Annotated[float, BeforeValidator(_seconds)] = Field(
        300.0, ge=LEAST, le=30 * 86_400, description='a time such as "5m", "30s" or "1h"'
    )
    mirror_bytes: ByteSize = Field(ByteSize(2 * 2**30), gt=0, description=A_SIZE)

    def mirror_in(self, mirrors: Path) -> Mirror:
        """Return its mirror in a folder of mirrors."""
        origin = GitOrigin(self.git, self.ref, self.path)
        return Mirror(origin, mirrors / origin.folder_name, self.mirror_bytes)

    def spec_in(self, mirrors: Path) -> RootSpec:
        """Return the root, as the catalog's RootSpec, with its mirror in a folder of mirrors."""
        mirror = self.mirror_in(mirrors)
        own = {key: getattr(self, key) for key in RootSettings.model_fields}
        return RootSpec(**own | {"path": mirror.root, "origin": mirror.origin})


def by_kind(values: object) -> object:
    """Return the settings of a repository; other values as they are."""
    if not isinstance(values, dict) or "git" not in values:
        return values
    if credentials_in(values["git"]):
        raise ValueError(
            "has a user name, password or token in git; keep it out of the settings, and give it "
            "to git by a credential helper or its environment"
        )
    return GitRootSettings.model_validate(values)
