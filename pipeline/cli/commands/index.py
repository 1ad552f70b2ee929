"""Command that prints a prompt index, with other settings, or explained."""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any, get_args

import click

from catalog.database import connection
from catalog.database.queries import Database
from catalog.model.selection import Selection
from catalog.prompt_index import builder, query
from catalog.prompt_index import history as prompt_index_explain
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.messages import Language
from catalog.prompt_index.spec import IndexSpec, Overflow
from catalog.reading import agent_entries
from catalog.text.visible import visible
from pipeline.cli.options import DONE, as_json_option, settings_of, to_json, word_options
from pipeline.cli.output import terminal


def _moment(context: click.Context, option: click.Parameter, value: str | None) -> datetime | None:
    """Parse a date, which means its end, or a date and time; UTC unless an offset is given."""
    if value is None:
        return None
    try:
        if len(value) == len("2026-11-17"):
            return datetime.combine(date.fromisoformat(value), time.max, UTC)
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a date or time; write 2026-11-17 or 2026-11-17T09:30.",
            context,
            option,
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@click.command()
@click.argument("name", default="default")
@click.option(
    "--explain",
    is_flag=True,
    help="List the skills in the index and those left out, with reasons, instead of the text.",
)
@click.option(
    "--at",
    metavar="DATE[TIME]",
    callback=_moment,
    help="Print the index as it was published then; a date means the end of that day.",
)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="Format of the text.")
@click.option("--budget-chars", type=click.IntRange(min=1), help="Most characters of the text.")
@click.option(
    "--budget-tokens", type=click.IntRange(min=1), help="Most tokens of the text, by estimate."
)
@click.option(
    "--overflow",
    type=click.Choice(get_args(Overflow)),
    help="Shorten descriptions to fit, or exclude whole entries.",
)
@click.option(
    "--language", type=click.Choice(get_args(Language)), help="Language of the added text."
)
@click.option("--location-base", metavar="PATH|URL", help="Start of all locations.")
@word_options
@click.option(
    "--featured", metavar="SKILL", multiple=True, help="List this skill first; may be repeated."
)
@as_json_option
@click.pass_context
def index(
    context: click.Context,
    /,
    name: str,
    explain: bool,
    at: datetime | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Print the prompt index NAME; options override its settings.

    \b
    Examples:
      skilldrop index
      skilldrop index --explain
      skilldrop index --at 2026-11-17
      skilldrop index --format semibot --budget-chars 4000 --tag office --json
    """
    db = connection.open_catalog(settings_of(context).catalog_path)
    if at:
        if explain or _given(options):
            raise click.UsageError(
                "--at prints the index as it was published; --json is the only other option."
            )
        return _print_past(prompt_index_explain.said_at(db, name, at), as_json)
    spec = _with_options(query.index_spec(db, name), options)
    if not explain:  # the explanation has the skills that the filter leaves out
        _check_filter(db, spec, options)
    built = query.build_index(db, spec)
    report = builder.report(spec, built)
    explanation = prompt_index_explain.explain(db, spec, built) if explain else {}
    if as_json:
        click.echo(to_json({"text": built.text, "report": report, **explanation}))
    elif explain:
        click.echo(table(report, explanation, width_of_terminal()))
    else:
        click.echo(built.text, nl=False)
    return DONE


def _check_filter(db: Database, spec: IndexSpec, options: dict[str, Any]) -> None:
    """Raise NotInCatalog if a typed filter has an unknown word or selects no skill."""
    typed = {key: getattr(spec, key) for key in Selection._fields if key in _given(options)}
    if typed:
        agent_entries.check_typed(db, Selection(**typed), spec.selection, agent_entries.IN_INDEX)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None and value != ()}


def _with_options(spec: IndexSpec, options: dict[str, Any]) -> IndexSpec:
    overrides = {
        "format" if key == "form" else key: _text(value) for key, value in _given(options).items()
    }
    if {"budget_chars", "budget_tokens"} <= overrides.keys():
        raise click.UsageError("Give --budget-chars or --budget-tokens, not both.")
    if overrides.keys() & {"budget_chars", "budget_tokens"}:
        overrides = {"budget_chars": None, "budget_tokens": None} | overrides
    return replace(spec, **overrides)


def _text(value: Any) -> Any:
    """Return words from the shell, which may not be UTF-8, as text."""
    if isinstance(value, tuple):
        return tuple(map(_text, value))
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _print_past(build: dict[str, Any], as_json: bool) -> int:
    text = build.pop("text")
    if as_json:
        click.echo(to_json({"text": text, "report": build}))
    else:
        click.echo(text, nl=False)
    return DONE


def width_of_terminal() -> int | None:
    """Return the width of the terminal on stdout; None if stdout is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(report: Mapping[str, Any], explanation: Mapping[str, Any], width: int | None) -> str:
    """Return the counts, a line for each skill in the index, and the skills left out by reason.

    No line of the table is wider than `width` columns, if `width` is given and at least 60.
    """
    lines = [""]
    if explanation["entries"]:
        lines += [*_entries(explanation["entries"], width), ""]
    for reason, out in explanation["left_out"].items():
        if out["count"]:
            lines += [*_left_out(f"{_WHY[reason]}: {out['count']:,}", out, width), ""]
    return "\n".join([_summary(report), *lines[:-1]])


_HEADINGS = ("rank", "skill", "state", "chars", "shown")


_WHY = {
    "over_budget": "left out for lack of room",
    "hidden": "hidden: agents must not start them (disable-model-invocation)",
    "filtered": "filtered: excluded by the index (its levels, tags or names)",
}


_COLOURS = {"full": "green", "shortened": "yellow", "name_only": "red"}


def _summary(report: Mapping[str, Any]) -> str:
    states = ", ".join(
        f"{report[state]:,} {word}"
        for state, word in (
            ("full", "in full"),
            ("shortened", "shortened"),
            ("name_only", "by name only"),
            ("left_out", "left out"),
        )
    )
    return f"index {report['name']} ({report['format']}): {_used(report)}; {states}."


def _used(report: Mapping[str, Any]) -> str:
    chars, tokens = f"{report['chars']:,}", f"about {report['estimated_tokens']:,}"
    if "budget_tokens" in report:
        return f"{tokens} of {report['budget_tokens']:,} tokens, {chars} characters"
    return f"{chars} of {report['budget_chars']:,} characters, {tokens} tokens"


def _entries(entries: Sequence[Mapping[str, Any]], width: int | None) -> Iterator[str]:
    rows = [
        (
            str(entry["rank"]),
            visible(entry["name"]),
            entry["state"].replace("_", " "),
            str(entry["chars"]),
            ": ".join(filter(None, (entry["reason"], visible(entry["shown"])))),
        )
        for entry in entries
    ]
    widths = [max(map(terminal.width, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    if width is not None:  # names are shortened first, then reasons
        widths[1] = min(widths[1], max(20, width - sum(widths[:1] + widths[2:]) - 8))
    yield _line(_HEADINGS, widths, width)
    for row, entry in zip(rows, entries, strict=True):
        yield _line(row, widths, width, _COLOURS[entry["state"]])


def _line(
    cells: Sequence[str], widths: Sequence[int], width: int | None, colour: str | None = None
) -> str:
    rank, name, state, chars, why = cells
    head = f"{rank.rjust(widths[0])}  {_padded(terminal.cut(name, widths[1]), widths[1])}  "
    tail = f"{' ' * (widths[2] - len(state))}  {chars.rjust(widths[3])}  {why}".rstrip()
    if width is not None:
        tail = terminal.cut(tail, width - terminal.width(head) - len(state))
    return f"{head}{click.style(state, fg=colour) if colour else state}{tail}"


def _left_out(why: str, out: Mapping[str, Any], width: int | None) -> Iterator[str]:
    lines = [why, *(f"  {visible(name)}" for name in out["names"])]
    if more := out["count"] - len(out["names"]):
        lines.append(f"  … and {more:,} more; the view index_left_out lists all")
    yield from lines if width is None else (terminal.cut(line, width) for line in lines)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - terminal.width(text))
