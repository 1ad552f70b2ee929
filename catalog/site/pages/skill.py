"""Page of one skill: instructions, files, findings, prompt indexes and versions."""

import json
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.model import naming
from catalog.model.errors import NotInCatalog
from catalog.prompt_index.query import one_moment
from catalog.reading import (
    bare_names,
    browse,
    duplicates,
    index_views,
    install_lines,
    references,
    review,
)
from catalog.reading.browse import Catalog
from catalog.reading.install_lines import InstallLine
from catalog.reading.references import LinkTarget, References
from catalog.site.http import reader_tokens
from catalog.site.http.request import RequestContext
from catalog.site.rendering import file_tree, formatting, markdown
from catalog.site.rendering.background import aside
from catalog.text.line_ends import with_plain_line_ends
from catalog.usage import counter, summary

ROUTE = r"^/skills/(?P<skill_id>[^/]+)$"

SHOWN_VERSIONS = 12
"""Most versions on the page, which links to the rest."""
LONGEST_TEXT = 100_000
"""Most characters of an unrendered SKILL.md on the page, which links to the rest."""
SHOWN_SIMILAR = 10
"""Most folders of the same identifier, and most similar skills, on the page."""
SHOWN_REFERENCES = 20
"""Most skills in each list of references on the page."""
MOST_FILES = 500
"""Most files on the page, which links to the rest."""
UNKNOWN_SKILL = "No skill has or ever had the identifier {}."


@dataclass(frozen=True, slots=True)
class Sheet:
    """All data of one skill in the catalog."""

    skill: Row
    rivals: list[Row]
    similar: list[Row]
    references: References
    links: dict[str, LinkTarget]  # of SKILL.md, to other skills
    findings: list[Row]
    files: list[Row]
    left_out: list[Row]
    versions: list[Row]
    indexes: list[Row]
    review: Row | None  # of the newest version; None if it needs none


async def page(context: RequestContext) -> Response:
    """Show a skill."""
    skill_id = context.path_part("skill_id")
    try:
        sheet = await context.query(look_up, skill_id, context.number("row"))
    except NotInCatalog as error:
        return context.not_found(str(error))
    if not sheet:
        return context.not_found(UNKNOWN_SKILL.format(skill_id))
    skill = sheet.skill
    content, front, rendered = await _text(context, skill, sheet.links)
    reads = await context.query(summary.of_skill, skill["skill_id"], counter.today())
    plain = content[:LONGEST_TEXT] if rendered and rendered.unrendered_reason else ""
    findings_by_line = (
        _findings_by_line(sheet.findings, front, rendered) if skill["is_newest"] else {}
    )
    return context.page(
        "skill.html",
        sheet=sheet,
        skill=skill,
        front=front,
        rendered=rendered,
        findings_by_line=findings_by_line,
        row_query=row_query(skill),
        tree=file_tree.grow(sheet.files),
        most_files=MOST_FILES,
        plain=plain,
        goes_on_at=plain.count("\n") + 1 if len(plain) < len(content) else 0,
        tags=json.loads(skill["tags"]),
        inventory=json.loads(skill["file_inventory"]),
        why_not=formatting.why_not,
        folder=f"{skill['root']}/{skill['path']}",
        most_versions=SHOWN_VERSIONS,
        most_similar=SHOWN_SIMILAR,
        most_references=SHOWN_REFERENCES,
        counts=_counts(sheet.findings),
        reads=reads,
        read_days=summary.DAYS,
        install=_install(context, skill),
        install_note=install_lines.restriction(skill),
    )


def _install(context: RequestContext, skill: Row) -> list[InstallLine]:
    """Return the commands that install a skill."""
    site, scope = context.url(context.path("/")), context.request.scope
    needs_token = reader_tokens.is_guarded(scope) and not reader_tokens.prefix(scope)
    return install_lines.of_skill(site, skill, needs_token=needs_token)


def look_up(db: Catalog, skill_id: str, row: int | None, version: str = "") -> Sheet | None:
    """Return a skill with all its data, read in one transaction; None if it is unknown.

    With a version, the skill is returned as it was in that version, if that is known. Raises
    NotInCatalog where several skills have the name.
    """
    with one_moment(db):
        skill = browse.skill(db, skill_id, row) or _by_name(db, skill_id)
        if skill and version and version != skill["version"]:
            skill = browse.as_of(db, skill, version)
        if not skill:
            return None
        version_id = skill["current_version_id"]
        return Sheet(
            skill,
            browse.folders_of(db, skill["skill_id"], but=skill["id"]),
            duplicates.similar(db, skill),
            references.of_skill(db, skill["id"]),
            references.links(db, skill["id"], skill["skill_md_name"] or ""),
            browse.findings(db, skill["id"]),
            browse.files(db, version_id) if version_id else [],
            browse.left_out_files(db, skill["id"]),
            browse.versions(db, skill["id"]),
            index_views.index_states(db, skill["id"]) if skill["status"] == "active" else [],
            review.of_skill(db, skill["id"]) if skill["status"] != "removed" else None,
        )


def _by_name(db: Catalog, name: str) -> Row | None:
    """Return the skill with a whole name, such as team:review, or a bare one; None if none has it.

    Raises NotInCatalog where several have a bare name and none is preferred.
    """
    namespace, colon, bare = name.rpartition(":")
    skill_id = naming.skill_id(bare, namespace, "") if colon else bare_names.skill_id_of(db, name)
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


async def _text(
    context: RequestContext, skill: Row, links: Mapping[str, LinkTarget]
) -> tuple[str, list[str], markdown.Rendered | None]:
    """Return a SKILL.md, the lines of its frontmatter, and its body as HTML."""
    content = skill["skill_md_content"]
    if content is None:
        return "", [], None
    content = with_plain_line_ends(content.removeprefix("\ufeff"))
    skip = front_lines(content, skill["body"])
    rendered = await aside(
        partial(
            markdown.kept,
            content,
            "",
            context.skill_path(skill["skill_id"], "/view/"),
            context.skill_path(skill["skill_id"], "/files/"),
            skip,
            row_query(skill),
            {path: url_of(context, target) for path, target in links.items()},
        ),
        otherwise=lambda: markdown.BUSY,
    )
    return content, [] if rendered.unrendered_reason else content.split("\n")[:skip], rendered


def _findings_by_line(
    findings: list[Row], front: list[str], rendered: markdown.Rendered | None
) -> dict[int, list[Row]]:
    """Group the findings of SKILL.md by line.

    Findings of the frontmatter are grouped by their line, findings of the body by the first line
    of their block.
    """
    by_line: dict[int, list[Row]] = {}
    for finding in findings:
        line = finding["line"]
        if (
            not line
            or not rendered
            or rendered.unrendered_reason
            or (finding["path"] or "SKILL.md").lower() != "skill.md"
        ):
            continue
        if line <= len(front):
            by_line.setdefault(line, []).append(finding)
        else:
            index = bisect_left(rendered.blocks, line, key=lambda block: block.last)
            if index < len(rendered.blocks):
                by_line.setdefault(rendered.blocks[index].first, []).append(finding)
    return by_line


def _counts(findings: list[Row]) -> dict[str, int]:
    counts: dict[str, Any] = {}
    for finding in findings:
        counts[finding["severity"]] = counts.get(finding["severity"], 0) + 1
    return counts
