"""Models of all settings, with defaults, checks and descriptions; frozen."""

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
    model_validator,
)

from catalog.model.quota import Quota
from catalog.model.skill import RootSpec
from catalog.model.values import LEVELS, Acceptance, Level
from catalog.prompt_index.builder import DEFAULT_BUDGET_CHARS, IndexSpec, Locations, Overflow
from catalog.prompt_index.formats import FORMATS
from catalog.prompt_index.history import USUAL, IndexRetention
from catalog.text.tokens import CHARACTERS_A_TOKEN
from catalog.writing.retention.history import HistoryRetention
from catalog.writing.retention.packages import Retention

PREFIX = "SKILLDROP_"
"""Of the environment variables that can say the same as the file."""

INDEX_SHARE = 2
"""Percent of a context window that an index may take."""


# The description of a field completes the sentence "it must be …", whatever is wrong with it.


def _absolute(path: object) -> object:
    """Return the real path, so that a later change of directory moves nothing."""
    if path == "":
        raise ValueError("no path")
    if not isinstance(path, str | Path):
        return path
    try:
        return Path(path).expanduser().resolve()
    except RuntimeError as error:  # a home folder that nobody has, or links in a circle
        raise ValueError(str(error)) from None


def _followed(path: object) -> object:
    """Return an absolute path through the links in it, which may come to lead elsewhere."""
    real = _absolute(path)
    if not isinstance(path, str | Path) or ".." in Path(path).parts:
        return real
    return Path(path).expanduser().absolute()


Directory: TypeAlias = Annotated[
    Path, BeforeValidator(_absolute), Field(description="the path of a directory")
]
Root: TypeAlias = Annotated[
    Path, BeforeValidator(_followed), Field(description="the path of a directory")
]
Words: TypeAlias = Annotated[tuple[str, ...], Field(description="a list of texts")]


def _registered(names: tuple[str, ...]) -> tuple[str, ...]:
    if names and names != ("spec",):
        # Rules take a while to load, which a command that asks none need not wait for.
        from pipeline.dialects.registry import PROFILES

        if unknown := set(names).difference(PROFILES):
            raise ValueError(f"no profile: {', '.join(sorted(unknown))}")
    return names


