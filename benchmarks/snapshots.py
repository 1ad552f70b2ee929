"""Pictures of every kind of page: three widths, both colour schemes, in a folder.

The pictures are for eyes; they are compared with nothing and belong to no commit.
"""

import argparse
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from running_programs import served

from tests.support.browsers import ARGUMENTS, CHROMIUM
from tests.support.page_kinds import page_kinds

WIDTHS = (1440, 390, 320)
SCHEMES: tuple[Any, ...] = ("light", "dark")
WHOLE = ".line { content-visibility: visible !important }"
"""Style that also draws lines below the window, which are laid out when they come into it."""
TALLEST = 4_000
"""Pixels; the rest of a longer page looks like its beginning."""


def main() -> None:
    """Serve the catalog, and photograph its pages."""
    arguments = _arguments()
    arguments.to.mkdir(parents=True, exist_ok=True)
    pages = {
        kind: path for kind, path in page_kinds(arguments.catalog).items() if arguments.only in kind
    }
    with served(arguments.catalog) as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for width in arguments.widths:
            for scheme in SCHEMES:
                context = browser.new_context(
                    base_url=origin,
                    color_scheme=scheme,
                    viewport={"width": width, "height": 900},
                    bypass_csp=True,
                )
                page = context.new_page()
                for kind, path in pages.items():
                    page.goto(path)
                    page.add_style_tag(content=WHOLE)
                    height = page.evaluate("document.documentElement.scrollHeight")
                    page.screenshot(
                        path=arguments.to / f"{_file_name(kind)}-{width}-{scheme}.png",
                        full_page=True,
                        clip={"x": 0, "y": 0, "width": width, "height": min(height, TALLEST)},
                    )
                context.close()
        browser.close()
    pictures = len(pages) * len(arguments.widths) * len(SCHEMES)
    print(f"{pictures} pictures of {len(pages)} pages in {arguments.to}")


def _file_name(kind: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in kind)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catalog", type=Path, default=Path("var/catalog.db"))
    parser.add_argument("--to", type=Path, default=Path("var/snapshots"))
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--only", default="", help="part of the names of kinds of pages")
    return parser.parse_args()


if __name__ == "__main__":
    main()
