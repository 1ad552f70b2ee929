"""Snapshot of a skill folder: files, fingerprint and digest, as pure values."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from catalog.model.finding import Finding
from catalog.model.skill import FileEntry, LeftOutFile
from catalog.model.values import FileKind, SecretRule
from pipeline.roots.codes import SECRET_LEFT_OUT, SECRET_PUBLISHED, SECRET_REFUSED
from pipeline.roots.file_kinds import chosen
from pipeline.roots.secrets import SecretFile
from pipeline.roots.words import Words

DATA_FOLDERS = frozenset({"assets", "templates", "examples", "tests", "evals"})
"""A SKILL.md below one of these folders of a skill is that skill's data, not a skill."""

_MARKDOWN_ENDINGS = (".md", ".markdown")
_NOT_REFERENCES = frozenset({"readme", "changelog", "license"})
_CONFIG_ENDINGS = (".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".env")
_KIND_BY_FOLDER: Mapping[str, FileKind] = {
    "scripts": "script",
    "references": "reference",
    "reference": "reference",
    "templates": "template",
    "assets": "asset",
    "tests": "test",
    "evals": "test",
    "config": "config",
}


class Snapshot(NamedTuple):
    """Consistent state of a skill folder: SKILL.md in memory, every other file hashed."""

    path: str  # of the folder, relative to its root
    skill_md_name: str | None  # None if no SKILL.md could be read
    skill_md: bytes
    files: tuple[FileEntry, ...]  # sorted by path; SKILL.md among them, without its text
    fingerprint: str
    digest: str | None  # None if a file could not be read
    problems: tuple[Finding, ...]  # of reading: limits, links, special files …
    left_out: tuple[LeftOutFile, ...] = ()  # sorted by path
    secrets: tuple[SecretFile, ...] = ()  # in files that are not left out
    words: Mapping[str, Words] = MappingProxyType({})  # found in texts, by path
    large: Mapping[str, str] = MappingProxyType({})  # texts that are judged, not stored

    @property
    def is_whole(self) -> bool:
        """Whether all files could be read."""
        return self.digest is not None

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts beside SKILL.md that are judged, by path."""
        texts = {**{f.path: f.text for f in self.files if f.text is not None}, **self.large}
        sizes = ((f.path, f.size) for f in self.files if f.path in texts and f.kind != "skill_md")
        return {path: texts[path] for path in chosen(sizes)}


def without_secrets(snapshot: Snapshot, rule: SecretRule) -> Snapshot:
    """Return a snapshot after its root's rule for files with secrets was applied.

    They are left out, a reason to reject it, or only reported. Nothing is left of a skill without
    its SKILL.md.
    """
    if not snapshot.secrets:
        return snapshot
    problems = list(snapshot.problems)
    secrets = {}
    for secret in snapshot.secrets:
        kind = SECRET_LEFT_OUT
        if rule == "report":
            kind = SECRET_PUBLISHED
        elif rule == "reject" or secret.path == snapshot.skill_md_name:
            kind = SECRET_REFUSED
        else:
            secrets[secret.path] = secret
        message = f"{secret.path} {secret.detail}."
        problems.append(kind.at(message, path=secret.path, line=secret.line))
    files = tuple(file for file in snapshot.files if file.path not in secrets)
    left_out = (LeftOutFile(path, "secret", secret.detail) for path, secret in secrets.items())
    return snapshot._replace(
        files=files,
        digest=digest(files) if snapshot.digest else None,
        problems=tuple(problems),
        left_out=tuple(sorted((*snapshot.left_out, *left_out))),
    )


def digest(files: Iterable[FileEntry]) -> str:
    """Return `sha256:<hex>` over the manifest of (path, mode, size, sha256), sorted by path.

    A path is preceded by its length in bytes, so no two manifests spell the same bytes.
    """
    manifest = "".join(
        f"{len(path.encode())}:{path}{mode:o}:{size}:{sha256}\n"
        for path, size, sha256, mode, *_ in sorted(files, key=attrgetter("path"))
    )
    return f"sha256:{hashlib.sha256(manifest.encode()).hexdigest()}"


def fingerprint(
    entries: Iterable[tuple[str, os.stat_result]],
    problems: Sequence[Finding] = (),
    left_out: Sequence[LeftOutFile] = (),
) -> str:
    """Return 32 hex digits that change when a file's stat signature or a problem changes.

    It also changes with the names that are left out, but not with their contents.

    entries are (relative path, stat) of each file, sorted; a path contains no NUL.
    """
    lines = [
        f"{path}\0{stat.st_size} {stat.st_mode} {stat.st_mtime_ns} {stat.st_ctime_ns} "
        f"{stat.st_ino}\n"
        for path, stat in entries
    ]
    lines += [f"\0{problem.code}\0{problem.path}\0{problem.message}\n" for problem in problems]
    lines += [f"\0\0{file.path}\0{file.detail}\n" for file in left_out]
    return hashlib.blake2b("".join(lines).encode(), digest_size=16).hexdigest()


def kind_of(path: str, skill_md_name: str | None) -> FileKind:
    """Return the role of a file in a skill, by its path."""
    if path == skill_md_name:
        return "skill_md"
    folder, slash, _ = path.partition("/")
    if not slash:
        return _kind_beside_skill_md(path.lower())
    if path.startswith("assets/templates/"):
        return "template"
    return _KIND_BY_FOLDER.get(folder, "other")


def _kind_beside_skill_md(name: str) -> FileKind:
    if name.endswith(_CONFIG_ENDINGS):
        return "config"
    stem, _, _ = name.rpartition(".")
    is_reference = name.endswith(_MARKDOWN_ENDINGS) and stem not in _NOT_REFERENCES
    return "reference" if is_reference else "other"
