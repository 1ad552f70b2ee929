"""Page of one skill: instructions, files, findings, prompt indexes and versions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.model.errors import NotInCatalog
from catalog.model.fields import COLUMNS
from catalog.model.paths import repository_label
from catalog.model.values import SEVERITIES
from catalog.prompt_index import query
from catalog.reading import disk_paths, index_views, lookup
from catalog.reading.findings import explanations, finding_lists
from catalog.reading.search import duplicates, skill_lists
from catalog.reading.skills import install_lines, references, review, skill_facts
from catalog.reading.skills import versions as reading_versions
from catalog.reading.skills.references import ReferencedFile, References
from catalog.site.http import access
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.rendering import markdown
from catalog.site.rendering.links import LinkBase
from catalog.text.visible import with_plain_line_ends
from catalog.usage import database as usage_database
from catalog.usage import summary

SHOWN = 20
"""Most versions, references, similar skills and findings of one rule on the page."""
COMPARED_VERSIONS = 200
"""Most versions that a form offers for a comparison: the newest."""
LONGEST_TEXT = 30_000
"""Most characters of an unrendered SKILL.md on the page, which links to the rest."""
MOST_FILES = 500
"""Most files on the page, which links to the rest."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All data of one skill in the catalog."""

    skill: Row
    rivals: list[Row]
    same: list[Row]  # skills under other identifiers with the same files
    references: References
    links: dict[str, ReferencedFile]  # of SKILL.md, to other skills
    findings: list[Row]
    files: list[Row]
    left_out: list[Row]
    versions: list[Row]
    indexes: list[Row]
    card: Row  # of `cards.of`
    review: Row | None  # of the newest version; None if it needs none
    folders: list[str]  # of this machine's disk, which readers elsewhere do not see


async def page(context: RequestContext) -> Response:
    """Show a skill."""
    skill_id = context.path_part("skill_id")
    try:
        sheet, reads, text = await context.query(_read, context, skill_id)
    except NotInCatalog:
        return await missing.skill(context, skill_id)
    if not context.is_local:
        names = ("rivals", "same", "findings", "left_out", "indexes")
        shown: dict[str, Any] = {
            name: shortened(getattr(sheet, name), sheet.folders) for name in names
        }
        sheet = replace(sheet, skill=shortened([sheet.skill], sheet.folders)[0], **shown)
    skill = sheet.skill
    scope = context.request.scope
    return context.page(
        "skill.html",
        sheet=sheet,
        skill=skill,
        text=text,
        row_query=row_query(skill),
        source=_source(skill),
        declared_version=_declared_version(skill),
        danger=finding_lists.sentence(sheet.findings) if skill["is_newest"] else "",
        finding_groups=groups(sheet.findings),
        tree=list(grow(sheet.files)),
        most_files=MOST_FILES,
        labelled=[(each.label, skill[name]) for name, each in COLUMNS.items() if each.label],
        tags=json.loads(skill["tags"]),
        inventory=json.loads(skill["file_inventory"]),
        most=SHOWN,
        most_compared=COMPARED_VERSIONS,
        reads=reads,
        read_days=summary.DAYS,
        install=install_lines.of_skill(
            context.url(context.path("/")),
            skill,
            sheet.findings if skill["is_newest"] else (),
            needs_token=access.is_guarded(scope) and not access.prefix(scope),
        ),
    )


def _read(
    db: Database, context: RequestContext, skill_id: str
) -> tuple[Sheet, summary.SkillReads | None, dict[str, Any] | None]:
    """Return a skill with its reads and its `_instructions`. Raises NotInCatalog."""
    sheet = look_up(db, skill_id, context.number("row"))
    if not sheet or sheet.skill["skill_id"] != skill_id:
        raise NotInCatalog(f"No skill has the identifier {skill_id}.")
    reads = summary.of_skill(db, skill_id, usage_database.today())
    return sheet, reads, _instructions(context, sheet)


def _source(skill: Row) -> dict[str, str | None] | None:
    """Return the repository of a skill, with its web page if it is on a well-known forge."""
    if not (url := skill["repository"]):
        return None
    commit, path = skill["git_commit"], (skill["repository_path"] or "", skill["path"])
    return {
        "label": repository_label(url),
        "page": install_lines.repository_page(url, commit, *path),
        "commit": commit,
    }


def _declared_version(skill: Row) -> str:
    """Return the version that the author wrote into SKILL.md; empty without one."""
    fields = json.loads(skill["frontmatter"])
    metadata = fields.get("metadata")
    for version in (isinstance(metadata, dict) and metadata.get("version"), fields.get("version")):
        if isinstance(version, str | int | float) and not isinstance(version, bool):
            return str(version)
    return ""


def shortened(rows: Sequence[Row], folders: Sequence[str]) -> list[Row]:
    """Return rows without the paths of this machine's disk, for readers on other machines."""
    return [
        row
        | {
            name: disk_paths.shortened_paths(row[name], folders)
            for name in _WITH_PATHS
            if row.get(name)
        }
        for row in rows
    ]


_WITH_PATHS = ("text", "root", "status_reason", "pending_reason", "message", "fix", "detail")


