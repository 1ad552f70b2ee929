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
        multiple=True,
        default=["active"],
        show_default=True,
        help="Only skills with this status; as most filters, it may be given several times.",
    ),
    click.option("--level", type=click.Choice(LEVELS), multiple=True, help="Only of this level."),
    *(
        click.option(f"--{name}", multiple=True, help=help_text)
        for name, help_text in (
            ("publisher", "Only of this plugin, owner or author, or of a root of this name."),
            ("root", "Only of this root: its path or repository, or the last part of that."),
            ("namespace", "Only of this namespace, as team-a in team-a:review."),
            ("plugin", "Only of this plugin."),
            ("category", "Only of this category."),
            ("tag", "Only with this tag."),
            ("author", "Only of this author."),
            ("license", "Only with this licence, such as MIT."),
            ("tool", "Only if allowed-tools has this tool, such as Bash."),
            ("host", "Only if a file has a URL of this host, such as github.com."),
        )
    ),
    click.option(
        "--safety",
        type=click.Choice(search_filters.SAFETY),
        multiple=True,
        help="Only if this is the worst severity of its findings about safety.",
    ),
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
