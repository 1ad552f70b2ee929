"""Charts of the saved results, as SVG files for the page docs/charts.md.

Reads the tables of benchmarks/results.md and docs/scaling.md; measures nothing.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

TOP = Path(__file__).parents[1]
FOLDER = TOP / "docs" / "assets" / "charts"

Row: TypeAlias = dict[str, str]

WORK_WITH_FLOOR = (
    "cold scan, publish in-place",
    "cold scan, publish copy",
    "unchanged re-scan in the service",
    "`skilldrop scan`, nothing new",
    "deep re-scan",
)
CHANGE = ("one change → package and index", "one change, CPU", "index rebuild, nothing new")
RESPONSES = (
    "site: home",
    "site: table, not kept",
    "site: skill page",
    "site: search JSON",
    "site during a scan: table, not kept",
    "site during a scan: search JSON",
    "last write → index, median",
    "last write → index, 99th percentile",
)
MEMORY = ("memory of the service, most, MB", "memory of the service, at rest, MB")


def main() -> None:
    """Draw all charts."""
    matplotlib.use("svg")
    # Text stays text, and the same results give the same bytes.
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "skilldrop", "font.family": "sans-serif"}
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = list(_rows(TOP / "benchmarks" / "results.md", "work"))
    _by_size(results, "floor", "times the floor", WORK_WITH_FLOOR, column="ratio", floor=1)
    _by_size(results, "change", "milliseconds", CHANGE, factor=1000)
    _by_size(results, "latency", "milliseconds, median", RESPONSES, factor=1000)
    _by_size(results, "memory", "MB", MEMORY)
    _by_processes(list(_rows(TOP / "docs" / "scaling.md", "asked for")))


def _rows(page: Path, first: str) -> Iterator[Row]:
    """Yield the rows of the first table of a page whose first column has a name."""
    names: Sequence[str] = ()
    for line in page.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")]
        if not line.startswith("|"):
            if names:
                return
        elif names:
            if set(cells[0]) != {"-"}:
                # Of two columns with one name, the first counts.
                yield dict(zip(names[::-1], cells[::-1], strict=True))
        elif cells[0] == first:
            names = cells


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _by_size(
    rows: Sequence[Row],
    name: str,
    unit: str,
    works: Sequence[str],
    *,
    column: str = "seconds",
    factor: float = 1,
    floor: float | None = None,
) -> None:
    """Draw a column of the results over the number of skills, a line for each work."""
    figure, axes = _figure("skills", unit)
    axes.set_xscale("log")
    sizes = sorted({_number(row["skills"]) for row in rows})
    for work in works:
        points = [
            (_number(row["skills"]), factor * _number(row[column]))
            for row in rows
            if row["work"] == work
        ]
        axes.plot(*zip(*points, strict=True), marker="o", label=work)
    if floor is not None:
        axes.axhline(floor, color="grey", linestyle=":", label="floor")
    axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], minor=False)
    axes.set_xticks([], minor=True)
    _save(figure, axes, name)


def _by_processes(rows: Sequence[Row]) -> None:
    """Draw the requests a second over the processes of the site, with and without a cache."""
    figure, axes = _figure("processes of the site", "requests a second")
    axes.set_yscale("log")
    for asked in dict.fromkeys(row["asked for"] for row in rows):
        for cache, style in (("", "-"), ("yes", "--")):
            points = [
                (_number(row["processes"]), _number(row["requests a second"]))
                for row in rows
                if (row["asked for"], row["cache"]) == (asked, cache)
            ]
            label = f"{asked}, from the cache" if cache else asked
            axes.plot(*zip(*points, strict=True), style, marker="o", label=label)
    axes.set_xticks(sorted({_number(row["processes"]) for row in rows}))
    _save(figure, axes, "processes")


def _figure(x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def _save(figure: Figure, axes: Axes, name: str) -> None:
    if axes.get_yscale() != "log":
        axes.set_ylim(bottom=0)
    figure.legend(loc="outside right upper", fontsize="small")
    path = FOLDER / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    lines = path.read_text("utf-8").splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines), "utf-8")
    print(path.relative_to(TOP))


if __name__ == "__main__":
    main()
