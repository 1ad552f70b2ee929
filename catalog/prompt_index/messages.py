"""Fixed sentences of an index, in English and in Chinese; each can be set."""

from typing import Literal, TypeAlias

from catalog.prompt_index import locations

Language: TypeAlias = Literal["en", "zh"]

INSTRUCTION: dict[Language, str] = {
    "en": "Each skill here is a folder of instructions for one kind of task. When a task matches "
    "a description, read SKILL.md in that folder before you begin and follow it. Open its "
    "other files, or run its scripts, only where SKILL.md says so.",
    "zh": "这里的每个技能都是一个文件夹，写有某类任务的做法。任务与某条描述相符时，"
    "先读该文件夹中的 SKILL.md，再照着做；"
    "只有 SKILL.md 提到时，才打开其中别的文件或运行脚本。",
}
"""How to use the skills; the formats that instruct open with it."""

HOW_TO_SEARCH: dict[Language, str] = {
    "en": "Search them with `skilldrop search WORDS`.",
    "zh": "可用 `skilldrop search 关键词` 查找。",
}
"""What the last line advises about the skills that are left out."""

FILES: dict[Language, str] = {"en": "Files: ", "zh": "文件："}

PEOPLE_DO_NOT_START_IT: dict[Language, str] = {"en": "for agents only", "zh": "仅供智能体使用"}


def by_name(language: Language, where: str | None) -> str:
    """Return the line above the skills that are listed by name alone."""
    if language == "zh":
        at = f"；名为 {locations.NAME} 的技能，其文件在 {where}" if where else ""
        return f"以下技能只列名称{at}："
    at = f"; the files of {locations.NAME} lie in {where}" if where else ""
    return f"More skills, by name alone{at}:"


def left_out(language: Language, count: int, how_to_search: str | None) -> str:
    """Return the last line: how many skills are left out, and how to search for them."""
    if language == "zh":
        said = f"另有 {count} 个技能未列出。"
    else:
        said = f"{count} more skill{' is' if count == 1 else 's are'} not listed here."
    how = HOW_TO_SEARCH[language] if how_to_search is None else how_to_search
    return f"{said}{' ' if language == 'en' and how else ''}{how}"
