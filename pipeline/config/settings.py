"""Frozen models of all settings, with defaults, checks and descriptions."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    StringConstraints,
    model_validator,
)

from catalog.model.quota import Quota
from catalog.model.selection import LinkedDirectory
from catalog.model.skill import RootSpec
from catalog.prompt_index.builder import IndexSpec
from catalog.prompt_index.history import IndexRetention
from catalog.writing.retention import HistoryRetention, Retention
from pipeline.config.directories import Directory, Root
from pipeline.config.hook_settings import HookSettings, WebhookSettings
from pipeline.config.index_settings import IndexSettings
from pipeline.config.limit_settings import LimitSettings, RetentionSettings
from pipeline.config.link_settings import LinkSettings
from pipeline.config.root_settings import GitRootSettings, RootSettings, by_kind
from pipeline.config.scan_settings import Publish, ScanSettings, UsualSettings
from pipeline.config.site import SITE
from pipeline.config.table import Table
from pipeline.hooks.hook import Hook
from pipeline.mirrors.mirror import Mirror
from pipeline.roots.local.folder import Limits

# The description of a field completes the sentence "it must be …" in error messages.


def _site_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise ValueError("it needs http:// or https:// and a host, and no path")
    return f"{parts.scheme}://{parts.netloc}/"


class SiteSettings(Table):
    """Settings of `[site]`: the web site of the catalog."""

    enabled: bool = Field(SITE.enabled, description="true or false")
    host: str = Field(SITE.host, min_length=1, description="an address or a host name")
    port: int = Field(SITE.port, ge=1, le=65535, description="a port from 1 to 65535")
    names: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(
        (), description="a list of additional host names of the site, without ports"
    )
    sql: bool = Field(False, description="true or false")
    url: Annotated[str, AfterValidator(_site_url)] | None = Field(
        None, description="a URL such as https://skills.example.org/"
    )
    behind_proxy: bool = Field(SITE.behind_proxy, description="true or false")


class Settings(Table, ScanSettings):
    """All settings with their defaults; `load` fills them from file, environment and options."""

    watched: Root = Field(UsualSettings.watched, validate_default=True)
    data: Directory = Field(UsualSettings.data, validate_default=True)
    roots: tuple[Annotated[RootSettings, BeforeValidator(by_kind)], ...] = Field(
        (), description="a list of [[roots]] tables"
    )
    indexes: tuple[IndexSettings, ...] = Field(
        (IndexSettings(),), description="a list of [[indexes]] tables"
    )
    links: tuple[LinkSettings, ...] = Field((), description="a list of [[links]] tables")
    hooks: tuple[HookSettings, ...] = Field((), description="a list of [[hooks]] tables")
    webhook: WebhookSettings = Field(WebhookSettings(), description="a [webhook] table")
    limits: LimitSettings = Field(LimitSettings(), description="a [limits] table")
    outcomes: Directory | None = Field(None, description="the path of a directory")
    retention: RetentionSettings = Field(RetentionSettings(), description="a [retention] table")
    publish: Publish = Field(UsualSettings.publish, description="one of copy, in-place")
    settle_quiet: FiniteFloat = Field(
        UsualSettings.settle_quiet, ge=0, description="a number of seconds, 0 or more"
    )
    settle_longest: FiniteFloat = Field(
        UsualSettings.settle_longest, gt=0, description="a number of seconds above 0"
    )
    index_delay: FiniteFloat = Field(0.05, ge=0, description="a number of seconds, 0 or more")
    rescan_every: FiniteFloat = Field(300.0, gt=0, description="a number of seconds above 0")
    poll_every: FiniteFloat = Field(10.0, gt=0, description="a number of seconds above 0")
    follow: Literal["auto", "polling"] = Field("auto", description="one of auto, polling")
    site: SiteSettings = Field(SiteSettings(), description="a [site] table")
    usage: bool = Field(UsualSettings.usage, description="true or false")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        """Refuse directories that lie inside one another."""
        for origin, count in Counter(
            (root.git, root.path) for root in self.roots if isinstance(root, GitRootSettings)
        ).items():
            if count > 1:
                raise ValueError(f"the repository {origin[0]} is configured twice; remove one root")
        self.check_apart()
        return self

    @model_validator(mode="after")
    def _index_names_differ(self) -> Self:
        for name, count in Counter(index.name for index in self.indexes).items():
            if count > 1:
                raise ValueError(f"{count} indexes are named {name}; give each a different name")
        return self

    @model_validator(mode="after")
    def _hook_names_differ(self) -> Self:
        for name, count in Counter(hook.name for hook in self.hooks).items():
            if count > 1:
                raise ValueError(f"{count} hooks are named {name}; give each a different name")
        return self

    @model_validator(mode="after")
    def _links_are_possible(self) -> Self:
        """Refuse links in directories of skilldrop, twice in one, or by an unknown index."""
        for path, count in Counter(link.path for link in self.links).items():
            if count > 1:
                raise ValueError(f"{count} [[links]] have the path {path}; keep one of them")
        for link in self.links:
            self.check_link(link.spec)
        return self

    @model_validator(mode="after")
    def _reviews_hold(self) -> Self:
        for root in self.roots:
            if root.review != "none" and self.publish == "in-place":
                raise ValueError(
                    f"the root {root.path} has review = {root.review}, but with publish = "
                    "in-place agents read its folders at once; set publish to copy"
                )
        return self

    @model_validator(mode="after")
    def _longest_is_longer(self) -> Self:
        if self.settle_longest < self.settle_quiet:
            raise ValueError(
                f"settle_longest ({self.settle_longest:g} s) is shorter than "
                f"settle_quiet ({self.settle_quiet:g} s); raise it"
            )
        return self

    @model_validator(mode="after")
    def _versions_can_be_counted(self) -> Self:
        kept = self.retention
        if kept.versions_per_hour > kept.history_rows:
            raise ValueError(
                f"[retention] versions_per_hour ({kept.versions_per_hour}) is above history_rows "
                f"({kept.history_rows}) and would never apply; lower it, or raise history_rows"
            )
        return self

    @property
    def git_roots(self) -> tuple[tuple[Mirror, float], ...]:
        """Mirrors of the roots that are repositories, with the seconds between two pulls."""
        return tuple(
            (root.mirror_in(self.mirrors_folder), root.every)
            for root in self.roots
            if isinstance(root, GitRootSettings)
        )

    @property
    def active_hooks(self) -> tuple[Hook, ...]:
        """Hooks in their order."""
        return tuple(settings.hook for settings in self.hooks)

    @property
    def linked_directories(self) -> tuple[LinkedDirectory, ...]:
        """Further directories of skills."""
        return tuple(link.spec for link in self.links)

    @property
    def outcomes_folder(self) -> Path:
        """Folder where runtimes put outcome files."""
        return self.outcomes or super().outcomes_folder

    @property
    def root_specs(self) -> tuple[RootSpec, ...]:
        """Roots in their order; without `[[roots]]` only `watched`."""
        return tuple(root.spec_in(self.mirrors_folder) for root in self.roots) or super().root_specs

    @property
    def index_specs(self) -> tuple[IndexSpec, ...]:
        """Indexes in their order."""
        return tuple(index.spec for index in self.indexes)

    @property
    def folder_limits(self) -> Limits:
        """Limits of each skill folder."""
        return Limits(**self.limits.model_dump())

    @property
    def quota(self) -> Quota:
        """Limits of publication."""
        return self.retention.quota

    @property
    def history_retention(self) -> HistoryRetention:
        """Retention of history rows."""
        return self.retention.of_history

    @property
    def package_retention(self) -> Retention:
        """Retention of published versions."""
        return self.retention.of_packages

    @property
    def shares_files(self) -> bool:
        """Whether versions share equal files by hard links."""
        return self.retention.share_files == "hard-links"

    @property
    def index_retention(self) -> IndexRetention:
        """Retention of index publications."""
        return self.retention.of_indexes
