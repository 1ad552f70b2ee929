"""Command that prints a prompt index, with other settings, or explained."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from catalog.database.queries import Database
from catalog.model.setting import Selection
from catalog.prompt_index import builder, history, query
from catalog.prompt_index.formats.registry import FORMATS
from catalog.reading.skills import offered
from catalog.reading.status import counts
from catalog.text.visible import visible
from pipeline.cli.filter_options import as_text, with_words
from pipeline.cli.options import Answer, with_catalog
from pipeline.cli.output import terminal
from pipeline.cli.output.skills import LEFT_OUT


@click.command()
@click.argument("name", default="default")
@click.option(
    "--explain",
    is_flag=True,
    help="List the skills in the index and those left out, with reasons, instead of the text.",
)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="Format of the text.")
@click.option("--budget-chars", type=click.IntRange(min=1), help="Most characters of the text.")
@with_words
@with_catalog
def index(_: object, db: Database, /, name: str, explain: bool, **options: Any) -> Answer:
    """Print the prompt index NAME; options override its settings.

    \b
    Examples:
      skilldrop index
      skilldrop index --explain
      skilldrop index --format semibot --budget-chars 4000 --tag office --json
    """
    given = {
        "format" if key == "form" else key: as_text(value)
        for key, value in options.items()
        if value not in (None, ())
    }
    if "budget_chars" in given:
        given["budget_tokens"] = None
    spec = replace(query.index_spec(db, name), **given)
    typed = {key: getattr(spec, key) for key in Selection._fields if key in given}
    if typed and not explain:  # the explanation has the skills that the filter leaves out
        offered.check_typed(db, Selection(**typed), spec.selection, offered.IN_INDEX)
    built = query.build_index(db, spec)
    report = builder.report(spec, built)
    explanation = history.explain(db, spec, built) | {"counts": counts(db)} if explain else {}
    lines = built.text.split("\n")[:-1]
    if explain:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        lines = [table(report, explanation, width)]
    return Answer({"text": built.text, "report": report, **explanation}, lines)


def table(report: Mapping[str, Any], explanation: Mapping[str, Any], width: int | None) -> str:
    """Return the counts, a line for each skill in the index, and the skills left out by reason.

    No line of the table is wider than `width` columns, if `width` is given and at least 60.
    """
    parts = [[""], _entries(explanation["entries"], width)]
    for reason, out in explanation["left_out"].items():
        names = [f"  {visible(name)}" for name in out["names"]]
        if more := out["count"] - len(names):
            names.append(f"  … and {more:,} more; the view index_left_out lists all")
        parts.append([f"{LEFT_OUT[reason]}: {out['count']:,}", *names] if names else [])
    waiting = [f"{n:,} {key}" for key in _NOT_ACTIVE if (n := explanation["counts"][key])]
    if waiting:
        parts.append([f"not active: {', '.join(waiting)}; `skilldrop status` says why"])
    lines = "\n\n".join("\n".join(part) for part in parts if part).split("\n")[1:]
    if width is not None:
        lines = [terminal.cut(line, width) for line in lines]
    return "\n".join([_summary(report), *lines])


_NOT_ACTIVE = ("pending", "rejected", "shadowed")
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


def _entries(entries: Sequence[Mapping[str, Any]], width: int | None) -> list[str]:
    rows = [
        (
            f"{entry['rank']:>4}",
            visible(entry["name"]),
            click.style(entry["state"].replace("_", " "), fg=_COLOURS[entry["state"]]),
            f"{entry['chars']:>5}",
            ": ".join(filter(None, (entry["reason"], visible(entry["shown"])))),
        )
        for entry in entries
    ]
    heading = ("rank", "skill", "state", "chars", "shown")
    return list(terminal.table([heading, *rows], width)) if rows else []
