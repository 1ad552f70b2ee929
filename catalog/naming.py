"""How skills are named: qualified name, skill_id and version, as pure functions."""

import hashlib
import re
import unicodedata
from datetime import UTC, datetime

SKILL_ID_BYTES = 120
"""A skill_id names a directory; longer ones end in eight hex digits of their hash instead."""

_NOT_LETTER_OR_DIGIT = re.compile(r"[\W_]+")


def skill_id(name: str | None, plugin: str | None, path: str) -> str:
    """Return the identifier by which skills compete.

    name is the declared name, plugin the folder name of its plugin if it has one, and path the
    skill folder relative to its root. A name without a letter or digit gives way to the
    folder's, and that to the hash of the path.
    """
    own = _slug(name or "") or _slug(path.rpartition("/")[2])
    if not own:
        own = f"skill-{_hash8(path)}"
    qualified = f"{_slug(plugin) or _hash8(plugin)}--{own}" if plugin else own
    if len(qualified.encode()) <= SKILL_ID_BYTES:
        return qualified
    kept = qualified.encode()[: SKILL_ID_BYTES - 9].decode(errors="ignore").rstrip("-")
    return f"{kept}-{_hash8(qualified)}"


def qualified_name(name: str, plugin: str | None) -> str:
    """Return `plugin:name` for a plugin's skill, else the bare name."""
    return f"{plugin}:{name}" if plugin else name


def version_name(at: datetime, taken: frozenset[str] | set[str] = frozenset()) -> str:
    """Return `YYYYMMDD-HHMMSS` in UTC, with `-2`, `-3` … where that is already taken."""
    base = at.astimezone(UTC).strftime("%Y%m%d-%H%M%S")
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    return name


def _slug(text: str) -> str:
    return _NOT_LETTER_OR_DIGIT.sub("-", unicodedata.normalize("NFKC", text).lower()).strip("-")


def _hash8(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
