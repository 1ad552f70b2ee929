"""Options that filter skills, for commands that find or list them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import click

from catalog.model.values import LEVELS
from catalog.reading import filters as search_filters
from catalog.reading.filters import Filters

_FILTERS = (
    click.option(
        "--status",
        type=click.Choice(search_filters.STATUSES),
        default="active",
        show_default=True,
        help="Only skills with this status.",
    ),
    click.option("--level", type=click.Choice(LEVELS), help="Only of this level."),
    click.option(
        "--root", help="Only of this root: its path or repository, or the last part of that."
    ),
    click.option("--namespace", help="Only of this namespace, as team-a in team-a:review."),
    click.option("--plugin", help="Only of this plugin."),
    click.option("--tag", help="Only with this tag."),
    click.option("--author", help="Only of this author."),
    click.option("--license", help="Only with this licence, such as MIT."),
    click.option("--tool", help="Only if allowed-tools has this tool, such as Bash."),
    click.option("--has-scripts", type=click.Choice(["yes", "no"]), help="With scripts or not."),
    click.option(
        "--valid",
        type=click.Choice(["yes", "no"]),
        help="Valid by the specification or not.",
    ),
    click.option(
        "--changed-since",
        metavar="TIME",
        help="Only if changed since a date or time in ISO 8601, or in the last 12h, 7d or 2w.",
    ),
)


def with_filters(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of the filters; see `parsed`."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def parsed(options: Mapping[str, Any]) -> Filters:
    """Return the filters for the values of the options. Raises FilterInvalid."""
    return search_filters.parse(
        {name: value or "" for name, value in options.items()}, datetime.now(UTC)
    )
