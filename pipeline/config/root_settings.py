"""Settings of roots: directories, and repositories of which mirrors are the roots."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, ByteSize, Field, model_validator

from catalog.model import namespaces
from catalog.model.git_origin import GitOrigin
from catalog.model.skill import RootSpec
from catalog.model.values import LEVELS, Acceptance, Level, Review, SecretRule, Severity
from pipeline.config.directories import Root
from pipeline.config.git_types import GitPath, GitRef, GitUrl, Interval, credentials_in
from pipeline.config.table import A_SIZE, Table
from pipeline.mirrors.mirror import Mirror
from pipeline.validation import defaults


def _registered(names: tuple[str, ...]) -> tuple[str, ...]:
    if not set(names) <= set(defaults.PROFILES):
        # Profiles are slow to import, and a command may not need them.
        from pipeline.dialects.registry import PROFILES

        if unknown := set(names).difference(PROFILES):
            raise ValueError(f"unknown profile: {', '.join(sorted(unknown))}")
    return names


Profiles: TypeAlias = Annotated[tuple[str, ...], AfterValidator(_registered)]


class RootSettings(Table):
    """Settings of one `[[roots]]` table: a directory to watch."""

    path: Root
    level: Level = Field("project", description=f"one of {', '.join(LEVELS)}")
    acceptance: Acceptance = Field("lenient", description="one of strict, lenient, permissive")
    profiles: Profiles = Field(
        defaults.PROFILES,
        description="a list of profiles; `skilldrop validate --help` lists them",
    )
    namespace: Annotated[str, AfterValidator(namespaces.check)] = Field(
        namespaces.NONE, description="none, folder, path, or a pattern such as teams/{team}"
    )

    review: Review = Field("none", description="one of none, findings, always")
    review_severity: Severity = Field("warning", description="one of error, warning, info")
    secrets: SecretRule = Field("leave-out", description="one of leave-out, reject, report")

    @model_validator(mode="after")
    def _findings_are_looked_for(self) -> Self:
        if self.review == "findings" and "safety" not in self.profiles:
            raise ValueError('review = "findings" needs safety in profiles; add it')
        return self

    @model_validator(mode="after")
    def _plugins_have_theirs(self) -> Self:
        if self.level == "plugin" and self.namespace != namespaces.NONE:
            raise ValueError("a plugin root has the plugins as namespaces; remove namespace")
        return self

    def spec_in(self, mirrors: Path) -> RootSpec:
        """Return the root, as the catalog's RootSpec; `mirrors` is the folder of mirrors."""
        return RootSpec(
            str(self.path),
            self.level,
            self.acceptance,
            self.profiles,
            self.namespace,
            self.review,
            self.review_severity,
            secrets=self.secrets,
        )


class GitRootSettings(RootSettings):
    """Settings of one `[[roots]]` table with `git`: a repository of which a mirror is the root."""

    git: GitUrl
    ref: GitRef | None = Field(None, description="a branch, a tag or a commit")
    path: GitPath = ""  # type: ignore[assignment]  # in the repository, not on disk
    every: Interval = 300.0
    mirror_bytes: ByteSize = Field(ByteSize(2 * 2**30), gt=0, description=A_SIZE)

    def mirror_in(self, mirrors: Path) -> Mirror:
        """Return its mirror in a folder of mirrors."""
        origin = GitOrigin(self.git, self.ref, self.path)
        return Mirror(origin, mirrors / origin.folder_name, self.mirror_bytes)

    def spec_in(self, mirrors: Path) -> RootSpec:
        """Return the root, as the catalog's RootSpec, with its mirror in a folder of mirrors."""
        mirror = self.mirror_in(mirrors)
        return replace(super().spec_in(mirrors), path=mirror.root, origin=mirror.origin)


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
