"""Options that filter skills, for commands that find or list them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import click

from catalog.reading import filters
from catalog.reading.filters import FILTERS, Filter, Filters


def with_filters(command: Callable[..., int]) -> Callable[..., int]:
    """Add an option for each filter; see `parsed`."""
    for each in reversed(FILTERS):
        command = _option(each)(command)
    return command


def _option(filter_: Filter) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return click.option(
        f"--{filter_.name.replace('_', '-')}",
        type=click.Choice(filter_.possible) if filter_.kind in ("choice", "yes or no") else str,
        multiple=not filter_.is_single,
        default=list(filter_.usual) or None,
        show_default=bool(filter_.usual),
        metavar="TIME" if filter_.kind == "time" else None,
        help=filter_.sentence + (_SEVERAL if filter_.usual else ""),
    )


_SEVERAL = " Like most filters, it may be given several times."


def parsed(options: Mapping[str, Any]) -> Filters:
    """Return the filters for the values of the options. Raises FilterInvalid."""
    return filters.parse({name: value or "" for name, value in options.items()}, datetime.now(UTC))
