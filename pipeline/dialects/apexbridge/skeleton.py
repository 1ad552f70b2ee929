"""Texts of a new ApexBridge package, to fill in."""

from collections.abc import Mapping

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
