"""Drawing and list of the two packages' rooms, as the contracts in pyproject.toml order them."""

import re
import tomllib
from collections.abc import Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

Layers: TypeAlias = Sequence[Sequence[str]]  # top first; rooms beside each other

_PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"

_WIDTH, _BOX, _GAP, _MARGIN = 760, 44, 26, 16
_COLOURS = {"pipeline": "#0b7285", "catalog": "#5f3dc4"}
_TITLES = {
    "pipeline": "pipeline: how it comes to be known",
    "catalog": "catalog: what is known",
}

_OPENING = """\
# Packages

<!-- Made from pyproject.toml and the packages' docstrings by `make docs`. -->

Each package may import those below it, and nothing above. `make lint` holds that; the order is that
of the import contracts in `pyproject.toml`.

![Layers of the two packages; imports point down only](layers.svg)
"""


def contracts() -> dict[str, Layers]:
    """Return the layers of each package, as import-linter's contracts name them."""
    linter = tomllib.loads(_PYPROJECT.read_text("utf-8"))["tool"]["importlinter"]
    return {
        contract["containers"][0]: [re.split(r"\s*[|:]\s*", line) for line in contract["layers"]]
        for contract in linter["contracts"]
        if "containers" in contract
    }


def page() -> str:
    """Return the list: for each package its rooms, top first, and the first line of each."""
    parts = [_OPENING]
    for package, layers in contracts().items():
        rows = "".join(
            f"| `{package}/{room}/` | {_first_line(f'{package}.{room}')} |\n"
            for rooms in layers
            for room in rooms
        )
        parts.append(
            f"## `{package}`\n\n{_first_line(package)}\n\n| package | holds |\n|---|---|\n{rows}"
        )
    return "\n".join(parts)


def _first_line(module: str) -> str:
    return (import_module(module).__doc__ or "").strip().partition("\n")[0]


def drawing() -> str:
    """Return the drawing as SVG, which needs no script, font or other file."""
    shapes, y = [], _MARGIN
    for package, layers in contracts().items():
        shapes.append(
            f'<text x="{_MARGIN}" y="{y + 18}" class="t">{escape(_TITLES[package])}</text>'
        )
        y += 30
        for at, rooms in enumerate(layers):
            shapes += _row(rooms, y, _COLOURS[package])
            y += _BOX + _GAP
            is_last = package == "catalog" and at == len(layers) - 1
            shapes += [] if is_last else [_arrow(y - _GAP)]
        y += 4
    height = y - _GAP + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">\n'
        "<title>Layers of pipeline and catalog; imports point down only</title>\n"
        "<style>text{font:14px system-ui,sans-serif;text-anchor:middle;fill:#fff}"
        ".t{font-weight:600;text-anchor:start;fill:#343a40}</style>\n"
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#f8f9fa"/>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


def _row(rooms: Sequence[str], y: int, colour: str) -> list[str]:
    width = (_WIDTH - 2 * _MARGIN - (len(rooms) - 1) * _MARGIN) // len(rooms)
    shapes = []
    for at, room in enumerate(rooms):
        x = _MARGIN + at * (width + _MARGIN)
        shapes.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{_BOX}" rx="6" fill="{colour}"/>'
            f'<text x="{x + width // 2}" y="{y + 27}">{escape(room)}</text>'
        )
    return shapes


def _arrow(y: int) -> str:
    x = _WIDTH // 2
    return (
        f'<path d="M{x} {y + 4}v{_GAP - 12}m-5 -6l5 6l5 -6" stroke="#868e96" '
        'stroke-width="2" fill="none"/>'
    )