def look_up(db: Database, skill_id: str, row: int | None, version: str = "") -> Sheet | None:
    """Return a skill with all its data, read in one transaction; None if it is unknown.

    With a version, the skill is returned as it was in that version, if that is known. Raises
    NotInCatalog where several skills have the name.
    """
    skill = skill_facts.skill(db, skill_id, row)
    if not skill and (
        other := lookup.skill_id_meant(db, skill_id) or lookup.skill_id_of_bare_name(db, skill_id)
    ):
        skill = skill_facts.skill(db, other)
    if skill and version and version != skill["version"]:
        skill = reading_versions.as_of(db, skill, version)
    if not skill:
        return None
    version_id = skill["current_version_id"]
    return Sheet(
        skill,
        skill_facts.folders_of(db, skill["skill_id"], but=skill["id"]),
        duplicates.same(db, skill),
        references.of_skill(db, skill["id"]),
        references.links(db, skill["id"], skill["skill_md_name"] or ""),
        finding_lists.findings(db, skill["id"]),
        list(reading_versions.files(db, version_id).values()),
        skill_facts.left_out_files(db, skill["id"]),
        reading_versions.of_skill(db, skill["id"]),
        _indexes(db, skill["id"]) if skill["status"] == "active" else [],
        skill_lists.cards_of(db, [skill["id"]])[0],
        review.of_skill(db, skill["id"]) if skill["status"] != "removed" else None,
        disk_paths.disk_folders(db),
    )


def _indexes(db: Database, skill: int) -> list[Row]:
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


def row_query(skill: Row) -> str:
    """Return the query that links need to select this folder among those with its skill_id."""
    return "" if skill["status"] == "active" else f"?row={skill['id']}"


def front_lines(content: str, body: str | None) -> int:
    """Return the number of lines before the body of a SKILL.md."""
    content, body = map(with_plain_line_ends, (content, body or ""))
    if body and content.endswith(body):
        return content[: -len(body)].count("\n")
    lines = content.split("\n")
    fences = [number for number, line in enumerate(lines, 1) if line.startswith("---")]
    return fences[1] if len(fences) > 1 and fences[0] == 1 else 0


def _instructions(context: RequestContext, sheet: Sheet) -> dict[str, Any] | None:
    """Return the SKILL.md of a skill; None if no version was accepted.

    That is the lines of its frontmatter and the rendered text, or its `plain` source with the line
    at which it `goes_on_at` another page; 0 if it is whole.
    """
    skill = sheet.skill
    if skill["skill_md_content"] is None:
        return None
    content = with_plain_line_ends(skill["skill_md_content"].removeprefix("\ufeff"))
    lines = content.split("\n")
    skip = front_lines(content, skill["body"])
    base = LinkBase(
        context.skill_path(skill["skill_id"]),
        row_query(skill),
        frozenset(file["path"] for file in sheet.files),
        {path: _url_of(context, target) for path, target in sheet.links.items()},
    )
    rendered = markdown.render("\n".join(lines[skip:]), base)
    if not rendered.unrendered_reason:
        return {"front": lines[:skip], "rendered": rendered}
    plain = content[:LONGEST_TEXT]
    goes_on_at = plain.count("\n") + 1 if len(plain) < len(content) else 0
    return {"front": [], "rendered": rendered, "plain": plain, "goes_on_at": goes_on_at}


def _url_of(context: RequestContext, target: ReferencedFile) -> str:
    """Return the page of a file of another skill; that of its SKILL.md is the skill's."""
    page = f"/view/{target.path}" if target.path else ""
    row = f"?row={target.row}" if target.row else ""
    return f"{context.skill_path(target.skill_id, page)}{row}"


SAFETY = "safety"
"""Profile of the findings about content that could deceive or do harm."""


def groups(findings: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the findings by rule: dangers, errors, warnings, then notes; safety is first of each.

    A group has one `problem` for all, and a `fix` if it is the same for all.
    """
    by_code: dict[tuple[str, str], list[Row]] = {}
    for row in findings:
        by_code.setdefault((row["code"], row["severity"]), []).append(row)
    result = [
        {
            "code": code,
            "severity": severity,
            "problem": _problem(code),
            "rows": rows,
            "fix": rows[0]["fix"] if len({row["fix"] for row in rows}) == 1 else "",
        }
        for (code, severity), rows in by_code.items()
    ]
    return sorted(result, key=_rank)


def _problem(code: str) -> str:
    explanation = explanations.explanation(code)
    words = explanation.problem if explanation else code.replace("-", " ")
    return words[:1].upper() + words[1:]


def _rank(group: dict[str, Any]) -> tuple[int, bool]:
    return SEVERITIES.index(group["severity"]), group["rows"][0]["profile"] != SAFETY


class TreeLine(NamedTuple):
    """Line of a tree: a file, or a folder with the total size of its files."""

    depth: int
    name: str
    path: str
    size: int
    file: Mapping[str, Any] | None = None


def grow(files: Sequence[Mapping[str, Any]], folder: str = "") -> Iterator[TreeLine]:
    """Yield the lines of a tree: SKILL.md, then files before folders, each by name."""
    depth, skip = folder.count("/"), len(folder)
    direct: list[Mapping[str, Any]] = []
    deeper: list[Mapping[str, Any]] = []
    for file in sorted(files, key=lambda file: (file["kind"] != "skill_md", file["path"])):
        (deeper if "/" in file["path"][skip:] else direct).append(file)
    for file in direct:
        yield TreeLine(depth, file["path"][skip:], file["path"], file["size"], file)
    for name, inside in groupby(deeper, lambda file: file["path"][skip:].partition("/")[0]):
        path, contents = f"{folder}{name}/", list(inside)
        yield TreeLine(depth, name, path, sum(file["size"] for file in contents))
        yield from grow(contents, path)
