"""Conversion of older layouts to packages of a dialect, in new folders or in place."""

import os
import tempfile
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from catalog.model import paths as model_paths
from catalog.model.errors import NotPossible
from catalog.model.finding import Finding
from catalog.model.values import Json
from pipeline.authoring.atomic_replace import built_beside, exchange, put
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.authoring.targets import SearchedPlace, target_of
from pipeline.roots.codes import SKILL_MD_MISSING
from pipeline.roots.local.folder import Folder, LooseFinding
from pipeline.roots.snapshot import Snapshot
from pipeline.roots.source import open_source
from pipeline.validation.codes import FOLDER_UNREADABLE
from pipeline.validation.profile import Dialect, OldLayout, Plan


@dataclass(frozen=True, slots=True)
class ConversionOptions:
    """Target dialect and options of a conversion."""

    dialect: Dialect[Any]
    output: Path | None = None  # for new folders; None converts in place
    dry_run: bool = False
    validate: bool = False


@dataclass(frozen=True, slots=True)
class ConversionResult:
    """Result of converting one folder, or of a dry run."""

    path: str
    output: str  # path of the package
    plan: Plan = field(default_factory=Plan)
    backup: str | None = None
    judgement: Judgement | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "path": self.path,
            "output": self.output,
            "migrated": not self.plan.refused,
            "steps": self.plan.steps,
            "findings": [finding.as_json() for finding in self.plan.findings],
            "backup": self.backup,
            "validated": self.judgement.as_json() if self.judgement else None,
        }


def migrate_paths(paths: Sequence[Path], options: ConversionOptions) -> Iterator[ConversionResult]:
    """Convert every skill folder at or below the paths, lazily.

    The plan of a folder that cannot be converted contains the reason. Raises RootUnreadable and
    NotPossible; at once if a path is unsuitable.
    """
    targets = [target_of(path) for path in paths]
    for target in targets:
        if options.output and options.output.resolve().is_relative_to(target.named):
            raise NotPossible(
                f"The output {options.output} is inside {target.name}, which is to be converted; "
                "choose another with --output."
            )
    return chain.from_iterable(_below(target, options) for target in targets)


def _below(target: SearchedPlace, options: ConversionOptions) -> Iterator[ConversionResult]:
    entries = target.entries()  # all at once, because conversion creates folders
    for entry in entries:
        if isinstance(entry, Folder):
            yield _converted(target.root, entry, options)
            continue
        path = str(target.root / model_paths.os_path(entry.path.removesuffix("!")))
        finding = entry.finding if isinstance(entry, LooseFinding) else _ARCHIVE
        yield _refused(ConversionResult(path, path), finding)
    if not entries:
        yield _refused(ConversionResult(target.named, target.named), SKILL_MD_MISSING.at())


_ARCHIVE = FOLDER_UNREADABLE.at(
    "Archives cannot be converted.", fix="Unpack the archive and convert its folder."
)
_CHANGING = FOLDER_UNREADABLE.at(
    "The folder kept changing during the conversion and is left as it is.",
    fix="Convert it again when nothing writes to it.",
)


def _refused(conversion: ConversionResult, *findings: Finding) -> ConversionResult:
    return replace(conversion, plan=Plan(findings=findings, refused=True))


def _converted(root: Path, folder: Folder, options: ConversionOptions) -> ConversionResult:
    source = root / model_paths.os_path(folder.path)
    place = options.output / model_paths.os_path(folder.path) if options.output else source
    conversion = ConversionResult(str(source), str(place))
    with open_source(root) as opened:
        snapshot = opened.read(folder)
    if snapshot is None:
        return _refused(conversion, _CHANGING)
    if snapshot.digest is None or snapshot.skill_md_name is None:
        return _refused(conversion, *snapshot.problems)
    dialect = options.dialect
    plan = dialect.planned(_old(snapshot, source, dialect.read_for_plan))
    conversion = replace(conversion, plan=plan)
    if plan.refused or (not plan.changes_something and place == source):
        return _judged(conversion, source, options)
    if options.dry_run and not options.validate:
        return conversion
    try:
        return _carried_out(conversion, source, options)
    except OSError as error:
        reason = error.strerror or error
        raise NotPossible(f"{source} was not converted and is unchanged: {reason}.") from error


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
    conversion: ConversionResult, source: Path, options: ConversionOptions
) -> ConversionResult:
    """Build the package beside its place, and move it there; a dry run builds it elsewhere."""
    place = Path(conversion.output)
    beside = Path(tempfile.gettempdir(), source.name) if options.dry_run else place
    with built_beside(beside, source) as built:
        _change(built, conversion.plan)
        if options.dry_run:
            return _judged(conversion, built, options)
        if options.output is None:
            conversion = replace(conversion, backup=str(exchange(built, place)))
        elif os.path.lexists(place):
            if _contents(built) != _contents(place):
                raise NotPossible(
                    f"{place} exists already with other content; remove it or choose another "
                    "--output."
                )
            conversion = replace(conversion, plan=Plan())
        else:
            put(built, place)
    return _judged(conversion, place, options)


def _change(built: Path, plan: Plan) -> None:
    """Carry out a plan in a copy of the folder."""
    for path in (*plan.moves, *plan.moves.values(), *plan.writes):
        for parent in Path(model_paths.os_path(path)).parents:
            if parent != Path() and (built / parent).is_symlink():
                raise OSError(f"{path} is behind a link, which may lead anywhere")
    for old, new in plan.moves.items():
        os.rename(built / model_paths.os_path(old), built / model_paths.os_path(new))
    for name in plan.folders:
        (built / name).mkdir(exist_ok=True)
    for path, content in plan.writes.items():
        target = built / model_paths.os_path(path)
        target.parent.mkdir(exist_ok=True)
        if target.is_symlink():
            target.unlink()  # its target must not change
        target.write_bytes(content)


def _contents(folder: Path) -> dict[str, bytes | str | None]:
    """Return the content of each file, the target of each link, and None for each folder."""
    contents: dict[str, bytes | str | None] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            contents[name] = os.readlink(path)
        else:
            contents[name] = path.read_bytes() if path.is_file() else None
    return contents


def _judged(
    conversion: ConversionResult, built: Path, options: ConversionOptions
) -> ConversionResult:
    if not options.validate or conversion.plan.refused:
        return conversion
    judgement = next(iter(judge_paths([built], profiles=[options.dialect.profile.name])))
    return replace(conversion, judgement=replace(judgement, path=conversion.output))
