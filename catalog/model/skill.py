"""Skills, their files, places, roots and verdicts, all frozen.

Values that processes send to each other for every skill are tuples, which are cheapest to send.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from pydantic.alias_generators import to_camel

from catalog.model.finding import Finding
from catalog.model.naming import NamespaceRule
from catalog.model.paths import last_name
from catalog.model.values import (
    Acceptance,
    FileKind,
    Json,
    LeftOutReason,
    Level,
    ReferenceKind,
    Review,
    SecretRule,
)

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class GitOrigin:
    """Branch, tag or commit of a repository, and the folder in it that is the root."""

    url: str  # without credentials
    ref: str | None = None  # None for the repository's default branch
    path: str = ""  # relative, "" for the whole repository

    @property
    def folder_name(self) -> str:
        """Name of its mirror, which changes with the URL or the path, but not with the ref."""
        words = [word for word in _NOT_IN_NAMES.split(self.url.removesuffix(".git")) if word]
        key = hashlib.sha256(f"{self.url}\n{self.path}".encode()).hexdigest()[:8]
        return "-".join([*words[-2:], key])

    def __str__(self) -> str:
        """Return the origin for people."""
        return " ".join(
            filter(None, (self.url, self.path and f"({self.path})", self.ref and f"at {self.ref}"))
        )


class FileEntry(NamedTuple):
    """File of a skill, as it was hashed."""

    path: str  # relative to the skill folder, with "/" between the parts
    size: int  # bytes
    sha256: str  # 64 hex digits
    mode: int  # 0o755 if its owner may execute it, else 0o644
    kind: FileKind
    is_text: bool
    text: str | None = None  # of small text files other than SKILL.md


class LeftOutFile(NamedTuple):
    """File or directory in a skill folder that is part of no version."""

    path: str  # relative to the skill folder; that of a directory ends with "/"
    reason: LeftOutReason
    detail: str  # a clause: the name, the pattern or the secret that decided


class Inventory(NamedTuple):
    """Inventory of a skill's files; `as_json` has the field names of the product specification."""

    has_skill_md: bool
    has_scripts: bool
    has_references: bool
    script_files: tuple[str, ...]
    reference_files: tuple[str, ...]
    template_files: tuple[str, ...]
    total_files: int
    total_size_bytes: int

    @classmethod
    def of(cls, files: Sequence[FileEntry]) -> "Inventory":
        """Return the inventory of the files of one skill."""
        scripts = tuple(f.path for f in files if f.kind == "script")
        references = tuple(f.path for f in files if f.kind == "reference")
        return cls(
            has_skill_md=any(f.kind == "skill_md" for f in files),
            has_scripts=bool(scripts),
            has_references=bool(references),
            script_files=scripts,
            reference_files=references,
            template_files=tuple(f.path for f in files if f.kind == "template"),
            total_files=len(files),
            total_size_bytes=sum(f.size for f in files),
        )

    def as_json(self) -> dict[str, Json]:
        """Return the eight published fields."""
        return dict(zip(_PUBLISHED, self, strict=True))


_PUBLISHED = tuple(map(to_camel, Inventory._fields))


class Place(NamedTuple):
    """Place of a skill folder, with its level and namespace."""

    root: str  # absolute path
    path: str  # of the skill folder, relative to the root
    level: Level
    namespace: str | None = None  # of its plugin or owner
    is_alias: bool = False  # reached through a link, whose target is the skill itself

    @property
    def plugin(self) -> str | None:
        """Name of the plugin, for a skill in a plugin root."""
        return self.namespace if self.level == "plugin" else None

    @property
    def folder_name(self) -> str:
        """Name of its folder, or of a root that is itself a skill; `x` for an archive `x.zip!`."""
        path = self.path.rstrip("/")
        return last_name(self.root.rstrip("/") if path in ("", ".") else path)


class SkillReference(NamedTuple):
    """Reference of a skill to another one, as it is written."""

    kind: ReferenceKind
    target: str  # of a link: relative to its file and normalised; else the name of a skill
    path: str  # of its file, relative to the skill folder
    line: int  # from 1
    field: str | None = None  # of the frontmatter, if it is declared


