"""Form of a prompt index: its fixed texts, its layout, and the ways to write a skill."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

NAME = "NAME"
"""Placeholder for the name of a skill in a pattern."""

Language: TypeAlias = Literal["en", "zh"]

INSTRUCTION: dict[Language, str] = {
    "en": "When a task matches a skill, first read its SKILL.md with the tool read_skill_file for "
    "the full guide.\n"
    "To run the scripts of a skill, use the tool bash. They lie under scripts/ in the skill's "
    "folder.",
    "zh": "当任务匹配某个技能时，先用 read_skill_file 工具读取对应的 SKILL.md 获取完整指南。\n"
    "如需执行技能中的脚本，使用 bash 工具运行。脚本位于技能目录的 scripts/ 下。",
}
"""Instructions on how to use the skills, at the end of the format `semibot`."""

FILES: dict[Language, str] = {"en": "Files: ", "zh": "文件: "}


def of_folder(language: Language, folder: str, files: int) -> str:
    """Return a folder with the number of its files: `scripts/ (8)`."""
    if language == "zh":
        return f"{folder}({files}个{'脚本' if folder == 'scripts/' else '文件'})"
    return f"{folder} ({files})"


FOR_AGENTS_ONLY: dict[Language, str] = {"en": "for agents only", "zh": "仅供智能体使用"}


def lines(language: Language, pattern: str | None) -> str:
    """Return the line above one-line entries, which states the location of all skills once."""
    if language == "zh":
        files = f"名为 {NAME} 的技能，其文件在 {pattern}。" if pattern else ""
        return f"任务与某一行相符时，先读该技能的 SKILL.md，再照着做。{files}"
    files = f" The files of the skill {NAME} are in {pattern}" if pattern else ""
    return f"When a task matches a line, first read that skill's SKILL.md.{files}"


def by_name(language: Language, pattern: str | None) -> str:
    """Return the line above skills in brief; the pattern locates their files."""
    if language == "zh":
        return f"名为 {NAME} 的技能，其文件在 {pattern}：" if pattern else "技能："
    return f"The files of {NAME} are in {pattern}:" if pattern else "Skills:"


def how_to_search(language: Language, url: str | None) -> str:
    """Return the sentence on how to search: by MCP, on the site, or by command."""
    if language == "zh":
        other = f"打开 {url}?q=任务" if url else '运行 `skilldrop search "任务"`'
        return f"用一句话描述任务，交给 MCP 工具 `search_skills`，或{other}。"
    other = f"fetch {url}?q=TASK" if url else 'run `skilldrop search "TASK"`'
    return f"Describe the task in a sentence to the MCP tool `search_skills`, or {other}."


def search_first(language: Language, how: str) -> str:
    """Return the first line of an index that has little room for each of its skills."""
    if language == "zh":
        return f"技能太多，这里写不下各自的说明：开始任务前，先搜索适合它的技能。{how}".strip()
    first = "Too many skills to describe here: before a task, search for the skill that fits it."
    return f"{first} {how}".strip()


def left_out(language: Language, count: int) -> str:
    """Return the last line: the number of skills left out."""
    if language == "zh":
        return f"另有 {count} 个技能未列出。"
    return f"{count} more skill{' is' if count == 1 else 's are'} not listed."


class FileGroup(NamedTuple):
    """Files of a skill that are listed together: a folder's, `scripts/`, or one file by itself."""

    path: str  # ends with a slash for several files of a folder
    files: int = 1


class Candidate(NamedTuple):
    """Skill that may enter an index."""

    skill: int  # its row in the catalog
    name: str
    description: str
    location: str  # of its SKILL.md: a path or a URL
    skill_id: str = ""
    follows_pattern: bool = False  # whether its location follows from its skill_id
    user_invocable: bool = True
    files: tuple[FileGroup, ...] = ()
    skill_md_hash: str = ""
    is_featured: bool = False  # it has words even where others have names only
    factor: float = 1.0  # its room, as a multiple of the usual one


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """Options of the text around the skills."""

    language: Language = "en"
    pattern: str | None = None  # of the folder of a skill NAME; None where there is none for all
    search_first: str = ""  # first line where there is little room for each skill