Profiles: TypeAlias = Annotated[tuple[str, ...], AfterValidator(_registered)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RootSettings(_Table):
    """One `[[roots]]`: a directory to watch."""

    path: Root
    level: Level = Field("project", description=f"one of {', '.join(LEVELS)}")
    acceptance: Acceptance = Field("lenient", description="one of strict, lenient, permissive")
    profiles: Profiles = Field(
        ("spec",), description="a list of profiles, which `skilldrop validate --help` names"
    )


class IndexSettings(_Table):
    """One `[[indexes]]`: a prompt index to publish."""

    name: Annotated[str, StringConstraints(pattern=r"\A[A-Za-z0-9_-]+\z")] = Field(
        "default", description="of letters A-Z, digits, hyphens and underscores only"
    )
    format: Literal[tuple(FORMATS)] = Field(  # type: ignore[valid-type]  # computed
        "xml", description=f"one of {', '.join(FORMATS)}"
    )
    budget_chars: int | None = Field(None, gt=0, description="a whole number of characters above 0")
    context_window_tokens: int | None = Field(
        None, gt=0, description="a whole number of tokens above 0"
    )
    levels: tuple[Level, ...] = Field(
        (), description=f"a list of levels, which are {', '.join(LEVELS)}"
    )
    tags: Words = ()
    names: Words = ()
    featured: Words = ()
    overflow: Overflow = Field(IndexSpec().overflow, description="one of fit, exclude")
    language: Literal["en", "zh"] = Field("en", description="one of en, zh")
    location_base: str | None = Field(None, description="a path or a URL")
    locations: Locations = Field("current", description="one of current, version")
    instruction: str | None = Field(None, description="a text, or an empty one for none")
    how_to_search: str | None = Field(None, description="a text, or an empty one for none")

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        if self.budget_chars and self.context_window_tokens:
            raise ValueError("has both budget_chars and context_window_tokens; keep one of them")
        return self

    @property
    def budget(self) -> int:
        """The characters that the whole text may take."""
        if self.context_window_tokens:
            return self.context_window_tokens * CHARACTERS_A_TOKEN * INDEX_SHARE // 100
        return self.budget_chars or DEFAULT_BUDGET_CHARS

    @property
    def spec(self) -> IndexSpec:
        """The index in the catalog's own words."""
        return IndexSpec(
            name=self.name,
            format=self.format,
            budget_chars=self.budget,
            levels=self.levels,
            tags=self.tags,
            names=self.names,
            featured=self.featured,
            overflow=self.overflow,
            language=self.language,
            location_base=self.location_base or None,
            locations=self.locations,
            instruction=self.instruction,
            how_to_search=self.how_to_search,
        )


_A_SIZE = 'a number of bytes, or a size such as "100 MiB", of 1 byte or more'


class LimitSettings(_Table):
    """`[limits]`: how large one skill folder may be; beyond a limit it is rejected."""

    files: int = Field(2000, gt=0, description="a whole number of files above 0")
    bytes: ByteSize = Field(ByteSize(100 * 2**20), gt=0, description=_A_SIZE)
    depth: int = Field(32, gt=0, description="a whole number of nested folders above 0")
    skill_md_bytes: ByteSize = Field(ByteSize(2**20), gt=0, description=_A_SIZE)
    text_bytes: ByteSize = Field(
        ByteSize(2**16), ge=0, description='a number of bytes or a size such as "64 KiB"'
    )
    archive_members: int = Field(20_000, gt=0, description="a whole number of files above 0")
    archive_bytes: ByteSize = Field(ByteSize(512 * 2**20), gt=0, description=_A_SIZE)
    hard_links: Literal["report", "reject"] = Field("report", description="one of report, reject")


class RetentionSettings(_Table):
    """`[retention]`: how much of the past is kept."""

    index_builds: int = Field(
        USUAL.builds, gt=0, description="a whole number of publications of each index above 0"
    )
    index_days: int = Field(
        USUAL.days, gt=0, le=36_500, description="a whole number of days from 1 to 36500"
    )

    versions: int = Field(
        10, gt=0, description="a whole number of published versions of each skill above 0"
    )
    version_days: FiniteFloat = Field(90.0, ge=0, description="a number of days, 0 or more")
    grace: FiniteFloat = Field(600.0, ge=0, description="a number of seconds, 0 or more")

    history_rows: int = Field(
        HistoryRetention().rows,
        gt=0,
        description="a whole number of versions and ingestions of each skill above 0",
    )
    history_days: FiniteFloat = Field(
        HistoryRetention().days, ge=0, description="a number of days, 0 or more"
    )
    versions_per_hour: int = Field(
        120, gt=0, description="a whole number of versions of each skill in an hour above 0"
    )
    packages_bytes: ByteSize | None = Field(None, gt=0, description=_A_SIZE)
    free_bytes: ByteSize = Field(
        ByteSize(512 * 2**20), ge=0, description='a number of bytes or a size such as "512 MiB"'
    )

    @property
    def quota(self) -> Quota:
        """What publication may take, in the catalog's own words."""
        return Quota(self.versions_per_hour, self.packages_bytes, self.free_bytes)

    @property
    def of_history(self) -> HistoryRetention:
        """What is kept of rows, in the catalog's own words."""
        return HistoryRetention(self.history_rows, self.history_days)

    @property
    def of_packages(self) -> Retention:
        """What is kept of versions, in the catalog's own words."""
        return Retention(self.versions, self.version_days, self.grace)

    @property
    def of_indexes(self) -> IndexRetention:
        """What is kept of indexes, in the catalog's own words."""
        return IndexRetention(self.index_builds, self.index_days)


class SiteSettings(_Table):
    """`[site]`: the web site of the catalog."""

    enabled: bool = Field(True, description="true or false")
    host: str = Field("127.0.0.1", min_length=1, description="an address or a host name")
    port: int = Field(8001, ge=1, le=65535, description="a port from 1 to 65535")
    names: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(
        (), description="a list of host names, without ports, to which the site also answers"
    )
    sql: bool = Field(False, description="true or false")


class Settings(_Table):
    """Everything that can be set, with its default. Made by `load`; alone it reads nothing."""

    watched: Root = Field(Path("watched"), validate_default=True)
    data: Directory = Field(Path("var"), validate_default=True)
    roots: tuple[RootSettings, ...] = Field((), description="a list of tables [[roots]]")
    indexes: tuple[IndexSettings, ...] = Field(
        (IndexSettings(),), description="a list of tables [[indexes]]"
    )
    limits: LimitSettings = Field(LimitSettings(), description="a table [limits]")
    outcomes: Directory | None = Field(None, description="the path of a directory")
    retention: RetentionSettings = Field(RetentionSettings(), description="a table [retention]")
    publish: Literal["copy", "in-place"] = Field("copy", description="one of copy, in-place")
    settle_quiet: FiniteFloat = Field(1.0, ge=0, description="a number of seconds, 0 or more")
    settle_longest: FiniteFloat = Field(300.0, gt=0, description="a number of seconds above 0")
    index_delay: FiniteFloat = Field(0.05, ge=0, description="a number of seconds, 0 or more")
    rescan_every: FiniteFloat = Field(300.0, gt=0, description="a number of seconds above 0")
    poll_every: FiniteFloat = Field(10.0, gt=0, description="a number of seconds above 0")
    follow: Literal["auto", "polling"] = Field("auto", description="one of auto, polling")
    site: SiteSettings = Field(SiteSettings(), description="a table [site]")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        """Refuse directories in which one would find what the other holds."""
        roots = [Path(root.path).resolve() for root in self.root_specs]
        for one, other in combinations(roots, 2):
            if one == other:
                raise ValueError(f"the root {one} is named twice; keep one of them")
            if inner := _inner(one, other):
                raise ValueError(
                    f"the root {inner} lies inside another root; keep only one of {one} and {other}"
                )
        for root in roots:
            if _inner(root, self.data):
                raise ValueError(
                    f"the data directory {self.data} and the root {root} lie one "
                    "inside the other; move data elsewhere"
                )
            if _inner(root, self.outcomes_folder):
                raise ValueError(
                    f"the directory of outcomes {self.outcomes_folder} and the root "
                    f"{root} lie one inside the other; move outcomes elsewhere"
                )
        return self

    @model_validator(mode="after")
    def _index_names_differ(self) -> Self:
        for name, count in Counter(index.name for index in self.indexes).items():
            if count > 1:
                raise ValueError(f"there are {count} indexes named {name}; give each its own name")
        return self

    @model_validator(mode="after")
    def _longest_is_longer(self) -> Self:
        if self.settle_longest < self.settle_quiet:
            raise ValueError(
                f"settle_longest ({self.settle_longest:g} s) is shorter than "
                f"settle_quiet ({self.settle_quiet:g} s)"
            )
        return self

    @model_validator(mode="after")
    def _versions_can_be_counted(self) -> Self:
        kept = self.retention
        if kept.versions_per_hour > kept.history_rows:
            raise ValueError(
                f"[retention] versions_per_hour ({kept.versions_per_hour}) is above history_rows "
                f"({kept.history_rows}), so it would never apply; lower it, or raise history_rows"
            )
        return self

    @property
    def catalog_path(self) -> Path:
        """The catalog's database file."""
        return self.data / "catalog.db"

    @property
    def index_folder(self) -> Path:
        """Where the prompt indexes are published."""
        return self.data / "index"

    @property
    def packages_folder(self) -> Path:
        """Where the packages are published."""
        return self.data / "packages"

    @property
    def outcomes_folder(self) -> Path:
        """Where runtimes drop what runs of skills came to."""
        return self.outcomes or self.data / "outcomes"

    @property
    def root_specs(self) -> tuple[RootSpec, ...]:
        """The roots in their order; without `[[roots]]` there is one, `watched`."""
        return tuple(
            RootSpec(str(root.path), root.level, root.acceptance, root.profiles)
            for root in self.roots
        ) or (RootSpec(str(self.watched)),)

    @property
    def index_specs(self) -> tuple[IndexSpec, ...]:
        """The indexes in their order."""
        return tuple(index.spec for index in self.indexes)


def _inner(one: Path, other: Path) -> Path | None:
    """Return which of two directories lies in the other or is it; None where they are apart."""
    if one.is_relative_to(other):
        return one
    return other if other.is_relative_to(one) else None
