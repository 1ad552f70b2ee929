"""Page of one skill: instructions, files, findings, prompt indexes and versions."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from datasette import Response

from catalog.database.sql import Row
from catalog.model import naming
from catalog.model.errors import NotInCatalog
from catalog.model.fields import COLUMNS
from catalog.prompt_index import query
from catalog.reading import (
    browse,
    dangers,
    disk_paths,
    duplicates,
    index_views,
    named,
    references,
    review,
)
from catalog.reading import card as reading_card
from catalog.reading import versions as reading_versions
from catalog.reading.browse import Catalog
from catalog.reading.card import InstallLine
from catalog.reading.references import LinkTarget, References
from catalog.site.http import access
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing, skill_parts
from catalog.site.rendering import markdown
from catalog.site.rendering.links import LinkBase
from catalog.text.body import with_plain_line_ends
from catalog.usage import database as usage_database
from catalog.usage import summary

SHOWN_VERSIONS = 12
"""Most versions on the page, which links to the rest."""
COMPARED_VERSIONS = 200
"""Most versions that a form offers for a comparison: the newest."""
LONGEST_TEXT = 30_000
"""Most characters of an unrendered SKILL.md on the page, which links to the rest."""
SHOWN_SIMILAR = 10
"""Most folders of the same identifier, and most skills with the same files, on the page."""
SHOWN_REFERENCES = 20
"""Most skills in each list of references on the page."""
MOST_FILES = 500
"""Most files on the page, which links to the rest."""
MOST_FINDINGS = 20
"""Most findings of one rule on the page."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All data of one skill in the catalog."""

    skill: Row
    rivals: list[Row]
    same: list[Row]  # skills under other identifiers with the same files
    references: References
    links: dict[str, LinkTarget]  # of SKILL.md, to other skills
    findings: list[Row]
    files: list[Row]
    left_out: list[Row]
    versions: list[Row]
    indexes: list[Row]
    card: Row  # of `cards.of`
    review: Row | None  # of the newest version; None if it needs none
    folders: list[str]  # of this machine's disk, which readers elsewhere do not see


@dataclass(frozen=True, slots=True)
class Instructions:
    """SKILL.md as the page shows it."""

    front: list[str]  # lines of its frontmatter
    rendered: markdown.Rendered
    plain: str = ""  # the source, where it is not rendered
    goes_on_at: int = 0  # line from which the source is on another page; 0 if it is whole


async def page(context: RequestContext) -> Response:
    """Show a skill."""
    skill_id = context.path_part("skill_id")
    try:
        sheet = await context.query(look_up, skill_id, context.number("row"))
    except NotInCatalog:  # several skills have the name
        sheet = None
    if not sheet or sheet.skill["skill_id"] != skill_id:
        return await missing.skill(context, skill_id)
    if not context.is_local:
        sheet = _for_readers_elsewhere(sheet)
    skill = sheet.skill
    reads = await context.query(summary.of_skill, skill_id, usage_database.today())
    return context.page(
        "skill.html",
        sheet=sheet,
        skill=skill,
        text=await _instructions(context, sheet),
        row_query=row_query(skill),
        source=_source(skill),
        declared_version=_declared_version(skill),
        danger=dangers.sentence(sheet.findings) if skill["is_newest"] else "",
        finding_groups=skill_parts.groups(sheet.findings),
        most_findings=MOST_FINDINGS,
        tree=skill_parts.grow(sheet.files),
        most_files=MOST_FILES,
        labelled=[(each.label, skill[name]) for name, each in COLUMNS.items() if each.label],
        tags=json.loads(skill["tags"]),
        inventory=json.loads(skill["file_inventory"]),
        why_not=skill_parts.why_not,
        most_versions=SHOWN_VERSIONS,
        most_compared=COMPARED_VERSIONS,
        most_similar=SHOWN_SIMILAR,
        most_references=SHOWN_REFERENCES,
        reads=reads,
        read_days=summary.DAYS,
        install=_install(context, skill),
        install_note=reading_card.restriction(skill),
    )


def _source(skill: Row) -> dict[str, str | None] | None:
    """Return the repository of a skill, with its web page if it is on a well-known forge."""
    if not (url := skill["repository"]):
        return None
    commit, path = skill["git_commit"], (skill["repository_path"] or "", skill["path"])
    return {
        "label": reading_card.repository_label(url),
        "page": reading_card.repository_page(url, commit, *path),
        "commit": commit,
    }


def _declared_version(skill: Row) -> str:
    """Return the version that the author wrote into SKILL.md; empty without one."""
    fields = json.loads(skill["frontmatter"])
    metadata = fields.get("metadata")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    return str(next((it for it in (version, fields.get("version")) if _is_scalar(it)), ""))


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _for_readers_elsewhere(sheet: Sheet) -> Sheet:
    """Return the data with the names of folders in place of their paths on this machine's disk."""
    (skill,) = _shortened([sheet.skill], sheet.folders)
    return replace(
        sheet,
        skill=skill,
        rivals=_shortened(sheet.rivals, sheet.folders),
        same=_shortened(sheet.same, sheet.folders),
        findings=_shortened(sheet.findings, sheet.folders),
        left_out=_shortened(sheet.left_out, sheet.folders),
        indexes=_shortened(sheet.indexes, sheet.folders),
    )


