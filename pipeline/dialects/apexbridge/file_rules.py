"""Rules of ApexBridge about the files of a package."""

from collections.abc import Iterator
from itertools import islice
from posixpath import normpath, splitext

from catalog.model.finding import Finding
from catalog.text.quoting import quoted
from pipeline.dialects.apexbridge.codes import (
    CODE_OUTSIDE_SCRIPTS,
    ENTRY_MISSING,
    ENTRY_NOT_SCRIPT,
    FOLDER_UNKNOWN,
    RESOURCE_MISSING,
    RESOURCE_OUTSIDE_FOLDER,
    SCRIPT_MISSING,
)
from pipeline.dialects.apexbridge.fields import ApexBridgeFields
from pipeline.roots.native_files import may_be_native
from pipeline.validation.skill import File, Rule, Skill

SCRIPTS = "scripts/"
FOLDERS = ("scripts", "references", "assets", "tests", "config")
CODE = frozenset(
    """
    .bat .bash .cjs .cmd .cts .fish .go .java .js .jsx .ksh .lua .mjs .mts .php .pl .ps1 .py .r
    .rb .rs .sh .swift .ts .tsx .zsh
""".split()
)
"""File endings of source code for interpreters and compilers."""

MOST_ALIKE = 10
"""Number of findings of one code that are listed individually."""

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")  # only types, which are not executed


def script_exists(skill: Skill) -> Iterator[Finding]:
    """Find an empty scripts/, or several scripts without an entry."""
    if not skill.is_whole:
        return
    resources = skill.declaration.of(ApexBridgeFields).resources
    entries = [
        file.path
        for file in skill.files
        if file.path.startswith(SCRIPTS) and file.path.count("/") == 1 and _is_code(file)
    ]
    if not any(file.path.startswith(SCRIPTS) for file in skill.files):
        yield SCRIPT_MISSING.at(path=skill.document, line=1)
    elif resources and not resources.entry and len(entries) > 1:
        yield skill.finding(
            ENTRY_MISSING,
            f"The package has {len(entries)} scripts, but resources.entry names none of them.",
            field="resources",
            fix=f"Name one of them: entry: ./{entries[0]}.",
        )


def resources_exist(skill: Skill) -> Iterator[Finding]:
    """Find resources that are absolute, outside the folder or missing."""
    paths = {file.path for file in skill.files}
    paths |= {path[:end] for path in paths for end, c in enumerate(path) if c == "/"}
    for field, written in _resources(skill):
        path = normpath(written.replace("\\", "/"))
        if _leaves(written, path):
            yield skill.finding(
                RESOURCE_OUTSIDE_FOLDER,
                f"{field} is {quoted(written)}, which is not inside the skill's folder.",
                field=field,
            )
        elif skill.is_whole and path not in paths:
            yield skill.finding(
                RESOURCE_MISSING,
                f"{field} names {quoted(written)}, which does not exist.",
                field=field,
            )
        elif field == "resources.entry" and not path.startswith(SCRIPTS):
            yield skill.finding(
                ENTRY_NOT_SCRIPT,
                f"resources.entry is {quoted(written)}, which is not under scripts/.",
                field=field,
            )


def code_is_in_scripts(skill: Skill) -> Iterator[Finding]:
    """Find executable code outside scripts/ and tests/."""
    stray = (
        file
        for file in skill.files
        if not file.path.startswith((SCRIPTS, "tests/")) and _is_code(file)
    )
    for file in islice(stray, MOST_ALIKE):
        yield CODE_OUTSIDE_SCRIPTS.at(path=file.path)


def folders_are_known(skill: Skill) -> Iterator[Finding]:
    """Find folders that the package layout does not define."""
    folders = dict.fromkeys(file.path.partition("/")[0] for file in skill.files if "/" in file.path)
    for folder in islice((name for name in folders if name not in FOLDERS), MOST_ALIKE):
        yield FOLDER_UNKNOWN.at(
            f"The package layout defines no folder {quoted(folder)}, so its purpose is unknown.",
            path=folder,
        )


RULES: tuple[Rule, ...] = (
    script_exists,
    resources_exist,
    code_is_in_scripts,
    folders_are_known,
)


def _is_code(file: File) -> bool:
    """Return whether a file is executable code, by its ending or, if it is binary, its bytes."""
    if splitext(file.path)[1].lower() in CODE:
        return not file.path.lower().endswith(_DECLARATIONS)
    return not file.is_text and may_be_native(file.path, file.mode)


def _resources(skill: Skill) -> Iterator[tuple[str, str]]:
    """Yield each path that resources names, with its field."""
    resources = skill.declaration.of(ApexBridgeFields).resources
    if resources is None:
        return
    if resources.entry:
        yield "resources.entry", resources.entry
    for field, paths in (
        ("helpers", resources.helpers),
        ("references", resources.references),
        ("assets", resources.assets),
    ):
        for path in paths:
            yield f"resources.{field}", path


def _leaves(written: str, path: str) -> bool:
    return (
        path.startswith(("/", "../", "~"))
        or path in ("..", ".")
        or written[1:2] == ":"
        or "://" in written
    )
