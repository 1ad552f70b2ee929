"""Fixed texts of an index, in English and Chinese."""

from typing import Literal, TypeAlias

NAME = "NAME"
"""Placeholder for the name of a skill in a pattern."""

Language: TypeAlias = Literal["en", "zh"]

INSTRUCTION: dict[Language, str] = {
    "en": "When a task matches a skill, first read its SKILL.md with the tool read_skill_file, "
    "and follow it.\n"
    "Run the scripts of a skill with the tool bash; they lie under scripts/ in its folder.",
    "zh": "任务与某个技能的说明相符时，先用 read_skill_file 工具读取它的 SKILL.md，再照着做。\n"
    "要运行技能中的脚本，请使用 bash 工具；脚本在该技能目录的 scripts/ 下。",
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
    """Return the first line of an index that states the location of all skills once."""
    if language == "zh":
        files = f"名为 {NAME} 的技能，其文件在 {pattern}。" if pattern else ""
        return f"技能：任务与某一行相符时，先读该技能的 SKILL.md，再照着做。{files}"
    files = f" The files of the skill {NAME} are in {pattern}" if pattern else ""
    return f"Skills. When a task matches a line, first read that skill's SKILL.md.{files}"


def by_name(language: Language, pattern: str | None) -> str:
    """Return the line above skills in brief; the pattern locates their files."""
    if language == "zh":
        return f"名为 {NAME} 的技能，其文件在 {pattern}：" if pattern else "技能："
    return f"The files of {NAME} are in {pattern}:" if pattern else "Skills:"


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
