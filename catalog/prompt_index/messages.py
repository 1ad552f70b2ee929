"""Fixed texts of an index, in English and Chinese."""

from typing import Literal, TypeAlias

from catalog.prompt_index import locations

Language: TypeAlias = Literal["en", "zh"]

INSTRUCTION: dict[Language, str] = {
    "en": "Each skill here is a folder of instructions for one kind of task. When a task matches "
    "a description, read SKILL.md in that folder before you begin and follow it. Open its "
    "other files, or run its scripts, only when SKILL.md says so.",
    "zh": "这里的每个技能都是一个文件夹，写有某类任务的做法。任务与某条描述相符时，"
    "先读该文件夹中的 SKILL.md，再照着做；"
    "只有 SKILL.md 提到时，才打开其中别的文件或运行脚本。",
}
"""Instructions on how to use the skills, at the start of some formats."""

HOW_TO_SEARCH: dict[Language, str] = {
    "en": "Find them with `skilldrop search WORDS`.",
    "zh": "可用 `skilldrop search 关键词` 查找。",
}
"""Advice in the last line, about the skills left out."""

FILES: dict[Language, str] = {"en": "Files: ", "zh": "文件："}

FOR_AGENTS_ONLY: dict[Language, str] = {"en": "for agents only", "zh": "仅供智能体使用"}


def by_name(language: Language, pattern: str | None) -> str:
    """Return the line above the skills listed by name only; the pattern locates their files."""
    if language == "zh":
        files = f"；名为 {locations.NAME} 的技能，其文件在 {pattern}" if pattern else ""
        return f"以下技能只列名称{files}："
    files = f"; the files of {locations.NAME} are in {pattern}" if pattern else ""
    return f"More skills, by name only{files}:"


def left_out(language: Language, count: int, how_to_search: str | None) -> str:
    """Return the last line: the number of skills left out, and how to search for them."""
    if language == "zh":
        number = f"另有 {count} 个技能未列出。"
    else:
        number = f"{count} more skill{' is' if count == 1 else 's are'} not listed."
    advice = HOW_TO_SEARCH[language] if how_to_search is None else how_to_search
    return f"{number}{' ' if language == 'en' and advice else ''}{advice}"
