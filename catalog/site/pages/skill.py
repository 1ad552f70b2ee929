"""The page of one skill: what it says, what it consists of, and what became of it."""

import json
from bisect import bisect_left
from dataclasses import dataclass
from functools import partial
from typing import Any

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.prompt_index.query import one_moment
from catalog.reading import browse, index_views
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.rendering import file_tree, formatting, markdown
from catalog.site.rendering.background import aside
from catalog.text.line_ends import with_plain_line_ends

ROUTE = r"^/skills/(?P<skill_id>[^/]+)$"

SHOWN_VERSIONS = 12
"""Versions that the page names; the rest are a link away."""
LONGEST_TEXT = 100_000
"""Characters of a SKILL.md that is not rendered which the page shows; the rest is a link away."""
MOST_FILES = 500
"""Files that the page names; the rest are a link away."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that the catalog knows of one skill."""

    skill: Row
    rivals: list[Row]
    findings: list[Row]
    files: list[Row]
    versions: list[Row]
    indexes: list[Row]


async def page(context: RequestContext) -> Response:
    """Show a skill, or that there is none."""
    skill_id = context.path_part("skill_id")
    sheet = await context.query(look_up, skill_id, context.number("row"))
    if not sheet:
        return context.not_found(f"No skill goes by {skill_id}, and none ever did.")
    skill = sheet.skill
    content, front, rendered = await _text(context, skill)
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
        which=which(skill),
        tree=file_tree.grow(sheet.files),
        most_files=MOST_FILES,
        plain=plain,
        goes_on_at=plain.count("\n") + 1 if len(plain) < len(content) else 0,
        tags=json.loads(skill["tags"]),
        inventory=json.loads(skill["file_inventory"]),
        why_not=formatting.why_not,
        folder=f"{skill['root']}/{skill['path']}",
        most_versions=SHOWN_VERSIONS,
        counts=_counts(sheet.findings),
    )


def look_up(db: Catalog, skill_id: str, row: int | None, version: str = "") -> Sheet | None:
    """Ask for a skill and everything that hangs on it, as of one moment; None where there is none.

    With a version the skill is what it was then, where that is known.
    """
    with one_moment(db):
        skill = browse.skill(db, skill_id, row)
        if skill and version and version != skill["version"]:
            skill = browse.as_of(db, skill, version)
        if not skill:
            return None
        held = skill["current_version_id"]
        return Sheet(
            skill,
            browse.rivals(db, skill),
            browse.findings(db, skill["id"]),
            browse.files(db, held) if held else [],
            browse.versions(db, skill["id"]),
            index_views.index_states(db, skill["id"]) if skill["status"] == "active" else [],
        )


def which(skill: Row) -> str:
    """Return what a link to a part of a skill needs where others go by its skill_id, too."""
    return "" if skill["status"] == "active" else f"?row={skill['id']}"


def front_lines(content: str, body: str | None) -> int:
    """Return how many lines of a SKILL.md stand before its body."""
    content, body = map(with_plain_line_ends, (content, body or ""))
    if body and content.endswith(body):
        return content[: -len(body)].count("\n")
    lines = content.split("\n")
    fences = [number for number, line in enumerate(lines, 1) if line.startswith("---")]
    return fences[1] if len(fences) > 1 and fences[0] == 1 else 0


async def _text(
    context: RequestContext, skill: Row
) -> tuple[str, list[str], markdown.Rendered | None]:
    """Return a SKILL.md, the lines of its frontmatter, and what stands below that as HTML."""
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
            which(skill),
        ),
        otherwise=lambda: markdown.BUSY,
    )
    return content, [] if rendered.unrendered_reason else content.split("\n")[:skip], rendered


def _findings_by_line(
    findings: list[Row], front: list[str], rendered: markdown.Rendered | None
) -> dict[int, list[Row]]:
    """Sort the findings of SKILL.md to the lines they speak of.

    Those of the frontmatter go by their line; those of the body by the first line of the block.
    """
    findings_by_line: dict[int, list[Row]] = {}
    for found in findings:
        line = found["line"]
        if (
            not line
            or not rendered
            or rendered.unrendered_reason
            or (found["path"] or "SKILL.md").lower() != "skill.md"
        ):
            continue
        if line <= len(front):
            findings_by_line.setdefault(line, []).append(found)
        else:
            at = bisect_left(rendered.blocks, line, key=lambda block: block.last)
            if at < len(rendered.blocks):
                findings_by_line.setdefault(rendered.blocks[at].first, []).append(found)
    return findings_by_line


def _counts(findings: list[Row]) -> dict[str, int]:
    counts: dict[str, Any] = {}
    for found in findings:
        counts[found["severity"]] = counts.get(found["severity"], 0) + 1
    return counts
