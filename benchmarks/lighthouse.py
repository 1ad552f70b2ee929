"""Lighthouse's scores of the main pages. Needs npx, and the system's Chromium.

npm's cache is where npm keeps it; Lighthouse itself is not part of the project.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from running_programs import served

from tests.support.browsers import CHROMIUM
from tests.support.page_kinds import page_kinds

PAGES = (
    "front",
    "list",
    "skill, many findings",
    "index",
    "indexes",
    "findings",
    "sources",
    "activity",
    "review",
    "tables",
    "table",
    "table of findings",
)
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
LEAST = 95
"""Of 100, in each category."""
LIGHTHOUSE = "lighthouse@12"
FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking"


def main() -> None:
    """Serve the catalog, measure, and print the table with the audits that failed."""
    arguments = _arguments()
    paths, low = page_kinds(arguments.catalog), []
    print(f"| page | {' | '.join(CATEGORIES)} |\n|---{'|---' * len(CATEGORIES)}|")
    with served(arguments.catalog) as origin:
        for page in PAGES:
            # robots.txt keeps crawlers away from the tables, and the text of a link in one is the
            # name of a skill: `start` is no text of a link to Lighthouse.
            skipped = ["--skip-audits=is-crawlable,link-text"] if page.startswith("table") else []
            report = _report(origin + paths[page], arguments.preset, skipped)
            scores = {name: 100 * report["categories"][name]["score"] for name in CATEGORIES}
            print(
                f"| {page} | {' | '.join(f'{score:.0f}' for score in scores.values())} |",
                flush=True,
            )
            for name in CATEGORIES:
                low += [f"{page}, {name}: {audit}" for audit in _failed(report, name)]
                low += [f"{page}, {name}: below {LEAST}"] if scores[name] < LEAST else []
    print("\n" + "\n".join(low))
    if any(f"below {LEAST}" in line for line in low):
        raise SystemExit(1)


def _report(url: str, preset: str, more: Sequence[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="skilldrop-lighthouse-") as folder:
        file = Path(folder, "report.json")
        subprocess.run(
            [
                *("npx", "--yes", LIGHTHOUSE, url, "--quiet", f"--chrome-flags={FLAGS}"),
                *(f"--only-categories={','.join(CATEGORIES)}", f"--output-path={file}"),
                *("--output=json", *more, *(["--preset=desktop"] if preset == "desktop" else [])),
            ],
            check=True,
            env={**os.environ, "CHROME_PATH": CHROMIUM or ""},
        )
        report: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return report


def _failed(report: dict[str, Any], category: str) -> list[str]:
    audits = [
        report["audits"][ref["id"]]
        for ref in report["categories"][category]["auditRefs"]
        if ref["weight"]
    ]
    return [
        f"{audit['title']} {audit.get('displayValue', '')}"
        for audit in audits
        if audit["score"] is not None and audit["score"] < 0.9
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catalog", type=Path, default=Path("var/catalog.db"))
    parser.add_argument("--preset", choices=("mobile", "desktop"), default="mobile")
    return parser.parse_args()


if __name__ == "__main__":
    main()
