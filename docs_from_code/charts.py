"""Tables that the charts of docs/charts.md are drawn from, and the check that they are current."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

Row: TypeAlias = dict[str, str]

_REPOSITORY = Path(__file__).parents[1]
FOLDER = _REPOSITORY / "docs" / "assets" / "charts"
RESULTS = _REPOSITORY / "benchmarks" / "results.md"
READERS = _REPOSITORY / "docs" / "scaling.md"
TABLES = {
    "floor": (RESULTS, "work"),
    "change": (RESULTS, "work"),
    "latency": (RESULTS, "work"),
    "memory": (RESULTS, "work"),
    "processes": (READERS, "asked for"),
}
"""Page and name of the first column of the table of each chart."""


def rows(page: Path, first: str) -> Sequence[Row]:
    """Return the rows of the first table of a page whose first column has a name."""
    names: Sequence[str] = ()
    found: list[Row] = []
    for line in page.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")]
        if not line.startswith("|"):
            if names:
                break
        elif names:
            if set(cells[0]) != {"-"}:
                # Of two columns with one name, the first counts.
                found.append(dict(zip(names[::-1], cells[::-1], strict=True)))
        elif cells[0] == first:
            names = cells
    return found


def digest(table: Sequence[Row]) -> str:
    """Return what a chart holds to name the rows that it was drawn from."""
    return hashlib.sha256(json.dumps(table).encode()).hexdigest()


def stale(folder: Path = FOLDER) -> list[str]:
    """Return the charts that are missing or were drawn from other rows than the present ones."""
    return [
        name
        for name, table in TABLES.items()
        if not (chart := folder / f"{name}.svg").is_file()
        or digest(rows(*table)) not in chart.read_text("utf-8")
    ]
