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

FILES: dict[Language, str] = {"en": "Files: ", "zh": "文件："}

FOR_AGENTS_ONLY: dict[Language, str] = {"en": "for agents only", "zh": "仅供智能体使用"}


def lines(language: Language, pattern: str | None) -> str:
    """Return the first line of an index that states the location of all skills once."""
    if language == "zh":
        files = f"名为 {locations.NAME} 的技能，其文件在 {pattern}。" if pattern else ""
        return f"技能：任务与某一行相符时，先读该技能的 SKILL.md，再照着做。{files}"
    files = f" The files of the skill {locations.NAME} are in {pattern}" if pattern else ""
    return f"Skills. When a task matches a line, first read that skill's SKILL.md.{files}"


def by_name(language: Language, pattern: str | None) -> str:
    """Return the line above skills in brief; the pattern locates their files."""
    if language == "zh":
        return f"名为 {locations.NAME} 的技能，其文件在 {pattern}：" if pattern else "技能："
    return f"The files of {locations.NAME} are in {pattern}:" if pattern else "Skills:"


def how_to_search(language: Language, url: str | None) -> str:
    """Return the default sentence on how to search: by MCP, on the site, or by command."""
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
