"""Options that select skills, made from the table of filters."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import click

from catalog.database.queries import Database
from catalog.model.setting import Selection
from catalog.prompt_index import query
from catalog.reading.search.filters import BY_NAME, FILTERS, Filter
from catalog.reading.skills import offered

Command: TypeAlias = Callable[..., Any]


def with_filters(command: Command) -> Command:
    """Add an option for each filter, with its name as the parameter."""
    for each in reversed(FILTERS):
        command = _option(each, each.name)(command)
    return command


def with_index_or_words(command: Command) -> Command:
    """Add the options that select skills by an index or by words; see `selected`."""
    by_index = click.option(
        "--index", metavar="NAME", help="Select with the filter of this prompt index."
    )
    return by_index(with_words(command))


def with_words(command: Command) -> Command:
    """Add the options that select skills by words: the fields of a `Selection`."""
    command = click.option(
        "--only",
        "names",
        metavar="SKILL",
        multiple=True,
        help="Only the skill of this name; may be repeated.",
    )(command)
    command = _option(BY_NAME["tag"], "tags")(command)
    return _option(BY_NAME["level"], "levels")(command)


def _option(filter_: Filter, parameter: str) -> Callable[[Command], Command]:
    return click.option(
        f"--{filter_.name.replace('_', '-')}",
        parameter,
        type=click.Choice(filter_.possible) if filter_.kind in ("choice", "yes or no") else str,
        multiple=not filter_.is_single,
        default=list(filter_.usual) or None,
        show_default=bool(filter_.usual),
        metavar="TIME" if filter_.kind == "time" else None,
        help=filter_.sentence + (_SEVERAL if filter_.usual else ""),
    )


_SEVERAL = " Like most filters, it may be given several times."


def selected(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values of `with_index_or_words`, with the keys of a `[[links]]` table.

    Raises click.UsageError if they contradict.
    """
    given = {key: as_text(value) for key, value in options.items() if value}
    if "index" in given and len(given) > 1:
        raise click.UsageError("--index has a filter; give --level, --tag and --only without it.")
    return given


def selection_of(
    db: Database, chosen: Mapping[str, Any], among: str = offered.HAS_ENTRY
) -> Selection:
    """Return the selection of `selected` values; among is the condition of the skills that count.

    Raises NotInCatalog for an unknown index, a word that no skill has, and if no skill is selected.
    """
    if "index" in chosen:
        return query.index_spec(db, chosen["index"]).selection
    selection = Selection(**chosen)
    offered.check_typed(db, selection, among=among)
    return selection


def as_text(value: Any) -> Any:
    """Return words from the shell, which may not be UTF-8, as text; other values as they are."""
    if isinstance(value, tuple):
        return tuple(map(as_text, value))
    return value.encode(errors="replace").decode() if isinstance(value, str) else value
