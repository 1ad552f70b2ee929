"""Phrases that most SKILL.md files have: packed texts refer to them instead of repeating them.

Packed texts depend on every byte here, so nothing may change. The most frequent phrases are last.
"""

_WORDS = """
Prerequisites Requirements Installation Configuration Troubleshooting Limitations References
Resources Overview Workflow Quick Start Best Practices Common Mistakes Guidelines Anti-patterns
Output Format Input Parameters Arguments Error Handling Security Testing Performance Deployment
Verification Checklist Architecture Components Summary Context Background Purpose Scope Related
application production development environment database performance authentication
authorization validation documentation implementation configuration information automatically
available different following specific existing multiple additional appropriate necessary
important required recommended optional default current previous complete correct relevant
function component interface template library framework package module dependency dependencies
repository pull request branch commit directory project service server client endpoint response
message number string object array value field column table query schema migration version update
review analysis generate implement structure pattern strategy approach solution problem question
because between through without before after during against should would could might always never
**Important:** **Note:** **Example:** **Do not** **Solution:** **When:** **Why:** **What:** **How:**
"""
_LINES = """
allowed-tools: Read, Write, Edit, Bash, Grep, Glob
license: MIT
metadata:
  author:
  version: "1.0.0"
  tags: []

This skill helps with the development of a project. This skill provides guidance for how to work
with the user's code, and when the user asks for help with a specific task. Do not use it for other
things. For more details, see the documentation: https://github.com/ and https://www.example.com/

## Overview

## Prerequisites

## When to Use This Skill

Use this skill when you need to:

- [ ] Make sure that all of the tests pass
- Check if the file exists, and run the command again
- If there is an error, read the message and fix it

### Step 1: Read the file

1. **Identify** the
2. **Read** the existing code in the directory
3. **Create** a new file with the following content:
4. **Run** the script, and verify the output

```bash
#!/bin/bash
cd "$HOME" && npm install && npm run build
pip install -r requirements.txt
git add . && git commit -m "feat: add
curl -X POST -H "Content-Type: application/json" http://localhost:8080/api/v1/
python scripts/
```

```python
import os
import sys
import json
from pathlib import Path

def main() -> None:
    for item in items:
        if not result:
            return None
    try:
        print(f"{
    except Exception as e:
        raise
```

```typescript
import { useState } from 'react';
export const config = { type: 'string', name: 'id' };
export async function handler(request: Request): Promise<Response> {
  const data = await response.json();
  return true;
}
```

```json
{
  "name": "",
  "type": "object",
  "description": "",
  "required": true
}
```

```yaml
name:
description:
```

| Command | Description |
| --- | --- |
|---------|-------------|
| `--help` | Show the |

## Instructions

## Examples

**Input:** the user's request
**Output:** a list of the

## Common Issues

## Best Practices

- **Always** use the
- **Never** use
- Do not add

## References

See [references/REFERENCE.md](references/REFERENCE.md) for more information, and
`references/examples.md` for the

"""
_DESCRIBED = (
    '"display_name":null,"description":"Use when the user asks to create, update, or review the"'
    ',"spec_valid":1,"author":null,"license":null,"compatibility":null,"allowed_tools":null,'
    '"category":null,"tags":"[]","priority":null,"model_invocable":1,"user_invocable":1,'
    '"fallback_description":null,"body_lines":100,"estimated_tokens":1000,'
    '"skill_md_name":"SKILL.md","headings":["Overview","When to use","Instructions"],'
    '"body_chars":1000,"found_by":[],"apexbridge":null,"references":[]}\n---\nname: \n'
    "description: Use this skill when the user asks for \n---\n\n# "
)
COMMON_PHRASES = f"{_WORDS.replace(chr(10), ' ')}{_LINES}{_DESCRIBED}".encode()
