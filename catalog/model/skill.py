"""The words that both packages share: files, findings, verdicts and step traces, all frozen.

What is sent from one process to another for each skill is a tuple, which costs least to send.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info"]
Level: TypeAlias = Literal["enterprise", "personal", "project", "plugin"]
Acceptance: TypeAlias = Literal["strict", "lenient", "permissive"]
Kind: TypeAlias = Literal[
    "skill_md", "script", "reference", "asset", "template", "test", "config", "other"
]
Status: TypeAlias = Literal["active", "shadowed", "rejected", "pending", "removed"]
Trigger: TypeAlias = Literal["event", "start", "re-scan", "command"]
Outcome: TypeAlias = Literal[
    "added",
    "updated",
    "unchanged",
    "renamed",
    "rejected",
    "removed",
    "held",
    "unsettled",
    "delayed",
]
"""What a look at a folder came to; "unsettled" is not taken in, and has to be looked at again.

"delayed" is not taken in either: it changes too often, and has to wait for some seconds.
"""

LEVELS: tuple[Level, ...] = ("enterprise", "personal", "project", "plugin")
"""Highest first: a skill of a higher level shadows one of the same skill_id below it."""

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
"""What a frontmatter value can be. YAML scalars stay the strings that were written."""


class FileEntry(NamedTuple):
    """One file of a skill, as it was hashed."""

    path: str  # relative to the skill folder, with "/" between the parts
    size: int  # bytes
    sha256: str  # 64 hex digits
    mode: int  # 0o755 if its owner may execute it, else 0o644
    kind: Kind
    is_text: bool
    text: str | None = None  # of small text files other than SKILL.md


class Inventory(NamedTuple):
    """What a skill consists of, in the field names of the product specification."""

    has_skill_md: bool
    has_scripts: bool
    has_references: bool
    script_files: tuple[str, ...]
    reference_files: tuple[str, ...]
    template_files: tuple[str, ...]
    total_files: int
    total_size_bytes: int

    @classmethod
    def of(cls, files: Sequence[FileEntry]) -> "Inventory":
        """Count and sort the files of one skill."""
        scripts = tuple(f.path for f in files if f.kind == "script")
        references = tuple(f.path for f in files if f.kind == "reference")
        return cls(
            has_skill_md=any(f.kind == "skill_md" for f in files),
            has_scripts=bool(scripts),
            has_references=bool(references),
            script_files=scripts,
            reference_files=references,
            template_files=tuple(f.path for f in files if f.kind == "template"),
            total_files=len(files),
            total_size_bytes=sum(f.size for f in files),
        )

    def as_json(self) -> dict[str, Json]:
        """Return the eight published fields."""
        return {
            "hasSkillMd": self.has_skill_md,
            "hasScripts": self.has_scripts,
            "hasReferences": self.has_references,
            "scriptFiles": self.script_files,
            "referenceFiles": self.reference_files,
            "templateFiles": self.template_files,
            "totalFiles": self.total_files,
            "totalSizeBytes": self.total_size_bytes,
        }


class Finding(NamedTuple):
    """One diagnostic: what is wrong, where, and what to do next."""

    code: str  # a stable slug
    severity: Severity
    profile: str  # the set of rules it belongs to
    message: str
    fix: str
    field: str | None = None
    path: str | None = None  # of the file it speaks of, relative to the skill folder
    line: int | None = None  # from 1
    column: int | None = None  # from 1
    before: str | None = None  # of a repair: the text as written …
    after: str | None = None  # … and as it was read

    def as_json(self) -> dict[str, Json]:
        """Return the fields that say something."""
        return {key: value for key, value in self._asdict().items() if value is not None}


class Place(NamedTuple):
    """Where a skill folder lies and what its root says of it."""

    root: str  # absolute path
    path: str  # of the skill folder, relative to the root
    level: Level
    plugin: str | None = None
    is_alias: bool = False  # reached through a link; what it leads to is the skill itself


@dataclass(frozen=True, slots=True)
class AbpTool:
    """A tool that a skill offers over ApexBridge's ABP protocol."""

    name: str
    description: str | None = None
    kind: str | None = None
    parameters: Mapping[str, Json] | None = None
    returns: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class ApexBridge:
    """What a skill declares for ApexBridge alone; a value that is not declared is None or ()."""

    type: str | None = None
    protocol: str | None = None
    capabilities: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()
    input_schema: Mapping[str, Json] | None = None
    output_schema: Mapping[str, Json] | None = None
    timeout_ms: int | None = None
    memory_mb: int | None = None
    network: str | None = None  # none or allowlist
    network_allowlist: tuple[str, ...] = ()
    filesystem: str | None = None  # none or read-only
    requires_filesystem: bool | None = None
    environment: Mapping[str, str] | None = None
    security_from: str | None = None  # the field it is declared in: security, or permissions
    entry: str | None = None
    helpers: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    abp_kind: str | None = None
    tools: tuple[AbpTool, ...] = ()
    cacheable: bool | None = None
    ttl: float | None = None  # seconds


