"""Definition of the ApexBridge dialect, with the texts of a new package."""

from collections.abc import Mapping

from pipeline.dialects.apexbridge import field_rules, file_rules
from pipeline.dialects.apexbridge.codes import FIELD_MALFORMED, OWNER, TYPES
from pipeline.dialects.apexbridge.conversion_plan import (
    MANIFEST,
    METADATA,
    STAND_INS,
    plan,
)
from pipeline.dialects.apexbridge.fields import (
    FIELDS,
    SIGNS,
    ApexBridgeFields,
    package_of,
    searched_words,
    with_json_values,
)
from pipeline.validation.dialect import Conversion, Dialect
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.spec.codes import NAME_FORM

SKELETON: Mapping[str, str] = {
    "SKILL.md": """\
---
name: {name}
description: Describes {words} in one sentence. Use when someone asks for {words}.
version: 0.1.0
type: direct
capabilities: [{name}]
tags: [{name}]
triggers:
  intents: [{intent}]
  phrases: [{words}]
  event_types: []
  priority: 0.5
input_schema:
  type: object
  properties:
    text: {{type: string}}
  required: [text]
output_schema:
  type: object
  properties:
    result: {{type: string}}
security:
  timeout_ms: 5000
  memory_mb: 128
  network: none
  filesystem: none
resources:
  entry: ./scripts/execute.py
---

# {title}

## Description

Say in one sentence what this skill achieves.

## Parameters

- `text`: name the input, and how to get it.

## Output

- `result`: name the result, and how to check it.

## Steps

1. Run `scripts/execute.py` with the parameters.
2. Give the result to the person who asked.

## Examples

> A request of a person, in their words.

The answer that this skill gives.

## Safety

Name what the script reads, writes and sends.
""",
    "scripts/execute.py": """\
\"\"\"Reads the parameters as JSON, and writes the output as JSON.\"\"\"

import json
import sys

parameters = json.load(sys.stdin)
json.dump({{"result": parameters["text"]}}, sys.stdout)
""",
}
"""By path; name, words, title and intent in braces are filled in."""


APEXBRIDGE = Dialect(
    owner=OWNER,
    profile=Profile("apexbridge", TYPES, field_rules.RULES + file_rules.RULES),
    model=ApexBridgeFields,
    fields=FIELDS,
    signs=SIGNS,
    is_extensible=True,
    allowed=frozenset(kind.code for kind in NAME_FORM),
    mismatch_type=FIELD_MALFORMED,
    values=with_json_values,
    record=package_of,
    priority=lambda declared: declared.triggers.priority,
    search_words=searched_words,
    skeleton=SKELETON,
    conversion=Conversion(frozenset((*METADATA, MANIFEST)), frozenset(STAND_INS), plan),
)
