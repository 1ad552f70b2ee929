"""The command that prints a prompt index: as it is, as it would be, as it was, and why."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any, get_args

import click

from catalog.database import connection
from catalog.model.values import LEVELS
from catalog.prompt_index import builder, query
from catalog.prompt_index import explain as prompt_index_explain
from catalog.prompt_index.builder import IndexSpec, Overflow
from catalog.prompt_index.formats import FORMATS
from catalog.prompt_index.messages import Language
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, as_json_option, to_json
from pipeline.cli.output import index_table


def _moment(context: click.Context, option: click.Parameter, value: str | None) -> datetime | None:
    """Read a date, which means its end, or a date and time; in UTC where no offset is given."""
    if value is None:
        return None
    try:
        if len(value) == len("2026-11-17"):
            return datetime.combine(date.fromisoformat(value), time.max, UTC)
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no time; write 2026-11-17 or 2026-11-17T09:30.", context, option
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@click.command()
@click.argument("name", default="default")
@click.option(
    "--explain",
    is_flag=True,
    help="Print who is in it and how, and who is not and why, instead of the text.",
)
@click.option(
    "--at",
    metavar="DATE[TIME]",
    callback=_moment,
    help="Print what was published then; a date means its end.",
)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="As if configured so.")
@click.option("--budget-chars", type=click.IntRange(min=0), help="As if configured so.")
@click.option("--overflow", type=click.Choice(get_args(Overflow)), help="As if configured so.")
@click.option("--language", type=click.Choice(get_args(Language)), help="As if configured so.")
@click.option("--location-base", metavar="PATH|URL", help="As if configured so.")
@click.option(
    "--level",
    "levels",
    type=click.Choice(LEVELS),
    multiple=True,
    help="Only this level; may be repeated.",
)
@click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated.")
@click.option(
    "--only",
    "names",
    metavar="SKILL",
    multiple=True,
    help="Only the skill of this name; may be repeated.",
)
@click.option(
    "--featured", metavar="SKILL", multiple=True, help="This skill first; may be repeated."
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
    **wishes: Any,
) -> int:
    """Print the prompt index NAME; with options, what it would be.

    \b
    Examples:
      skilldrop index
      skilldrop index --explain
      skilldrop index --at 2026-11-17
      skilldrop index --format semibot --budget-chars 4000 --tag office --json
    """
    db = connection.open_catalog(settings_of(context).catalog_path)
    if at:
        if explain or any(_given(wishes)):
            raise click.UsageError(
                "--at prints what was published, and goes with no other option but --json."
            )
        return _print_past(prompt_index_explain.said_at(db, name, at), as_json)
    spec = _wished(query.index_spec(db, name), wishes)
    built = query.build_index(db, spec)
    report = builder.report(spec, built)
    told = prompt_index_explain.explain(db, spec, built) if explain else {}
    if as_json:
        click.echo(to_json({"text": built.text, "report": report, **told}))
    elif explain:
        click.echo(index_table.table(report, told, index_table.width_of_terminal()))
    else:
        click.echo(built.text, nl=False)
    return DONE


def _given(wishes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in wishes.items() if value is not None and value != ()}


def _wished(spec: IndexSpec, wishes: dict[str, Any]) -> IndexSpec:
    given = {
        "format" if key == "form" else key: _text(value) for key, value in _given(wishes).items()
    }
    return replace(spec, **given)


def _text(value: Any) -> Any:
    """Return words of a shell as text; they may not be UTF-8."""
    if isinstance(value, tuple):
        return tuple(map(_text, value))
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _print_past(said: dict[str, Any], as_json: bool) -> int:
    text = said.pop("text")
    if as_json:
        click.echo(to_json({"text": text, "report": said}))
    else:
        click.echo(text, nl=False)
    return DONE