def without_disk_paths(db: Catalog, rows: list[Row]) -> list[Row]:
    """Return rows for readers on other machines, without the paths of this machine's disk."""
    return _shortened(rows, disk_paths.folders(db))


def _shortened(rows: list[Row], folders: Sequence[str]) -> list[Row]:
    return [
        row
        | {name: disk_paths.shortened(row[name], folders) for name in _WITH_PATHS if row.get(name)}
        for row in rows
    ]


_WITH_PATHS = ("text", "root", "status_reason", "pending_reason", "message", "fix", "detail")


def _install(context: RequestContext, skill: Row) -> list[InstallLine]:
    """Return the commands that install a skill."""
    site, scope = context.url(context.path("/")), context.request.scope
    needs_token = access.is_guarded(scope) and not access.prefix(scope)
    return reading_card.install_lines_of(site, skill, needs_token=needs_token)


def look_up(db: Catalog, skill_id: str, row: int | None, version: str = "") -> Sheet | None:
    """Return a skill with all its data, read in one transaction; None if it is unknown.

    With a version, the skill is returned as it was in that version, if that is known. Raises
    NotInCatalog where several skills have the name.
    """
    skill = browse.skill(db, skill_id, row) or _by_name(db, skill_id)
    if skill and version and version != skill["version"]:
        skill = reading_versions.as_of(db, skill, version)
    if not skill:
        return None
    version_id = skill["current_version_id"]
    return Sheet(
        skill,
        browse.folders_of(db, skill["skill_id"], but=skill["id"]),
        duplicates.same(db, skill),
        references.of_skill(db, skill["id"]),
        references.links(db, skill["id"], skill["skill_md_name"] or ""),
        browse.findings(db, skill["id"]),
        list(reading_versions.files(db, version_id).values()),
        browse.left_out_files(db, skill["id"]),
        reading_versions.of_skill(db, skill["id"]),
        _indexes(db, skill["id"]) if skill["status"] == "active" else [],
        browse.cards_of(db, [skill["id"]])[0],
        review.of_skill(db, skill["id"]) if skill["status"] != "removed" else None,
        disk_paths.folders(db),
    )


def _indexes(db: Catalog, skill: int) -> list[Row]:
    """Return the state of a skill in each index, with the `text` of its entry as agents see it."""
    return [
        row
        | {
            "text": query.entry_text(
                db, query.index_spec(db, row["name"]), skill, row["shown"] or "", row["chars"]
            )
            if row["state"]
            else None
        }
        for row in index_views.index_states(db, skill)
    ]


def _by_name(db: Catalog, name: str) -> Row | None:
    """Return the skill with a whole name, such as team:review, or a bare one; None if none has it.

    Raises NotInCatalog where several have a bare name and none is preferred.
    """
    namespace, colon, bare = name.rpartition(":")
    skill_id = (
        naming.skill_id(bare, namespace, "") if colon else named.skill_id_of_bare_name(db, name)
    )
    return browse.skill(db, skill_id) if skill_id else None


def row_query(skill: Row) -> str:
    """Return the query that links need to select this folder among those with its skill_id."""
    return "" if skill["status"] == "active" else f"?row={skill['id']}"


def url_of(context: RequestContext, target: LinkTarget) -> str:
    """Return the page of a file of another skill; that of its SKILL.md is the skill's."""
    page = f"/view/{target.path}" if target.path else ""
    row = f"?row={target.row}" if target.row else ""
    return f"{context.skill_path(target.skill_id, page)}{row}"


def front_lines(content: str, body: str | None) -> int:
    """Return the number of lines before the body of a SKILL.md."""
    content, body = map(with_plain_line_ends, (content, body or ""))
    if body and content.endswith(body):
        return content[: -len(body)].count("\n")
    lines = content.split("\n")
    fences = [number for number, line in enumerate(lines, 1) if line.startswith("---")]
    return fences[1] if len(fences) > 1 and fences[0] == 1 else 0


async def _instructions(context: RequestContext, sheet: Sheet) -> Instructions | None:
    """Return the SKILL.md of a skill; None if no version was accepted."""
    skill = sheet.skill
    if skill["skill_md_content"] is None:
        return None
    content = with_plain_line_ends(skill["skill_md_content"].removeprefix("\ufeff"))
    lines = content.split("\n")
    skip = front_lines(content, skill["body"])
    base = link_base(context, skill, sheet.files, sheet.links)
    rendered = await asyncio.to_thread(markdown.render, "\n".join(lines[skip:]), base)
    if not rendered.unrendered_reason:
        return Instructions(lines[:skip], rendered)
    plain = content[:LONGEST_TEXT]
    goes_on_at = plain.count("\n") + 1 if len(plain) < len(content) else 0
    return Instructions([], rendered, plain, goes_on_at)


def link_base(
    context: RequestContext, skill: Row, files: Sequence[Row], links: Mapping[str, LinkTarget]
) -> LinkBase:
    """Return the place of a SKILL.md, for its links."""
    return LinkBase(
        context.skill_path(skill["skill_id"]),
        row_query(skill),
        frozenset(file["path"] for file in files),
        {path: url_of(context, target) for path, target in links.items()},
    )
