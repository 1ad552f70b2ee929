"""Frozen models of all settings, with defaults, checks and descriptions."""

from collections import Counter
from itertools import combinations
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

from catalog.model.selection import LinkedDirectory
from catalog.model.skill import RootSpec
from catalog.prompt_index.builder import IndexSpec
from pipeline.config.data_paths import DATA, DataPaths
from pipeline.config.directories import Directory, Root
from pipeline.config.hook_settings import HookSettings, WebhookSettings
from pipeline.config.index_settings import IndexSettings
from pipeline.config.limit_settings import LimitSettings, RetentionSettings
from pipeline.config.link_settings import LinkSettings
from pipeline.config.root_settings import GitRootSettings, RootSettings, by_kind
from pipeline.config.site import SITE
from pipeline.config.table import Table
from pipeline.hooks.hook import Hook
from pipeline.mirrors.mirror import Mirror
from pipeline.validation import defaults

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


class Settings(Table, DataPaths):
    """All settings with their defaults; `load` fills them from file, environment and options."""

    watched: Root = Field(Path("watched"), validate_default=True)
    data: Directory = Field(DATA, validate_default=True)
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
    publish: Literal["copy", "in-place"] = Field("copy", description="one of copy, in-place")
    settle_quiet: FiniteFloat = Field(1.0, ge=0, description="a number of seconds, 0 or more")
    settle_longest: FiniteFloat = Field(300.0, gt=0, description="a number of seconds above 0")
    index_delay: FiniteFloat = Field(0.05, ge=0, description="a number of seconds, 0 or more")
    rescan_every: FiniteFloat = Field(300.0, gt=0, description="a number of seconds above 0")
    poll_every: FiniteFloat = Field(10.0, gt=0, description="a number of seconds above 0")
    follow: Literal["auto", "polling"] = Field("auto", description="one of auto, polling")
    site: SiteSettings = Field(SiteSettings(), description="a [site] table")
    usage: bool = Field(True, description="true or false")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        """Refuse directories that lie inside one another."""
        for origin, count in Counter(
            (root.git, root.path) for root in self.roots if isinstance(root, GitRootSettings)
        ).items():
            if count > 1:
                raise ValueError(f"the repository {origin[0]} is configured twice; remove one root")
        roots = [Path(root.path).resolve() for root in self.root_specs if not root.origin]
        for one, other in combinations(roots, 2):
            if one == other:
                raise ValueError(f"the root {one} is configured twice; remove one of them")
            if inner := _inner(one, other):
                raise ValueError(
                    f"the root {inner} is inside another root; keep only one of {one} and {other}"
                )
        for root in roots:
            if _inner(root, self.data):
                raise ValueError(
                    f"the data directory {self.data} and the root {root} are inside "
                    "one another; move the data directory elsewhere"
                )
            if _inner(root, self.outcomes_folder):
                raise ValueError(
                    f"the outcomes directory {self.outcomes_folder} and the root {root} are "
                    "inside one another; move the outcomes directory elsewhere"
                )
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
            self.check_link(link)
        return self

    def check_link(self, link: LinkSettings) -> None:
        """Raise ValueError if these settings do not allow links in a directory."""
        if _inner(link.path, self.data):
            raise ValueError(
                f"the directory of links {link.path} and the data directory {self.data} are "
                "inside one another; agents can be pointed at "
                f"{self.skills_folder} without [[links]]"
            )
        for root in self.root_specs:
            if _inner(link.path, Path(root.path).resolve()):
                raise ValueError(
                    f"the directory of links {link.path} and the root {root.path} are inside "
                    "one another; a scan would find each skill twice"
                )
        names = [index.name for index in self.indexes]
        if link.index is not None and link.index not in names:
            raise ValueError(
                f"the links in {link.path} have the filter of the index {link.index}, but the "
                f"indexes are: {', '.join(names)}"
            )

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
    def mirrors_folder(self) -> Path:
        """Folder of the mirrors of repositories."""
        return self.data / "mirrors"

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
        """Further directories of links."""
        return tuple(link.spec for link in self.links)

    @property
    def outcomes_folder(self) -> Path:
        """Folder where runtimes put outcome files."""
        return self.outcomes or self.data / "outcomes"

    @property
    def root_specs(self) -> tuple[RootSpec, ...]:
        """Roots in their order; without `[[roots]]` only `watched`."""
        return tuple(root.spec_in(self.mirrors_folder) for root in self.roots) or (
            RootSpec(str(self.watched), profiles=defaults.PROFILES),
        )

    @property
    def index_specs(self) -> tuple[IndexSpec, ...]:
        """Indexes in their order."""
        return tuple(index.spec for index in self.indexes)


def _inner(one: Path, other: Path) -> Path | None:
    """Return the directory that equals or lies inside the other one; None if they are disjoint."""
    if one.is_relative_to(other):
        return one
    return other if other.is_relative_to(one) else None
