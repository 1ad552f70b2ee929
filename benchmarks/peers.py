"""Times other people's tools on a tree of skills; run by an environment that has them installed.

Prints JSON: seconds by name. The reference library (skills-ref) is called as a library, folder by
folder; skillport by its command, once for the tree.
"""

import json
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Time each peer that is installed here on the tree that is named."""
    tree = Path(sys.argv[1])
    print(json.dumps({**_reference(tree), **_skillport(tree)}))


def _reference(tree: Path) -> dict[str, float]:
    try:
        import skills_ref
    except ImportError:
        return {}
    folders = sorted(file.parent for file in tree.rglob("SKILL.md"))
    began = time.perf_counter()
    for folder in folders:
        skills_ref.validate(folder)
    validated = time.perf_counter() - began
    skills_ref.to_prompt(folders)
    return {
        "skills-ref, validate": validated,
        "skills-ref, validate and to_prompt": time.perf_counter() - began,
    }


def _skillport(tree: Path) -> dict[str, float]:
    command = Path(sys.executable).with_name("skillport")
    if not command.exists():
        return {}
    began = time.perf_counter()
    subprocess.run([command, "--skills-dir", tree, "validate"], capture_output=True, check=False)
    return {"skillport, validate": time.perf_counter() - began}


if __name__ == "__main__":
    main()
