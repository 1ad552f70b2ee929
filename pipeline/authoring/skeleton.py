"""Skeletons of new skills, to fill in: a plain one, and a package for ApexBridge."""

from pathlib import Path

from catalog.model.errors import NotAdded
from catalog.model.naming import is_slug
from catalog.text.suggestions import shown

_SKILL_MD = """\
---
name: {name}
description: Describes {words} in one sentence. Use when someone asks for {words}.
---

# {title}

Say in one sentence what this skill achieves.

## Steps

1. Name the input, and how to get it.
2. Name each step, in the order of the work.
3. Name the result, and how to check it.

## Example

> A request of a person, in their words.

The answer that this skill gives.
"""

_APEXBRIDGE_SKILL_MD = """\
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
"""
_EXECUTE = """\
\"\"\"Reads the parameters as JSON, and writes the output as JSON.\"\"\"

import json
import sys

parameters = json.load(sys.stdin)
json.dump({"result": parameters["text"]}, sys.stdout)
"""


def make(name: str, parent: Path, *, is_apexbridge: bool = False) -> Path:
    """Write a skill with a name below a directory, and return its folder.

    Raises NotAdded if the name is none that the specification allows, or the folder exists.
    """
    if not name.isascii() or not is_slug(name) or not name or len(name) > 64:
        raise NotAdded(
            f"{shown(name)} cannot be the name of a skill: it needs 1 to 64 of a-z, 0-9 and "
            "single hyphens between them, such as csv-profile."
        )
    words = name.replace("-", " ")
    folder = parent / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise NotAdded(f"{folder} exists already; choose another name.") from None
    except OSError as error:
        raise NotAdded(f"{folder} was not made: {error.strerror}.") from error
    template = _APEXBRIDGE_SKILL_MD if is_apexbridge else _SKILL_MD
    text = template.format(
        name=name, words=words, title=words.capitalize(), intent=name.replace("-", "_")
    )
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    if is_apexbridge:
        (folder / "scripts").mkdir()
        (folder / "scripts" / "execute.py").write_text(_EXECUTE, encoding="utf-8")
    return folder
