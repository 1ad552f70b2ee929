"""Command `python -m docs_from_code`: writes the pages; with `--check` only tells what is wrong."""

import sys
import tempfile
from pathlib import Path

from docs_from_code.pages import DOCS, PAGES, stale
from docs_from_code.site import build, faults

REPOSITORY = DOCS.parent


def main() -> int:
    """Write the pages and build the site, or check both in a temporary folder; return the code."""
    if "--check" not in sys.argv[1:]:
        for name, text in PAGES.items():
            (DOCS / name).write_text(text(), "utf-8")
        return _report([], build(REPOSITORY))
    with tempfile.TemporaryDirectory() as folder:
        return _report(
            [f"docs/{name} is stale: run `make docs`" for name in stale()],
            build(REPOSITORY, Path(folder)),
        )


def _report(complaints: list[str], site: Path | None) -> int:
    if site:
        complaints = complaints + faults(site)
    else:
        complaints = [*complaints, "the site cannot be built; see above"]
    for complaint in complaints:
        sys.stderr.write(f"{complaint}\n")
    return 1 if complaints else 0


sys.exit(main())
