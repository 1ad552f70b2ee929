"""Verdicts for tests of the catalog, as the pipeline would pass them."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from catalog.database.queries import to_json
from catalog.model.change import Judged
from catalog.model.finding import Finding
from catalog.model.naming import qualified_name, skill_id
from catalog.model.skill import FileEntry, Inventory, Place, Rejection, RootSpec, SkillRecord
from catalog.model.values import Json, Level
from catalog.text import mentions, search_terms
from catalog.writing.rows import derived
from catalog.writing.store import Store

ROOT = "/root"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
WRONG = Finding(
    "description-missing",
    "error",
    "spec",
    "There is no description.",
    "Write one.",
    path="SKILL.md",
    line=2,
)
ODD = Finding(
    "field-unknown",
    "warning",
    "advice",
    "The field colour is unknown.",
    "Remove it.",
    field="colour",
    path="SKILL.md",
    line=4,
)


def sha(text: str) -> str:
    """Return 64 hex digits that depend on the text."""
    return hashlib.sha256(text.encode()).hexdigest()


def judged(
    path: str,
    description: str = "Counts words.",
    *,
    name: str | None = None,
    body: str = "# Steps\n",
    root: str = ROOT,
    level: Level = "project",
    plugin: str | None = None,
    findings: Iterable[Finding] = (),
    **fields: Any,
) -> Judged:
    """Return an accepted skill folder; its content is its name, description and body."""
    own = name or path.rpartition("/")[2]
    content = f"---\nname: {own}\ndescription: {description}\n---\n{body}"
    files = (
        FileEntry("SKILL.md", len(content), sha(content), 0o644, "skill_md", True),
        FileEntry("scripts/run.py", 9, sha("run"), 0o755, "script", True, "print(1)\n"),
    )
    record = SkillRecord(
        **{
            "place": Place(root, path, level, plugin),
            "skill_id": skill_id(own, plugin, path),
            "name": qualified_name(own, plugin),
            "description": description,
            "spec_valid": True,
            "fingerprint": sha(path + content),
            "digest": f"sha256:{sha(content)}",
            "skill_md_hash": sha(content),
            "skill_md_name": "SKILL.md",
            "skill_md_content": content,
            "body_chars": len(body.strip()),
            "headings": ("Steps",),
            "body_lines": body.count("\n"),
            "estimated_tokens": len(body) // 4,
            "files": files,
            "inventory": Inventory.of(files),
            "findings": tuple(findings),
            "frontmatter": {"name": own, "description": description},
            "tools": mentions.tools_of(fields.get("allowed_tools")),
            "hosts": mentions.of_texts(
                [content, *(f.text for f in fields.get("files", ()) if f.text)]
            ),
            "grams": search_terms.grams(_named(own, description, **fields)),
            **fields,
        }
    )
    return _judged(record)


def _named(
    name: str,
    description: str,
    display_name: str | None = None,
    tags: Iterable[str] = (),
    search_words: Iterable[str] = (),
    **_: Any,
) -> str:
    """Return the texts of a skill in which CJK words are found."""
    return " ".join((name, display_name or "", description, *tags, *search_words))


def refused(path: str, content: str = "bad", *, root: str = ROOT) -> Judged:
    """Return a rejected skill folder."""
    return _judged(
        Rejection(
            place=Place(root, path, "project"),
            skill_id=skill_id(None, None, path),
            name=path,
            fingerprint=sha(path + content),
            digest=f"sha256:{sha(content)}",
            findings=(WRONG,),
            inventory=Inventory.of(()),
        )
    )


def _judged(verdict: SkillRecord | Rejection) -> Judged:
    step: dict[str, Json] = {
        "stepId": "1",
        "stepName": "read",
        "input": verdict.place.path,
        "output": {"files": 2},
        "duration": 0.5,
        "error": None,
        "timestamp": NOON.isoformat(),
    }
    return derived.judged(verdict, to_json([step]), NOON.isoformat(), 0.5)


def rooted(store: Store, *roots: RootSpec) -> Store:
    """Configure roots, or the one default root, and return the store."""
    store.roots.configure(roots or (RootSpec(ROOT),), "rules-1", NOON)
    return store
