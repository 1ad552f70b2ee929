"""Namespaces of skills: `owner:name`, from the folders in which a skill lies.

The rule of a root is `none`, `folder` (the first folder is the owner), `path` (all folders above
the skill folder, joined by dots), or a pattern such as `teams/{team}/*`, in which names in braces
stand for the folders that make the namespace and `*` for any other folder. Skills that lie less
deep have no namespace.
"""

import re

from catalog.model.paths import last_name

NONE, FOLDER, PATH = "none", "folder", "path"
PLUGIN = "plugin"
"""Rule of plugin roots: the first folder, even where it is the skill folder itself."""
_NAME = re.compile(r"\{\w+\}")


def namespace_of(path: str, rule: str) -> str | None:
    """Return the namespace of a skill folder, from its path relative to its root."""
    *above, _ = folders = [last_name(folder) for folder in path.split("/") if folder]
    if rule == PLUGIN:
        return folders[0]
    if rule == FOLDER:
        return above[0] if above else None
    if rule == PATH:
        return ".".join(above) or None
    return _matched(above, rule.split("/")) if rule != NONE else None


def _matched(above: list[str], pattern: list[str]) -> str | None:
    """Return the folders that a pattern names, joined by dots; None where it does not match."""
    if len(above) < len(pattern):
        return None
    pairs = list(zip(pattern, above, strict=False))
    named = [folder for part, folder in pairs if _NAME.fullmatch(part)]
    others = [(part, folder) for part, folder in pairs if not _NAME.fullmatch(part)]
    return ".".join(named) if all(part in ("*", folder) for part, folder in others) else None


def check(rule: str) -> str:
    """Return a rule of a root. Raises ValueError if it is no such rule."""
    parts = rule.split("/")
    if rule in (NONE, FOLDER, PATH):
        return rule
    if not all(parts) or not any(map(_NAME.fullmatch, parts)):
        raise ValueError("it needs a folder name in braces, as in teams/{team}")
    if wrong := [part for part in parts if set(part) & set("{}") and not _NAME.fullmatch(part)]:
        raise ValueError(f"{wrong[0]} is neither a name in braces nor the name of a folder")
    return rule