Item: TypeAlias = Callable[[Candidate, str], str]
"""Text of one skill, from its description as it is shown; an empty one gives its name alone."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Block of skills."""

    item: Item
    head: str = ""
    between: str = ""
    foot: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """Layout of an index. Its text is never longer than its frame and the items of its block."""

    entries: Layout
    lines: Layout | None = None  # more compact, for skills with little room; None: always entries
    start: str = ""
    head: str = ""
    foot: str = ""
    search_first: str = ""
    left_out: Callable[[int], str] = lambda count: ""
    whole_only: bool = False  # no description may be shortened

    @property
    def names(self) -> Layout:
        """Layout of skills without descriptions."""
        return self.lines or self.entries

    def compose(
        self, layout: Layout, items: Sequence[str], left_out: str = "", *, searches: bool = False
    ) -> str:
        """Return the whole text; it begins with the advice to search if it `searches`."""
        advice = self.search_first if searches else ""
        block = f"{layout.head}{layout.between.join(items)}{layout.foot}"
        return f"{self.start}{advice}{self.head}{block}{left_out}{self.foot}"


@dataclass(frozen=True, slots=True)
class Format:
    """Format of an index."""

    ending: str  # of the published file
    form: Callable[[FormatOptions], Form]
    names_packages: bool = False  # its locations are `…/<skill_id>/current/`


def named(skill: Candidate, options: FormatOptions) -> str:
    """Return a name, and what the pattern needs instead of the name."""
    if options.pattern is None or not skill.follows_pattern:
        return f"{skill.name} ({skill.location})"
    return skill.name if skill.name == skill.skill_id else f"{skill.name} ({skill.skill_id})"


def line(skill: Candidate, words: str, options: FormatOptions) -> str:
    """Return the line of a skill whose location follows from a pattern."""
    mark = "" if skill.user_invocable else f" ({FOR_AGENTS_ONLY[options.language]})"
    return f"{named(skill, options)}{mark}{': ' if words else ''}{words}"


_FIRST = ("REFERENCE.md", "FORMS.md")  # in the order of the Agent Skills specification
_MOST_FILES = 6
_MOST_FOLDERS = 12
_OF_PROJECTS = re.compile(r"\..*|(?:licen[cs]e|copying|notice|readme|changelog)\b.*", re.IGNORECASE)
"""Names beside SKILL.md that no instruction of a skill is about."""


def file_line(skill_md: str, groups: tuple[FileGroup, ...], language: Language) -> str:
    """Return the line that begins with SKILL.md; beyond a limit, the rest is `… (5)`."""
    documents = [
        group.path
        for group in groups
        if "/" not in group.path and group.path != skill_md and not _OF_PROJECTS.match(group.path)
    ]
    folders = [
        of_folder(language, group.path, group.files) if group.path.endswith("/") else group.path
        for group in groups
        if "/" in group.path
    ]
    documents.sort(key=lambda name: (*(name != first for first in _FIRST), name))
    parts = (skill_md, *_limited(documents, _MOST_FILES), *_limited(folders, _MOST_FOLDERS))
    return FILES[language] + ", ".join(parts)


def grouped(paths: Iterable[str]) -> Iterator[FileGroup]:
    """Yield the groups of the files with these paths, sorted."""
    for (folder, slash), group in groupby(sorted(paths), lambda path: path.partition("/")[:2]):
        members = list(group)
        is_one = len(members) == 1
        yield FileGroup(members[0] if is_one else folder + slash, len(members))


def _limited(names: Sequence[str], most: int) -> Iterator[str]:
    yield from names[:most]
    if len(names) > most:
        yield f"… ({len(names) - most})"
