"""Outcomes of skill runs, with memory writes; all frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from catalog.model.change import StepTrace
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
    owner_type: OwnerType | None = None  # an ABP envelope names no owner
    owner_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFile:
    """Outcome file as it was read once."""

    path: str  # relative to the folder of outcomes: <skill_id>/<run_id>.json
    fingerprint: str  # changes when the file's stat signature does
    sha256: str | None  # 64 hex digits; None where the file was too large to read

    @property
    def skill_id(self) -> str:
        """Skill that ran, by the folder of the file."""
        return self.path.partition("/")[0]

    @property
    def run_id(self) -> str:
        """Run, by the name of the file."""
        return self.path.rpartition("/")[2].removesuffix(".json")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Valid outcome file."""

    file: RunFile
    form: Form
    output: Json
    format: str | None
    status: str | None
    failed: bool
    message: str | None
    token_usage: Mapping[str, Json]
    warnings: tuple[str, ...]
    memory_writes: tuple[MemoryWrite, ...]
    steps: tuple[StepTrace, ...]
    version: str | None = None  # of the skill that ran; None where the file has none
    tool: str | None = None  # of an ABP envelope
    call_id: str | None = None  # of an ABP envelope
    findings: tuple[Finding, ...] = ()  # none of them an error


@dataclass(frozen=True, slots=True)
class BadOutcome:
    """Rejected outcome file; its findings give the reasons."""

    file: RunFile
    findings: tuple[Finding, ...]


JudgedOutcome: TypeAlias = RunOutcome | BadOutcome
