"""Drawing and list of the packages in layers, taken from the contracts in pyproject.toml."""

import re
import tomllib
from collections.abc import Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

Layers: TypeAlias = Sequence[Sequence[str]]  # from the top; packages of one layer beside each other

_PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"

_WIDTH, _BOX, _GAP, _MARGIN = 760, 44, 26, 16
_COLOURS = {"pipeline": "#0b7285", "catalog": "#5f3dc4"}
_TITLES = {
    "pipeline": "pipeline: from folders to verdicts",
    "catalog": "catalog: the stored knowledge",
}

_OPENING = """\
# Packages

<!-- Generated from pyproject.toml and the docstrings of the packages by `make docs`. -->

Each package may import the packages below it, and none above. The order is that of the import
contracts in `pyproject.toml`, which `make lint` checks.

![Layers of the two packages; imports point down only](layers.svg)
"""


def contracts() -> dict[str, Layers]:
    """Return the layers of `pipeline` and `catalog` from import-linter's contracts."""
    linter = tomllib.loads(_PYPROJECT.read_text("utf-8"))["tool"]["importlinter"]
    return {
        contract["containers"][0]: [re.split(r"\s*[|:]\s*", line) for line in contract["layers"]]
        for contract in linter["contracts"]
        if "containers" in contract
    }


def page() -> str:
    """Return the list of packages from the top, each with the first line of its docstring."""
    parts = [_OPENING]
    for package, layers in contracts().items():
        rows = "".join(
            f"| `{package}/{name}{_ending(f'{package}.{name}')}` "
            f"| {_first_line(f'{package}.{name}')} |\n"
            for layer in layers
            for name in layer
        )
        parts.append(
            f"## `{package}`\n\n{_first_line(package)}\n\n| package | contains |\n|---|---|\n{rows}"
        )
    return "\n".join(parts)


def _ending(module: str) -> str:
    return "/" if hasattr(import_module(module), "__path__") else ".py"


def _first_line(module: str) -> str:
    return (import_module(module).__doc__ or "").strip().partition("\n")[0]


def drawing() -> str:
    """Return the drawing as SVG without scripts, fonts or other files."""
    shapes, y = [], _MARGIN
    for package, layers in contracts().items():
        shapes.append(
            f'<text x="{_MARGIN}" y="{y + 18}" class="t">{escape(_TITLES[package])}</text>'
        )
        y += 30
        for number, layer in enumerate(layers):
            shapes += _row(layer, y, _COLOURS[package])
            y += _BOX + _GAP
            is_last = package == "catalog" and number == len(layers) - 1
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


def _row(names: Sequence[str], y: int, colour: str) -> list[str]:
    width = (_WIDTH - 2 * _MARGIN - (len(names) - 1) * _MARGIN) // len(names)
    shapes = []
    for number, name in enumerate(names):
        x = _MARGIN + number * (width + _MARGIN)
        shapes.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{_BOX}" rx="6" fill="{colour}"/>'
            f'<text x="{x + width // 2}" y="{y + 27}">{escape(name)}</text>'
        )
    return shapes


def _arrow(y: int) -> str:
    x = _WIDTH // 2
    return (
        f'<path d="M{x} {y + 4}v{_GAP - 12}m-5 -6l5 6l5 -6" stroke="#868e96" '
        'stroke-width="2" fill="none"/>'
    )
