"""Settings of hooks, which are told of changes or of memories."""

from typing import Annotated, Self, TypeAlias, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, FiniteFloat, StringConstraints, model_validator

from catalog.model.outcome import OwnerType
from pipeline.config.directories import Directory
from pipeline.config.table import Table
from pipeline.hooks.hook import MEMORY, Hook
from pipeline.hooks.payload import KINDS
from pipeline.hooks.secret import Secret


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError("unknown kind")
    return kind


def _url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no URL")
    return url


Kinds: TypeAlias = Annotated[tuple[Annotated[str, AfterValidator(_kind)], ...], Field(min_length=1)]


class HookSettings(Table):
    """Settings of one `[[hooks]]` table."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="a short name, without spaces"
    )
    on: Kinds = Field(description=f"a list of {', '.join(KINDS)}")
    owner: str | None = Field(
        None,
        pattern=rf"^({'|'.join(get_args(OwnerType))})(:.+)?$",
        description="an owner such as user, or user:anna",
    )
    url: Annotated[str, AfterValidator(_url)] | None = Field(
        None, description="a URL with http or https, without user name and password"
    )
    command: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(
        (), description="a program and its arguments, as a list"
    )
    secret_env: str | None = Field(
        None, min_length=1, description="the name of an environment variable"
    )
    secret_file: Directory | None = Field(None, description="the path of a file")
    timeout: FiniteFloat = Field(
        10.0, gt=0, le=600, description="a number of seconds above 0, at most 600"
    )

    @model_validator(mode="before")
    @classmethod
    def _no_password(cls, values: object) -> object:
        """Refuse a password without a message that shows it."""
        if isinstance(values, dict) and "@" in urlsplit(str(values.get("url"))).netloc:
            raise ValueError("has a user name or password in url; use secret_env or secret_file")
        return values

    @model_validator(mode="after")
    def _one_receiver(self) -> Self:
        if bool(self.url) == bool(self.command):
            raise ValueError("needs either url or command")
        if MEMORY in self.on and len(set(self.on)) > 1:
            raise ValueError(f"has {MEMORY} beside changes in on; give memories their own hook")
        if self.owner and MEMORY not in self.on:
            raise ValueError(f'has an owner without on = ["{MEMORY}"]; only memories have one')
        if self.secret_env and self.secret_file:
            raise ValueError("has secret_env and secret_file; keep one")
        if self.command and (self.secret_env or self.secret_file):
            raise ValueError("has a command, which needs no secret; remove secret_env, secret_file")
        return self

    @property
    def hook(self) -> Hook:
        """The hook."""
        secret = Secret(self.secret_env, self.secret_file)
        on = frozenset(self.on)
        return Hook(self.name, on, self.url, self.command, secret, self.timeout, self.owner)


class WebhookSettings(Table):
    """Settings of `[webhook]`: a port of this machine on which a git server asks for a pull."""

    port: int | None = Field(None, ge=1, le=65535, description="a port from 1 to 65535")
    secret_env: str | None = Field(
        None, min_length=1, description="the name of an environment variable"
    )
    secret_file: Directory | None = Field(None, description="the path of a file")

    @model_validator(mode="after")
    def _one_secret(self) -> Self:
        if self.port and bool(self.secret_env) == bool(self.secret_file):
            raise ValueError("needs either secret_env or secret_file")
        return self

    @property
    def secret(self) -> Secret:
        """The place of the secret."""
        return Secret(self.secret_env, self.secret_file)
