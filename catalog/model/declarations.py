"""Records of the declarations of a skill for one system alone, a dialect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog.model.values import Json


@dataclass(frozen=True, slots=True)
class AbpTool:
    """Tool that a skill offers over ApexBridge's ABP protocol."""

    name: str
    description: str | None = None
    kind: str | None = None
    parameters: Mapping[str, Json] | None = None
    returns: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class ApexBridge:
    """Declarations of a skill for ApexBridge only; missing values are None or ()."""

    type: str | None = None
    protocol: str | None = None
    timeout_ms: int | None = None
    memory_mb: int | None = None
    network: str | None = None  # none or allowlist
    network_allowlist: tuple[str, ...] = ()
    filesystem: str | None = None  # none or read-only
    requires_filesystem: bool | None = None
    environment: Mapping[str, str] | None = None
    security_from: str | None = None  # the declaring field: security or permissions
    capabilities: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()
    entry: str | None = None
    helpers: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    abp_kind: str | None = None
    cacheable: bool | None = None
    ttl: float | None = None  # seconds
    input_schema: Mapping[str, Json] | None = None
    output_schema: Mapping[str, Json] | None = None
    tools: tuple[AbpTool, ...] = ()


RECORDS: dict[str, type[Any]] = {"apexbridge": ApexBridge}
"""Record of each dialect, by its name. The table NAME_skills has a column for each field."""
