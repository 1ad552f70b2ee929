"""Settings of skilldrop, with their defaults, checks and descriptions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    FiniteFloat,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from catalog.filesystem import token_file
from catalog.listings.agents import AGENTS, reader_of
from catalog.model.setting import (
    Directory,
    LinkedDirectory,
    Retention,
    Root,
    SiteSettings,
    Table,
    real_path,
)
from catalog.model.skill import RootSpec
from catalog.model.values import Json
from catalog.prompt_index.spec import IndexSpec
from catalog.usage import database as usage_database
from pipeline.config.hook import Hook
from pipeline.config.root_settings import GitRootSettings, RootSettings, by_kind
from pipeline.config.selection import ValidateSettings, report_of_roots
from pipeline.dialects.registry import DEFAULT_PROFILES
from pipeline.mirrors.mirror import Mirror
from pipeline.roots.local.folder import Limits


def _with_real_path(table: object) -> object:
    if isinstance(table, Mapping) and isinstance(path := table.get("path"), str | Path):
        return {"for": reader_of(Path(path)), **table, "path": str(real_path(path))}
    return table


Link: TypeAlias = Annotated[LinkedDirectory, BeforeValidator(_with_real_path)]
"""Directory of links, of which the catalog stores the real path and the agent that reads it."""


def linked_directory(values: Mapping[str, Json]) -> LinkedDirectory:
    """Return a directory of links with these values. Raises ValueError with one sentence."""
    try:
        return TypeAdapter[LinkedDirectory](Link).validate_python(values)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ValueError(f"{values['path']} cannot have links: {reason}") from None


class Settings(Table):
    """All settings with their defaults; `load` fills them from file, environment and options."""

    watched: Root = Field(Path("watched"), validate_default=True)
    data: Directory = Field(Path("var"), validate_default=True)
    roots: tuple[Annotated[RootSettings, BeforeValidator(by_kind)], ...] = Field(
        (), description="a list of [[roots]] tables"
    )
    indexes: tuple[IndexSpec, ...] = Field(
        (IndexSpec(),), description="a list of [[indexes]] tables"
    )
    links: tuple[Link, ...] = Field((), description="a list of [[links]] tables")
    hooks: tuple[Hook, ...] = Field((), description="a list of [[hooks]] tables")
    limits: Limits = Field(Limits(), description="a [limits] table")
    outcomes: Directory | None = Field(None, description="the path of a directory")
    retention: Retention = Field(Retention(), description="a [retention] table")
    publish: Literal["copy", "in-place"] = Field("copy", description="one of copy, in-place")
    settle_quiet: FiniteFloat = Field(1.0, ge=0, description="a number of seconds, 0 or more")
    settle_longest: FiniteFloat = Field(300.0, gt=0, description="a number of seconds above 0")
    index_delay: FiniteFloat = Field(0.05, ge=0, description="a number of seconds, 0 or more")
    rescan_every: FiniteFloat = Field(300.0, gt=0, description="a number of seconds above 0")
    poll_every: FiniteFloat = Field(10.0, gt=0, description="a number of seconds above 0")
    follow: Literal["auto", "polling"] = Field("auto", description="one of auto, polling")
    site: SiteSettings = Field(SiteSettings(), description="a [site] table")
    usage: bool = Field(True, description="true or false")
    validation: ValidateSettings = Field(
        ValidateSettings(), alias="validate", description="a [validate] table"
    )

    # Checks of several settings together

    @model_validator(mode="after")
    def _roots_are_apart(self) -> Self:
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
            for name, folder in (("data", self.data), ("outcomes", self.outcomes_folder)):
                if _inner(root, folder):
                    raise ValueError(
                        f"the {name} directory {folder} and the root {root} are inside one "
                        f"another; move the {name} directory elsewhere"
                    )
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        for kind, tables in (("indexes", self.indexes), ("hooks", self.hooks)):
            for name, count in Counter(table.name for table in tables).items():
                if count > 1:
                    raise ValueError(f"{count} {kind} are named {name}; give each a different name")
        for path, count in Counter(link.path for link in self.links).items():
            if count > 1:
                raise ValueError(f"{count} [[links]] have the path {path}; keep one of them")
        return self

    @model_validator(mode="after")
    def _agree(self) -> Self:
        for link in self.links:
            self.check_link(link)
        for root in self.roots:
            if root.wants_review and self.publish == "in-place":
                raise ValueError(
                    f"the root {root.path} has review = {root.review}, but with publish = "
                    "in-place agents read its folders at once; set publish to copy"
                )
        if self.settle_longest < self.settle_quiet:
            raise ValueError(
                f"settle_longest ({self.settle_longest:g} s) is shorter than "
                f"settle_quiet ({self.settle_quiet:g} s); raise it"
            )
        return self

    def check_link(self, link: LinkedDirectory) -> None:
        """Raise ValueError if these settings do not allow links in a directory."""
        path = Path(link.path)
        if self.publish == "in-place":
            raise ValueError(
                f"{path} can have no skills with publish = in-place, which publishes none; set "
                "publish to copy"
            )
        if _inner(path, self.data):
            raise ValueError(
                f"the directory of links {path} and the data directory {self.data} are "
                "inside one another; agents can be pointed at "
                f"{self.skills_folder} without [[links]]"
            )
        for root in self.root_specs:
            if _inner(path, Path(root.path).resolve()):
                raise ValueError(
                    f"the directory of links {path} and the root {root.path} are inside "
                    "one another; a scan would find each skill twice"
                )
        if link.agent is not None and link.agent not in AGENTS:
            raise ValueError(
                f"the skills in {path} are for {link.agent}, but the known agents are: "
                f"{', '.join(AGENTS)}; leave it out for another one"
            )
        names = [index.name for index in self.indexes]
        if link.index is not None and link.index not in names:
            raise ValueError(
                f"the links in {path} have the filter of the index {link.index}, but the "
                f"indexes are: {', '.join(names)}"
            )

    # Roots and paths

    @property
    def root_specs(self) -> tuple[RootSpec, ...]:
        """Roots in their order; without `[[roots]]` only `watched`."""
        specs = tuple(root.spec_in(self.mirrors_folder) for root in self.roots) or (
            RootSpec(str(self.watched), profiles=DEFAULT_PROFILES),
        )
        report = report_of_roots(self.validation)
        if self.publish == "in-place":  # an edit cannot wait
            specs = tuple(replace(spec, review="none") for spec in specs)
        return tuple(replace(spec, report=report) for spec in specs)

    @property
    def git_roots(self) -> tuple[tuple[Mirror, float], ...]:
        """Mirrors of the roots that are repositories, with the seconds between two pulls."""
        return tuple(
            (root.mirror_in(self.mirrors_folder), root.every)
            for root in self.roots
            if isinstance(root, GitRootSettings)
        )

    @property
    def outcomes_folder(self) -> Path:
        """Folder where runtimes put outcome files."""
        return self.outcomes or self.data / "outcomes"

    @property
    def mirrors_folder(self) -> Path:
        """Folder of the mirrors of repositories."""
        return self.data / "mirrors"

    @property
    def catalog_path(self) -> Path:
        """Database file of the catalog."""
        return self.data / "catalog.db"

    @property
    def usage_path(self) -> Path | None:
        """Database of reads; None if they are not counted."""
        return usage_database.path_of(self.catalog_path) if self.usage else None

    @property
    def tokens_path(self) -> Path:
        """File with the tokens of the site's readers."""
        return self.catalog_path.with_name(token_file.NAME)

    @property
    def index_folder(self) -> Path:
        """Folder of the published prompt indexes."""
        return self.data / "index"

    @property
    def packages_folder(self) -> Path:
        """Folder of the published packages."""
        return self.data / "packages"

    @property
    def skills_folder(self) -> Path:
        """Folder of the published skills, which agents are pointed at."""
        return self.data / "skills"


def _inner(one: Path, other: Path) -> Path | None:
    """Return the directory that equals or lies inside the other one; None if they are disjoint."""
    if one.is_relative_to(other):
        return one
    return other if other.is_relative_to(one) else None
