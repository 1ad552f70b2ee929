"""Units of columns: Datasette's library for them is imported when a page first shows one."""

import sys
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

PINT = "datasette.vendored.pint"


class LazyRegistry:
    """Stand-in for pint's UnitRegistry, with the two calls of Datasette."""

    @cached_property
    def _registry(self) -> Any:
        sys.modules.pop(PINT, None)  # the module below
        return import_module(PINT).UnitRegistry()

    def __call__(self, unit: str) -> Any:
        """Return a unit, which a number can be multiplied by."""
        return self._registry(unit)

    def define(self, definition: str) -> None:
        """Add a unit."""
        self._registry.define(definition)


def postpone() -> None:
    """Keep pint from being imported with Datasette, which must not be imported yet.

    Pint and the table of all its units are half of the start of a site, and 9 MB of its memory.
    """
    module = ModuleType(PINT)
    vars(module)["UnitRegistry"] = LazyRegistry
    sys.modules.setdefault(PINT, module)
