"""Times of other programs on a tree of skills, run in an environment with these programs.

Prints JSON: seconds by name. The reference library (skills-ref) is called for each folder, the
command of skillport once for the tree.
"""

import json
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Time each installed peer on the tree in the first argument."""
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
    return {"skills-ref, validate": time.perf_counter() - began}


def _skillport(tree: Path) -> dict[str, float]:
    command = Path(sys.executable).with_name("skillport")
    if not command.exists():
        return {}
    began = time.perf_counter()
    subprocess.run([command, "--skills-dir", tree, "validate"], capture_output=True, check=False)
    return {"skillport, validate": time.perf_counter() - began}


if __name__ == "__main__":
    main()
