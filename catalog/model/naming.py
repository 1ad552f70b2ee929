"""Names of skills: namespace, qualified name, skill_id, version, and names that look alike."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

from catalog.model.paths import last_name

SKILL_ID_BYTES = 120
"""Bytes of a skill_id, which names a directory; longer ones end in a hash of 8 hex digits."""

INSTALL_NAME_LENGTH = 64
"""Characters of an install name: Agent Skills discovery 0.2.0."""

CURRENT = "current"
"""Link to the published version, beside the versions of a skill_id."""

NAME_CHARACTERS = 64
"""Most characters of a name, by the Agent Skills specification."""
NAME_BYTES = 255
"""Most bytes of the name of a folder, by the file systems of Linux."""

_MOMENT, _SECOND = "%Y%m%d-%H%M%S", len("20261122-081500")
_NOT_LETTER_OR_DIGIT = re.compile(r"[\W_]+")
_SKILL_ID = re.compile(r"[^\W_]+(?:--?[^\W_]+)*")
_INSTALL_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ARGUMENT = re.compile(r"\w[\w.:-]*")
_VERSION = re.compile(r"[0-9]{8}-[0-9]{6}(?:-[0-9]+)?")


def skill_id(name: str | None, namespace: str | None, path: str) -> str:
    """Return the identifier by which skills compete.

    name is the declared name, namespace that of its plugin or owner if it has one, and path the
    skill folder relative to its root. A name without a letter or digit is replaced by that of
    the folder, and this by the hash of the path.
    """
    own = _slug(name or "") or _slug(path.rpartition("/")[2])
    if not own:
        own = f"skill-{_hash8(path)}"
    qualified = f"{_slug(namespace) or _hash8(namespace)}--{own}" if namespace else own
    if len(qualified.encode()) <= SKILL_ID_BYTES:
        return qualified
    kept = qualified.encode()[: SKILL_ID_BYTES - 9].decode(errors="ignore").rstrip("-")
    return f"{kept}-{_hash8(qualified)}"


def qualified_name(name: str, namespace: str | None) -> str:
    """Return `namespace:name` for a skill in a namespace, else the bare name."""
    return f"{namespace}:{name}" if namespace else name


def bare_name(name: str, namespace: str | None) -> str:
    """Return the name of a skill without its namespace."""
    return name.removeprefix(f"{namespace}:") if namespace else name


def argument(skill: Mapping[str, Any]) -> str:
    """Return a skill's name for a command to copy; its skill_id if a shell may change the name."""
    return str(skill["name" if _ARGUMENT.fullmatch(skill["name"]) else "skill_id"])


def install_name(skill_id: str) -> str:
    """Return the name under which installers get a skill, of a-z, 0-9 and single hyphens.

    It is the skill_id where this has only those and is short enough. Otherwise it has the same
    letters as far as possible, and a hash, so that it never changes and no other skill has it.
    """
    if _INSTALL_NAME.fullmatch(skill_id) and len(skill_id) <= INSTALL_NAME_LENGTH:
        return skill_id
    letters = unicodedata.normalize("NFKD", skill_id).encode("ascii", "ignore").decode()
    end = f"-{_hash8(skill_id)}"
    kept = re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-") or "skill"
    return kept[: INSTALL_NAME_LENGTH - len(end)].rstrip("-") + end


def entry_name(name: str, skill_id: str) -> str:
    """Return the name of the folder of a skill: its own if it is valid, else its skill_id.

    The specification requires the name of the skill. A valid name is its own skill_id, unless it is
    so long that its skill_id is cut, and then no skill_id is as long; so no two skills share one.
    """
    is_valid = (
        is_skill_id(name)
        and "--" not in name
        and len(name) <= NAME_CHARACTERS
        and len(name.encode()) <= NAME_BYTES
        and name == unicodedata.normalize("NFKC", name)
    )
    return name if is_valid else skill_id


def version_name(at: datetime, after: str = "") -> str:
    """Return `YYYYMMDD-HHMMSS` in UTC, or the next name that sorts after an earlier version.

    The next name ends in `-2` to `-9`, or is one second later.
    """
    name = at.astimezone(UTC).strftime(_MOMENT)
    if name > after:
        return name
    last, count = after[:_SECOND], int(after[_SECOND + 1 :] or 1)
    if count < 9:
        return f"{last}-{count + 1}"
    moment = datetime.strptime(last, _MOMENT).replace(tzinfo=UTC)
    return (moment + timedelta(seconds=1)).strftime(_MOMENT)


def is_skill_id(name: str) -> bool:
    """Return whether a name has the form of a skill_id."""
    return bool(_SKILL_ID.fullmatch(name)) and name == name.lower()


def is_slug(name: str) -> bool:
    """Return whether a bare name is spelled as in a skill_id."""
    return name == _slug(name)


def is_version(name: str) -> bool:
    """Return whether a name has the form of a version."""
    return bool(_VERSION.fullmatch(name))


def _slug(text: str) -> str:
    return _NOT_LETTER_OR_DIGIT.sub("-", unicodedata.normalize("NFKC", text).lower()).strip("-")


def _hash8(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


NO_NAMESPACE, BY_FOLDER, BY_PATH = "none", "folder", "path"
NamespaceRule: TypeAlias = Literal["none", "folder", "path"]
OF_PLUGIN = "plugin"
"""Rule of plugin roots: the first folder, even where it is the skill folder itself."""


def namespace_of(path: str, rule: str) -> str | None:
    """Return the namespace of a skill folder, from its path relative to its root.

    The rule is `none`, `folder` (the first folder is the owner) or `path` (all folders above the
    skill folder, joined by dots). Skills that lie directly in the root have no namespace.
    """
    *above, _ = folders = [last_name(folder) for folder in path.split("/") if folder]
    if rule == OF_PLUGIN:
        return folders[0]
    if rule == BY_FOLDER:
        return above[0] if above else None
    return ".".join(above) or None if rule == BY_PATH else None
