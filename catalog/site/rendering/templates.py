"""Templates of the site's pages, and the filters and functions they use."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from zlib import crc32

from datasette.utils import tilde_encode
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from catalog.model import naming, paths
from catalog.model.values import SEVERITIES
from catalog.reading.findings import explanations
from catalog.site.rendering import assets, formatting
from catalog.text import humanize, truncate

FOLDER = Path(__file__).parents[1] / "templates"
ASSETS = {
    "asset": assets.path,
    "integrity": assets.integrity,
    "pull_sha256": assets.pull_sha256,
}
"""Functions of the layout, also on Datasette's own pages."""
MARKS = ("\ue000", "\ue001")
"""Delimiters of matches in a snippet until it is escaped; removed from the skill's text first."""


def render(template: str, context: Any, values: dict[str, Any]) -> str:
    """Return a page as HTML, with all values escaped."""
    now = datetime.now(UTC)
    database = context.location.database.name
    return (
        _environment()
        .get_template(template)
        .render(
            values,
            context=context,
            header_health=context.health,
            path=context.path,
            skill_path=context.skill_path,
            table=lambda name, **filters: _query(
                context.path(f"/{tilde_encode(database)}/{tilde_encode(name)}"), filters
            ),
            ago=lambda moment: _ago(moment, now),
        )
    )


def prepare() -> None:
    """Compile the page of a skill and parts of others, for which the first visitors would wait."""
    for name in _environment().list_templates():
        if name.startswith("_") or name in ("layout.html", "skill.html"):
            _environment().get_template(name)


class _Environment(Environment):
    """Environment for rows: `row.name` is the value of a column, before an attribute of a dict.

    Jinja asks for the attribute first, whose error costs five times as much.
    """

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a value of a row, or an attribute of any other object."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


@cache
def _environment() -> Environment:
    environment = _Environment(
        loader=FileSystemLoader([FOLDER, FOLDER / "shared"]),
        auto_reload=False,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=formatting.plain,
    )
    environment.globals |= ASSETS | {"query": _query}
    environment.filters |= {
        "count": humanize.count,
        "size": humanize.size,
        "marked": marked,
        "quote": lambda text: quote(text, safe=""),
        "words": formatting.words,
        "thousands": lambda n: f"{n:,}",
        "shown": formatting.marked,
        "argument": naming.argument,
        "lang": formatting.attribute,
        "first_sentence": lambda text: next(iter(truncate.sentences(text)), ""),
        "coded": coded,
        "tone": lambda name: crc32(name.lower().encode("utf-8", "replace")) % 6,
        "root_name": lambda root: paths.root_name(root) or root,
        "groupby_day": formatting.by_day,
        "weekday": formatting.weekday,
    }
    environment.tests["iso_time"] = formatting.is_iso_time
    environment.tests["rule"] = lambda code: code in explanations.sections()
    environment.tests["severity"] = SEVERITIES.__contains__
    return environment


def marked(snippet: str) -> Markup:
    """Return the snippet of a search result with its matches marked."""
    text = str(formatting.marked(snippet))
    return Markup(text.replace(MARKS[0], "<mark>").replace(MARKS[1], "</mark>"))


def coded(text: str) -> Markup:
    """Return a sentence as HTML; text between backticks becomes code."""
    parts = str(formatting.marked(text)).split("`")
    if len(parts) % 2 == 0:  # a backtick of its own
        return Markup("`".join(parts))
    return Markup(
        "".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
    )


def _ago(moment: str | None, now: datetime) -> Markup:
    """Return a time in words, with the exact time as a tooltip."""
    if not moment:
        return Markup("never")
    at = escape(moment)
    return Markup(f'<time datetime="{at}" title="{at}">{humanize.ago(moment, now)}</time>')


def _query(path: str, filters: dict[str, Any]) -> str:
    parameters = {name: value for name, value in filters.items() if value not in ("", None)}
    return f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path


def put_before(environment: Any) -> None:
    """Make Datasette use the site's templates before its own."""
    environment.loader = ChoiceLoader(
        [FileSystemLoader([FOLDER / "datasette", FOLDER / "shared"]), environment.loader]
    )
