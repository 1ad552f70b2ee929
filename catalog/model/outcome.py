"""Outcomes of skill runs, with memory writes; all frozen."""

import os.path
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from catalog.model.finding import Finding
from catalog.model.values import Json

OwnerType: TypeAlias = Literal["user", "household", "task", "group"]
MemoryType: TypeAlias = Literal["preference", "fact", "event", "summary"]
Form: TypeAlias = Literal["outcome", "abp"]


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """Memory that a skill suggests to store."""

    type: MemoryType
    content: str
    importance: int  # 1 to 5, higher is more
    importance_declared: float  # as the file has it: 1 to 5, or 0 to 1 in an ABP envelope
    owner_type: OwnerType | None = None
    owner_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunStep:
    """Step of a run, normalised, beside the values that its runtime wrote."""

    step_id: str
    step_name: str
    input: Json
    output: Json
    duration: float | None  # milliseconds; None where the runtime measured none
    error: str | None
    error_declared: Json
    timestamp: str | None  # ISO 8601, UTC
    timestamp_declared: Json


@dataclass(frozen=True, slots=True)
class RunFile:
    """File of one outcome as it was read once."""

    path: str  # relative to the folder of outcomes
    sha256: str | None  # 64 hex digits; None for an unread file

    @property
    def run_id(self) -> str:
        """Run, by the name of the file."""
        return os.path.splitext(self.path.rpartition("/")[2])[0]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Valid outcome."""

    file: RunFile
    form: Form
    output: Json
    format: str | None
    status: str | None
    failed: bool
    message: str | None
    token_usage: Json  # as the file has it: a number, or an object of counts
    tokens: float | None  # in all
    warnings: tuple[str, ...]
    memory_writes: tuple[MemoryWrite, ...]
    steps: tuple[RunStep, ...]
    skill: str | None = None  # name or skill_id; None where the file has none
    version: str | None = None  # of the skill that ran; None where the file has none
    declared_run: str | None = None
    tool: str | None = None  # of an ABP envelope
    call_id: str | None = None  # of an ABP envelope
    findings: tuple[Finding, ...] = ()  # none of them an error

    @property
    def run_id(self) -> str:
        """Run, as the file names it, else by the name of the file."""
        return self.declared_run or self.file.run_id


@dataclass(frozen=True, slots=True)
class BadOutcome:
    """Rejected outcome; its findings give the reasons."""

    file: RunFile
    findings: tuple[Finding, ...]


JudgedOutcome: TypeAlias = RunOutcome | BadOutcome
