"""Settings that the catalog itself follows, and the types of all tables of skilldrop.toml."""

from pathlib import Path
from typing import Annotated, NamedTuple, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
    TypeAdapter,
    model_validator,
)
from pydantic.dataclasses import dataclass as settings_table

from catalog.model.values import LEVELS, Level

STRICT = ConfigDict(extra="forbid")
"""Configuration of a table as a dataclass: unknown keys are errors."""

FINDER = "skilldrop-search"
"""Usual name of the skill that finds those which a directory has no room for."""

A_SIZE = 'a number of bytes, or a size such as "100 MiB", of 1 byte or more'
"""Description of a number of bytes."""


class Table(BaseModel):
    """Table of settings: frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def real_path(path: object) -> object:
    """Return the real path of a path, which a later change of directory does not affect.

    Other values are returned as they are. Raises ValueError for an empty path, an unknown user or a
    loop of links.
    """
    if path == "":
        raise ValueError("empty path")
    if not isinstance(path, str | Path):
        return path
    try:
        return Path(path).expanduser().resolve()
    except RuntimeError as error:  # an unknown user, or a loop of links
        raise ValueError(str(error)) from None


def _followed(path: object) -> object:
    """Return the absolute path of a path, with its links kept, because their targets may change."""
    real = real_path(path)
    if not isinstance(path, str | Path) or ".." in Path(path).parts:
        return real
    return Path(path).expanduser().absolute()


Directory: TypeAlias = Annotated[
    Path, BeforeValidator(real_path), Field(description="the path of a directory")
]
Root: TypeAlias = Annotated[
    Path, BeforeValidator(_followed), Field(description="the path of a directory")
]
Size: TypeAlias = Annotated[int, BeforeValidator(TypeAdapter(ByteSize).validate_python)]
"""Number of bytes, also written with a unit."""
Words: TypeAlias = Annotated[tuple[str, ...], Field(description="a list of texts")]
Levels: TypeAlias = Annotated[
    tuple[Level, ...], Field(description=f"a list of levels: {', '.join(LEVELS)}")
]


@settings_table(frozen=True, slots=True, config=STRICT)
class Retention:
    """Limits of each skill's and each index's history: the table `[retention]`.

    The published version counts among `versions`; `version_days` begin when it is superseded, and
    nothing is removed within `grace`, for its readers. `history_rows` are versions, and as many
    ingestions; `history_days` begin when a version is superseded, a skill removed or an ingestion
    made. A limit of None does not apply.
    """

    index_builds: int = Field(
        default=1000, gt=0, description="a whole number of publications of each index above 0"
    )
    index_days: int = Field(
        default=365, gt=0, le=36_500, description="a whole number of days from 1 to 36500"
    )

    versions: int = Field(
        default=10, gt=0, description="a whole number of published versions of each skill above 0"
    )
    version_days: FiniteFloat = Field(default=90.0, ge=0, description="a number of days, 0 or more")
    grace: FiniteFloat = Field(default=600.0, ge=0, description="a number of seconds, 0 or more")
    history_rows: int = Field(
        default=200,
        gt=0,
        description="a whole number of versions and ingestions of each skill above 0",
    )
    history_days: FiniteFloat = Field(
        default=365.0, ge=0, description="a number of days, 0 or more"
    )
    packages_bytes: Size | None = Field(default=None, gt=0, description=A_SIZE)
    free_bytes: Size = Field(
        default=ByteSize(512 * 2**20),
        ge=0,
        description='a number of bytes or a size such as "512 MiB"',
    )


class Selection(NamedTuple):
    """Filter of skills; an empty field admits every skill."""

    levels: tuple[Level, ...] = ()
    tags: tuple[str, ...] = ()  # one of them is enough
    names: tuple[str, ...] = ()


EVERY = Selection()


@settings_table(frozen=True, slots=True, config=STRICT)
class LinkedDirectory:
    """Directory of links to skills, or of copies of them: a table `[[links]]`."""

    path: str = Field(description="the path of a directory")  # absolute, without links in it
    index: str | None = Field(default=None, description="the name of an index")
    levels: Levels = ()
    tags: Words = ()
    names: Words = ()
    copy: bool = Field(default=False, description="true or false")  # plain folders instead of links
    agent: str | None = Field(default=None, alias="for", description="the name of an agent")
    fit: bool = Field(default=False, description="true or false")  # only what its agent tells whole
    finder: str = Field(
        default=FINDER,
        pattern="^[a-z0-9]+(-[a-z0-9]+)*$",
        max_length=64,
        description="a name of lower-case letters, digits and hyphens",
    )

    @model_validator(mode="after")
    def _one_filter(self) -> Self:
        if self.index is not None and (self.levels or self.tags or self.names):
            raise ValueError(
                "has index and a filter of its own; keep index, or levels, tags and names"
            )
        if self.fit and self.agent is None:
            raise ValueError("has fit, but no agent is known for it; name it with for")
        return self

    @property
    def selection(self) -> Selection:
        """Its own filter, if it names no index."""
        return Selection(self.levels, self.tags, self.names)


def _site_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise ValueError("it needs http:// or https:// and a host, and no path")
    return f"{parts.scheme}://{parts.netloc}/"


class SiteSettings(Table):
    """Settings of `[site]`: the web site of the catalog."""

    enabled: bool = Field(True, description="true or false")
    host: str = Field("127.0.0.1", min_length=1, description="an address or a host name")
    port: int = Field(8001, ge=1, le=65535, description="a port from 1 to 65535")
    names: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(
        (), description="a list of additional host names of the site, without ports"
    )
    sql: bool | None = Field(None, description="true or false")
    url: Annotated[str, AfterValidator(_site_url)] | None = Field(
        None, description="a URL such as https://skills.example.org/"
    )
    behind_proxy: bool = Field(False, description="true or false")
    reports: bool = Field(False, description="true or false")
