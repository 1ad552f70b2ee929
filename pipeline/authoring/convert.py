"""Conversion of older layouts to packages of a dialect, beside them or in their place."""

import difflib
import os
import shutil
import tempfile
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from catalog.model import paths as model_paths
from catalog.model.errors import MigrationFailed, RootUnreadable
from catalog.model.finding import Finding
from catalog.model.values import Json
from pipeline.authoring.atomic_replace import built_beside, exchange, put
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.parsing.decoding import decode
from pipeline.roots import reader
from pipeline.roots.codes import SKILL_MD_MISSING
from pipeline.roots.local import walk as local_walk
from pipeline.roots.local.descent import LooseFinding
from pipeline.roots.local.folder import Folder
from pipeline.roots.local.walk import DEFAULT_LIMITS
from pipeline.roots.snapshot import Snapshot
from pipeline.validation.codes import FOLDER_UNREADABLE
from pipeline.validation.conversion import OldLayout, Plan
from pipeline.validation.dialect import Dialect


@dataclass(frozen=True, slots=True)
class ConversionOptions:
    """The dialect to convert to, and what is wanted beside the steps themselves."""

    dialect: Dialect[Any]
    output: Path | None = None  # where new folders go; None puts them in the place of the old
    dry_run: bool = False
    validate: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one folder, or would."""

    path: str
    output: str  # where the package is, or would be
    plan: Plan
    diff: str = ""
    backup: str | None = None
    judgement: Judgement | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "path": self.path,
            "output": self.output,
            "migrated": not self.plan.refused,
            "steps": self.plan.steps,
            "findings": [f.as_json() for f in self.plan.findings],
            "diff": self.diff or None,
            "backup": self.backup,
            "validated": self.judgement.as_json() if self.judgement else None,
        }


def migrate_paths(paths: Sequence[Path], how: ConversionOptions) -> Iterator[Conversion]:
    """Migrate every skill folder at or below the paths, while one iterates.

    One that cannot be migrated is a Migration whose plan says why. Raises RootUnreadable and
    MigrationFailed, at once where the paths are wrong.
    """
    targets = [_target(path) for path in paths]
    for path, (root, under) in zip(paths, targets, strict=True):
        if how.output and (how.output.resolve()).is_relative_to(root / under):
            raise MigrationFailed(
                f"The output {how.output} lies inside {path}, which is migrated; "
                "name another with --output."
            )
    return (each for root, under in targets for each in _below(root, under, how))


def _target(path: Path) -> tuple[Path, str]:
    """Return a root and the path in it; a skill folder is looked at from the one it lies in."""
    real = Path(os.path.realpath(path))
    if not real.is_dir():
        raise RootUnreadable(f"{model_paths.text_path(str(path))} is not a folder.")
    return (
        (real.parent, model_paths.text_path(real.name))
        if reader.is_skill_folder(real)
        else (real, "")
    )


def _below(root: Path, under: str, how: ConversionOptions) -> Iterator[Conversion]:
    found = list(
        local_walk.walk(root, under, DEFAULT_LIMITS)
    )  # all at once: migrating makes folders
    for each in found:
        if isinstance(each, LooseFinding):
            named = f"{root}/{each.path}"
            yield Conversion(named, named, Plan(findings=(each.finding,), refused=True))
        elif isinstance(each, Folder):
            yield _migrated(root, each, how)
        else:
            archive = root / model_paths.os_path(each.path.removesuffix("!"))
            yield _refused(
                archive,
                archive,
                FOLDER_UNREADABLE.at(
                    "An archive is not migrated.",
                    fix="Unpack it, and migrate its folder.",
                ),
            )
    if not found:
        yield Conversion(
            str(root), str(root), Plan(findings=(SKILL_MD_MISSING.at(),), refused=True)
        )


def _migrated(root: Path, folder: Folder, how: ConversionOptions) -> Conversion:
    source = root / model_paths.os_path(folder.path)
    place = how.output / model_paths.os_path(folder.path) if how.output else source
    snapshot = reader.read(root, folder, DEFAULT_LIMITS)
    if snapshot is None:
        return _refused(
            source,
            place,
            FOLDER_UNREADABLE.at(
                "The folder kept changing while it was read.",
                fix="Migrate it again when nothing writes to it.",
            ),
        )
    if snapshot.digest is None or snapshot.skill_md_name is None:
        return _refused(source, place, *snapshot.problems)
    conversion = how.dialect.conversion
    todo = conversion.plan(_old(snapshot, source, conversion.reads))
    migration = Conversion(str(source), str(place), todo, diff=_diff(snapshot, todo))
    if todo.refused or (not todo.changes_something and place == source):
        return _judged(migration, source, how)
    try:
        return _carried_out(migration, root, folder, source, place, how)
    except (OSError, shutil.Error) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise MigrationFailed(f"{source} was not migrated and is as it was: {said}.") from error


def _refused(source: Path, place: Path, *findings: Finding) -> Conversion:
    return Conversion(str(source), str(place), Plan(findings=findings, refused=True))


def _old(snapshot: Snapshot, source: Path, reads: Container[str]) -> OldLayout:
    return OldLayout(
        folder=model_paths.text_path(source.name),
        document=snapshot.skill_md_name or "",
        skill_md=snapshot.skill_md,
        files=frozenset(file.path for file in snapshot.files),
        folders=frozenset(entry.name for entry in os.scandir(source) if entry.is_dir()),
        texts={
            file.path: file.text
            for file in snapshot.files
            if file.path in reads and file.text is not None
        },
    )


def _carried_out(
    migration: Conversion,
    root: Path,
    folder: Folder,
    source: Path,
    place: Path,
    how: ConversionOptions,
) -> Conversion:
    if how.dry_run:
        if not how.validate:
            return migration
        with tempfile.TemporaryDirectory(prefix="skilldrop-") as scratch:
            built = Path(shutil.copytree(source, Path(scratch) / source.name, symlinks=True))
            _change(built, migration.plan)
            return _judged(migration, built, how)

    def still_same() -> bool:
        now = reader.look(root, folder.path, DEFAULT_LIMITS)
        return now is not None and now.fingerprint == folder.fingerprint

    with built_beside(place, source) as built:
        _change(built, migration.plan)
        if place != source:
            if os.path.lexists(place):
                return _there_already(migration, built, place, how)
            if not still_same():
                return _changing(migration)
            put(built, place)
            return _judged(migration, place, how)
        backup = exchange(built, place, still_same)
    if backup is None:
        return _changing(migration)
    return _judged(replace(migration, backup=str(backup)), place, how)


def _change(built: Path, todo: Plan) -> None:
    """Carry out a plan in a copy."""
    for path in (*todo.moves, *todo.moves.values(), *todo.writes):
        for above in Path(model_paths.os_path(path)).parents:
            if above != Path() and (built / above).is_symlink():
                raise OSError(f"{path} lies behind a link, which may lead anywhere")
    for old, new in todo.moves.items():
        os.rename(built / model_paths.os_path(old), built / model_paths.os_path(new))
    for name in todo.folders:
        (built / name).mkdir(exist_ok=True)
    for path, content in todo.writes.items():
        target = built / model_paths.os_path(path)
        target.parent.mkdir(exist_ok=True)
        if target.is_symlink():
            target.unlink()  # what it leads to is not ours to change
        target.write_bytes(content)


def _changing(migration: Conversion) -> Conversion:
    return replace(
        migration,
        plan=Plan(
            refused=True,
            findings=(
                FOLDER_UNREADABLE.at(
                    "The folder changed while it was migrated, and is left as it is.",
                    fix="Migrate it again when nothing writes to it.",
                ),
            ),
        ),
    )


def _there_already(
    migration: Conversion, built: Path, place: Path, how: ConversionOptions
) -> Conversion:
    """Leave what an earlier run put there, if it is just that; else say so."""
    if _contents(built) != _contents(place):
        raise MigrationFailed(
            f"{place} is there already and holds something else; remove it, or "
            "name another --output."
        )
    return _judged(replace(migration, plan=Plan(), diff=""), place, how)


def _contents(folder: Path) -> dict[str, bytes | str | None]:
    """Return the content of each file, the target of each link, and None for each folder."""
    found: dict[str, bytes | str | None] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def _judged(migration: Conversion, built: Path, how: ConversionOptions) -> Conversion:
    if not how.validate or migration.plan.refused:
        return migration
    judgement = next(iter(judge_paths([built], profiles=[how.dialect.profile.name])))
    return replace(migration, judgement=replace(judgement, path=migration.output))


def _diff(snapshot: Snapshot, todo: Plan) -> str:
    """Return what changes in texts, as `diff -u` says it."""
    lines: list[str] = []
    for path, content in todo.writes.items():
        is_document = path == snapshot.skill_md_name
        before = decode(snapshot.skill_md)[0] if is_document else ""
        lines += difflib.unified_diff(
            before.splitlines(),
            content.decode().splitlines(),
            f"a/{path}" if is_document else "/dev/null",
            f"b/{path}",
            lineterm="",
        )
    return "\n".join(lines)
