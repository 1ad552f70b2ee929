"""Build of the documentation, and checks of the built pages."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_CONFIG = "zensical.toml"


def build(repository: Path, copy: Path | None = None) -> Path | None:
    """Build the site, in the repository or from a copy of docs/ in an empty folder.

    Returns the folder of the site; None if the build fails, with the reason on standard error.
    """
    folder = repository
    if copy:  # zensical builds only into the folder of its configuration
        folder = copy
        shutil.copytree(repository / "docs", copy / "docs")
        shutil.copy(repository / _CONFIG, copy)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    result = subprocess.run(
        [*command, "-f", folder / _CONFIG], cwd=folder, capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.stderr.write(result.stdout + result.stderr.partition("Traceback")[0])
        return None
    return folder / "site"


def faults(site: Path) -> list[str]:
    """Return the faults of a built site, one sentence each.

    The strict build checks links between pages. This function checks all other links, and finds
    files that a page would fetch from another host.
    """
    pages = {file: _Page(file) for file in sorted(site.rglob("*.html")) if file.name != "404.html"}
    return [
        f"{file.relative_to(site)}: {fault}"
        for file, page in pages.items()
        for fault in (*_fetched(page), *_dead(page, file, pages))
    ]


class _Page(HTMLParser):
    """Addresses and anchors of one page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.linked: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the addresses and anchors of one element."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.fetched += [values["src"]] if "src" in values else []
        if "href" in values:
            (self.linked if tag == "a" else self.fetched).append(values["href"])


def _fetched(page: _Page) -> Iterator[str]:
    for address in page.fetched:
        if urlsplit(address).netloc:
            yield f"it fetches {address} from another host"


def _dead(page: _Page, file: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    for address in (*page.linked, *page.fetched):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            yield f"its link to {address} leads nowhere"
        elif target in pages and parts.fragment not in ("", "__skip", *pages[target].anchors):
            yield f"its link to {address} leads to no anchor"