_NOTHING: Mapping[str, Json] = {}


class SkillRecord(NamedTuple):
    """The verdict on a skill folder whose content is accepted."""

    place: Place
    skill_id: str
    name: str  # qualified: `plugin:name` in a plugin root
    description: str
    spec_valid: bool
    fingerprint: str
    digest: str  # "sha256:" and 64 hex digits, of the whole folder
    skill_md_hash: str  # 64 hex digits, of SKILL.md's raw bytes
    skill_md_name: str  # SKILL.md, or the variant that was found
    skill_md_content: str
    body_chars: int  # of the body, which is the end of that; see `bodies`
    headings: tuple[str, ...]
    body_lines: int
    estimated_tokens: int
    files: tuple[FileEntry, ...]
    inventory: Inventory
    findings: tuple[Finding, ...]
    frontmatter: Mapping[str, Json] = _NOTHING
    display_name: str | None = None
    author: str | None = None
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    priority: float | None = None  # 0 to 1, higher first
    model_invocable: bool = True
    user_invocable: bool = True
    apexbridge: ApexBridge | None = None


class Rejection(NamedTuple):
    """The verdict on a skill folder whose content is not accepted; its findings say why."""

    place: Place
    skill_id: str
    name: str
    fingerprint: str
    digest: str | None  # None where the files could not all be read
    findings: tuple[Finding, ...]
    inventory: Inventory
    frontmatter: Mapping[str, Json] = _NOTHING


Verdict: TypeAlias = SkillRecord | Rejection


class StepTrace(NamedTuple):
    """One step of a run, with its time; stored with camelCase keys."""

    step_id: str
    step_name: str
    timestamp: str  # ISO 8601, UTC
    duration: float  # milliseconds
    input: Json = None
    output: Json = None
    error: str | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the trace in the field names of the product specification."""
        return {
            "stepId": self.step_id,
            "stepName": self.step_name,
            "input": self.input,
            "output": self.output,
            "duration": self.duration,
            "error": self.error,
            "timestamp": self.timestamp,
        }


@dataclass(frozen=True, slots=True)
class RootSpec:
    """A watched directory and what the configuration says of it."""

    path: str  # absolute
    level: Level = "project"
    acceptance: Acceptance = "lenient"
    profiles: tuple[str, ...] = ("spec",)


class Judged(NamedTuple):
    """A skill folder that was read and judged, and how that went."""

    verdict: Verdict
    steps: str  # StepTraces, as the JSON list that is stored
    started_at: str  # ISO 8601, UTC
    took_ms: float
    moved_from: tuple[str, str] | None = None  # the (root, path) whose content it has, if renamed


@dataclass(frozen=True, slots=True)
class Gone:
    """A skill folder of the catalog that is no longer there."""

    root: str
    path: str
    leads_out: bool = False  # a link on the path leads out of the root now


Change: TypeAlias = Judged | Gone


@dataclass(frozen=True, slots=True)
class Applied:
    """What a change came to in the catalog."""

    root: str
    path: str
    name: str
    outcome: Outcome
    detail: str | None = None
    wait: float = 0.0  # seconds, where it is delayed
