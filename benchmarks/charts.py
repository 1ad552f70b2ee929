"""Charts of the saved results, as SVG files for the page docs/charts.md.

Reads the tables of benchmarks/results.md and docs/scaling.md; measures nothing.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs_from_code.charts import FOLDER, TABLES, Row, digest, rows

TOP = Path(__file__).parents[1]
# Rows of one tuple have one colour.
WORK_WITH_FLOOR = (
    ("deep re-scan",),
    ("cold scan, publish in-place",),
    ("cold scan, publish copy",),
    ("`skilldrop scan`, nothing new",),
    ("unchanged re-scan in the service",),
)
CHANGE = (("one change → package and index",), ("index rebuild, nothing new",))
RESPONSES = (
    ("site: table, not kept", "site during a scan: table, not kept"),
    ("last write → index, median", "last write → index, 99th percentile"),
    ("site: skill page",),
    ("site: search JSON", "site during a scan: search JSON"),
    ("site: home",),
)
MEMORY = "memory of the service"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a6529b", "#8c6d00")  # of equal darkness
MARKERS = "os^Dv"
STYLES = ("-", "--")


def main() -> None:
    """Draw all charts."""
    matplotlib.use("svg")
    # Text stays text, and the same results give the same bytes.
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "skilldrop", "font.family": "sans-serif"}
    )
    matplotlib.rcParams.update({"font.size": 12, "lines.linewidth": 2})
    FOLDER.mkdir(parents=True, exist_ok=True)
    _by_size("floor", "times the floor", WORK_WITH_FLOOR, column="ratio", log=True)
    _by_size("change", "milliseconds", CHANGE, factor=1000)
    _by_size("latency", "milliseconds", RESPONSES, factor=1000, log=True)
    works = dict.fromkeys(row["work"] for row in _rows("memory"))
    # Where the service polls, its rows say so in their names.
    memory = [(work,) for work in works if work.startswith(MEMORY)]
    _by_size("memory", "MB", memory or [(MEMORY,)])
    _by_processes()


def _rows(name: str) -> Sequence[Row]:
    """Return the rows of a chart. Raises SystemExit if its page has no such table."""
    page, first = TABLES[name]
    if not (found := rows(page, first)):
        raise SystemExit(f"{page.relative_to(TOP)} has no rows below the column “{first}”.")
    return found


def _by_size(
    name: str,
    unit: str,
    works: Sequence[Sequence[str]],
    *,
    column: str = "seconds",
    factor: float = 1,
    log: bool = False,
) -> None:
    """Draw a column of the results over the number of skills, a line for each work."""
    table = _rows(name)
    figure, axes = _figure("skills", unit, log=log)
    axes.set_xscale("log")
    sizes = sorted({_number(row["skills"]) for row in table})
    for number, pair in enumerate(works):
        for style, work in zip(STYLES, pair, strict=False):
            points = [
                (_number(row["skills"]), factor * _number(row[column]))
                for row in table
                if row["work"] == work
            ]
            if not points:
                raise SystemExit(f"{TABLES[name][0].relative_to(TOP)} has no row “{work}”.")
            _line(axes, points, number, style, work.replace("`", "").removesuffix(f", {unit}"))
    if column == "ratio":
        axes.axhline(1, color="grey", linestyle=":", label="floor")
    axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], minor=False)
    axes.set_xticks([], minor=True)
    _save(figure, axes, name)


def _by_processes() -> None:
    """Draw the requests a second over the processes of the site, with and without a cache."""
    table = _rows("processes")
    names = dict.fromkeys(row["asked for"] for row in table)
    figure, axes = _figure("processes of the site", "requests a second", log=True)
    for cache, style in zip(("", "yes"), STYLES, strict=True):
        for number, asked in enumerate(names):
            points = [
                (_number(row["processes"]), _number(row["requests a second"]))
                for row in table
                if (row["asked for"], row["cache"]) == (asked, cache)
            ]
            label = f"{asked}, from the cache" if cache else asked
            _line(axes, points, number, style, label)
    axes.set_xticks(sorted({_number(row["processes"]) for row in table}))
    _save(figure, axes, "processes", columns=2)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _figure(x: str, y: str, *, log: bool) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(5.4, 3.3), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter("{x:,g}")
    return figure, axes


def _line(
    axes: Axes, points: Sequence[tuple[float, float]], number: int, style: str, label: str
) -> None:
    axes.plot(
        *zip(*points, strict=True),
        style,
        marker=MARKERS[number],
        markerfacecolor=None if style == STYLES[0] else "white",
        color=COLOURS[number],
        label=label,
    )


def _save(figure: Figure, axes: Axes, name: str, columns: int = 1) -> None:
    if axes.get_yscale() != "log":
        axes.set_ylim(bottom=0)
    lines = -(-len(axes.get_lines()) // columns)
    figure.set_figheight(figure.get_figheight() + 0.25 * lines)
    figure.legend(loc="outside lower center", ncols=columns, frameon=False)
    path = FOLDER / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Identifier": digest(_rows(name))})
    text = path.read_text("utf-8").splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in text), "utf-8")
    print(path.relative_to(TOP))


if __name__ == "__main__":
    main()
