"""Command `python -m docs_from_code`: writes the pages; with `--check` only reports problems."""

import sys
import tempfile
from pathlib import Path

from docs_from_code import conformance
from docs_from_code.pages import DOCS, PAGES, stale
from docs_from_code.site import build, faults

REPOSITORY = DOCS.parent


def main() -> int:
    """Write the pages and build the site, or check both in a temporary folder; return 0 or 1."""
    if "--check" not in sys.argv[1:]:
        for name, text in PAGES.items():
            (DOCS / name).write_text(text(), "utf-8")
        return _report(conformance.problems(), build(REPOSITORY))
    with tempfile.TemporaryDirectory() as folder:
        return _report(
            conformance.problems() + [f"docs/{name} is stale: run `make docs`" for name in stale()],
            build(REPOSITORY, Path(folder)),
        )


def _report(problems: list[str], site: Path | None) -> int:
    """Print the problems and those of the site, and return the exit code."""
    if site:
        problems = problems + faults(site)
    else:
        problems = [*problems, "the site cannot be built; see above"]
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


sys.exit(main())
