"""The files of a skill on one line."""

from collections.abc import Collection

from catalog.prompt_index.formats import file_summary
from catalog.text import humanize
from catalog.text.display import visible
from pipeline.cli.output import terminal


def file_list(skill_md: str, sizes: Collection[tuple[str, int]]) -> str:
    """Return documents by name, folders with their numbers of files, and the number and size.

    sizes has the path and the bytes of each file.
    """
    groups = tuple(file_summary.grouped(path for path, _ in sizes))
    files = file_summary.line(skill_md, groups, "en")
    size = humanize.size(sum(size for _, size in sizes))
    return f"{visible(files)} ({terminal.counted(len(sizes), 'file')}, {size})"