MIXED_FIELDS = ("dependencies", "requires")
"""Fields that may also name other software, so that an unknown name in them is no problem."""


_NOTHING: Mapping[str, Any] = {}


class SkillRecord(NamedTuple):
    """Verdict on a skill folder with accepted content."""

    place: Place
    skill_id: str
    name: str  # qualified: `namespace:name` in a namespace
    description: str
    spec_valid: bool
    fingerprint: str
    digest: str  # "sha256:" and 64 hex digits, of the whole folder
    skill_md_hash: str  # 64 hex digits, of SKILL.md's raw bytes
    skill_md_name: str  # SKILL.md, or the variant that was found
    skill_md_content: str
    body_chars: int  # of the body, which is the end of the content; see `derived.body_of`
    headings: tuple[str, ...]
    body_lines: int
    estimated_tokens: int
    files: tuple[FileEntry, ...]
    inventory: Inventory
    findings: tuple[Finding, ...]
    frontmatter: Mapping[str, Json] = _NOTHING
    display_name: str | None = None
    author: str | None = None
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    search_words: tuple[str, ...] = ()  # other words and phrases that find it as its tags do
    tools: tuple[str, ...] = ()  # names of the tools in `allowed_tools`
    hosts: tuple[str, ...] = ()  # of the URLs in its texts
    grams: str = ""  # of its searched fields; see `catalog.text.search_terms`
    priority: float | None = None  # 0 to 1, higher first
    model_invocable: bool = True
    user_invocable: bool = True
    dialects: Mapping[str, Any] = _NOTHING  # declarations for each dialect, by its name
    left_out: tuple[LeftOutFile, ...] = ()  # sorted by path
    references: tuple[SkillReference, ...] = ()  # to other skills


class FolderStats(NamedTuple):
    """Names and stats of a skill folder, by which a later walk knows it again."""

    paths: str  # of directories and files, a line each, with "/" before it; its own is ""
    digest: str  # of their stats, and of all else that decides on its fingerprint


class Rejection(NamedTuple):
    """Verdict on a skill folder with rejected content; its findings give the reasons."""

    place: Place
    skill_id: str
    name: str
    fingerprint: str
    digest: str | None  # None where not all files could be read
    findings: tuple[Finding, ...]
    inventory: Inventory
    frontmatter: Mapping[str, Json] = _NOTHING
    left_out: tuple[LeftOutFile, ...] = ()  # sorted by path
    refused: tuple[tuple[str, str], ...] = ()  # path and sha256 of files that nobody may get


Verdict: TypeAlias = SkillRecord | Rejection


LOST_ROOT = "/lost catalog"
"""Root of published skills whose folders are unknown since their catalog was lost."""


Report: TypeAlias = Callable[
    [tuple[Finding, ...], Mapping[str, str], str | None], tuple[Finding, ...]
]
"""Function that leaves out findings of a skill, by its texts by path, and the path of SKILL.md."""


@dataclass(frozen=True, slots=True)
class RootSpec:
    """Watched directory with its settings."""

    path: str  # absolute
    level: Level = "project"
    acceptance: Acceptance = "lenient"
    profiles: tuple[str, ...] = ("spec",)
    namespace: NamespaceRule = "none"
    review: Review = "dangers"
    secrets: SecretRule = "leave-out"  # the treatment of files with keys or passwords
    origin: GitOrigin | None = None  # of a mirror; path is then the link to its content
    report: Report | None = field(default=None, compare=False)  # else all findings are reported

    @property
    def plugin(self) -> str | None:
        """Name of the plugin whose folder `skills` the root is: `office` for `office/skills`."""
        of = self.origin
        place = f"{of.url.removesuffix('.git')}/{of.path}" if of else self.path
        *_, plugin, folder = ("", "", *place.rstrip("/").split("/"))
        return plugin if self.level == "plugin" and folder == "skills" else None
