"""Validation of skills for their authors, without a catalog."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from catalog.model import paths as model_paths
from catalog.model.finding import Finding
from catalog.model.skill import FileEntry, Place
from catalog.model.values import Acceptance, Json, SecretRule
from pipeline import processes
from pipeline.authoring.targets import (
    NAMED,
    Patterns,
    SearchedPlace,
    has_file_of_other,
    is_excluded,
    opened,
    target_of,
)
from pipeline.config import selection
from pipeline.config.selection import CodeSelection
from pipeline.dialects.registry import dialects, profiles_named
from pipeline.parsing.document import parse
from pipeline.roots import internal_errors
from pipeline.roots.codes import SKILL_MD_MISSING
from pipeline.roots.file_kinds import SKILL_MD
from pipeline.roots.local.folder import Folder, LooseFinding, Result
from pipeline.roots.snapshot import Snapshot, without_secrets
from pipeline.roots.source import Source, is_skill_folder, open_source
from pipeline.validation.codes import FOLDER_UNREADABLE, PLACEHOLDER_TEXT
from pipeline.validation.verdict import assess

_TRIES = 3  # readings of a folder that keeps changing
_ENTRIES_IN_A_PIECE = 16  # of work


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict and findings for one skill folder, or for a path that resembles one."""

    path: str  # as given by the author, as text
    name: str | None  # None if it is no skill
    spec_valid: bool
    loadable: bool
    findings: tuple[Finding, ...]
    document: str | None = None  # name of its SKILL.md …
    text: str = ""  # … and its text, if a finding has a line
    ignored: int = 0  # findings left out by comments
    notes: tuple[str, ...] = ()  # about the comments: "SKILL.md:3: the comment names …"
    description: str = ""  # of a skill that would be accepted
    files: tuple[FileEntry, ...] = ()
    acceptance: Acceptance = "lenient"  # by which it is loadable or not
    fixable: tuple[Finding, ...] = ()  # findings that `validate --fix` would mend

    @property
    def on_disk(self) -> Path | None:
        """SKILL.md of the skill, which may not exist; None in an archive."""
        if model_paths.archive_of(self.path):
            return None
        return Path(model_paths.os_path(self.path), self.document or SKILL_MD)

    @property
    def is_template(self) -> bool:
        """Whether its description is the text of a template, which nobody replaced."""
        return any(
            finding.code == PLACEHOLDER_TEXT.code and finding.field == "description"
            for finding in self.findings
        )

    def place(self, finding: Finding) -> str:
        """Return the path of the file that a finding is about, or of the folder."""
        return self._inside(finding.path)

    def file(self, finding: Finding) -> str:
        """Return the path of the file that a finding is about; for the folder, its SKILL.md."""
        return self._inside(finding.path or self.document)

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "path": self.path,
            "name": self.name,
            "spec_valid": self.spec_valid,
            "loadable": self.loadable,
            "findings": [finding.as_json() for finding in self.findings],
        }

    def _inside(self, path: str | None) -> str:
        if not path:
            return self.path
        return path if self.path == "." else f"{self.path}/{path}"


def judge_paths(
    paths: Iterable[Path],
    *,
    acceptance: Acceptance = "lenient",
    profiles: Sequence[str] = ("spec",),
    select: CodeSelection | None = None,
    exclude: Patterns = (),
    secrets: SecretRule = "leave-out",
    cores: int | None = None,
) -> Iterator[Judgement]:
    """Return the judgement of every skill at or below the paths, each skill once.

    A path is a skill folder, a tree of them, an archive, or a SKILL.md, which stands for its
    folder without nested skills. `select` takes precedence over `profiles`; `exclude` has patterns
    of skills to leave out. Skills are judged during iteration, by default on every core, in an
    order that does not depend on `cores`; their findings are sorted by path and line, after those
    that reject the skill. Raises RootUnreadable at once for a path of another kind, and during
    iteration for a path that cannot be listed.
    """
    targets = [target_of(path) for path in paths]
    select = select or selection.of_profiles(profiles)
    return _judgements(targets, _Judge(acceptance, select, exclude, secrets), cores)


def judge_text(
    data: bytes, file: Path, *, acceptance: Acceptance, select: CodeSelection
) -> Judgement:
    """Return the judgement of a skill as if its SKILL.md, `file`, had these bytes.

    The other files of its folder count, if the folder exists.
    """
    folder = Path(os.path.realpath(file.parent))
    path = model_paths.text_path(folder.name)
    target = SearchedPlace(model_paths.text_path(str(file.parent)), folder.parent, path, True)
    document = FileEntry(file.name, len(data), "", 0o644, "skill_md", is_text=True)
    snapshot = Snapshot(path, file.name, data, (document,), "", "", ())
    if is_skill_folder(folder):
        with open_source(folder.parent, NAMED) as source:
            known = source.folder(path)
            snapshot = (known and source.read(known)) or snapshot
    words = {at: of_file for at, of_file in snapshot.words.items() if at in snapshot.texts}
    edited = snapshot._replace(skill_md=data, skill_md_name=file.name, words=words)
    judge = _Judge(acceptance, select, (), "leave-out")
    return judge.of_snapshot(target, path, without_secrets(edited, "leave-out"), file.name)


_Step: TypeAlias = tuple[SearchedPlace, Result]  # a target and an entry of it
_Result: TypeAlias = tuple[str, Judgement | None]  # the real path, which identifies a skill


@dataclass(frozen=True, slots=True)
class _Judge:
    """Options for judging skills, sent to every process."""

    acceptance: Acceptance
    select: CodeSelection
    exclude: Patterns
    secrets: SecretRule

    def judge(self, steps: Sequence[_Step]) -> list[list[_Result]]:
        """Return the results of each entry. The steps of a target share its open root."""
        results: list[list[_Result]] = []
        for target, of_target in groupby(steps, itemgetter(0)):
            with open_source(target.root, target.limits) as source:
                results += [list(self._at(target, source, found)) for _, found in of_target]
        return results

    def _at(self, target: SearchedPlace, source: Source, found: Result) -> Iterator[_Result]:
        for entry in opened(found):
            real = f"{target.root}/{entry.path}"
            is_left_out = is_excluded(self.exclude, real.rstrip("/"), target.named)
            yield real, None if is_left_out else self._judgement(target, source, entry)

    def _judgement(
        self, target: SearchedPlace, source: Source, entry: Folder | LooseFinding
    ) -> Judgement | None:
        """Judge an entry; None if it has vanished."""
        if isinstance(entry, LooseFinding):
            return self._rejected(target, entry.path, None, entry.finding)
        name = entry.path.rpartition("/")[2]
        folder: Folder | None = entry
        for _ in range(_TRIES):
            if folder is None:
                return None
            try:
                if snapshot := source.read(folder):
                    published = without_secrets(snapshot, self.secrets)
                    return self.of_snapshot(target, folder.path, published, folder.skill_md_name)
            except Exception as error:  # noqa: BLE001  # other folders go on
                finding = internal_errors.noted(target.full_name(folder.path), error)
                return self._rejected(target, folder.path, name, finding)
            folder = source.folder(entry.path)
        changing = FOLDER_UNREADABLE.at(
            "The folder kept changing while it was read.",
            fix="Validate it again when nothing writes to it.",
        )
        return self._rejected(target, entry.path, name, changing)

    def of_snapshot(
        self, target: SearchedPlace, folder: str, snapshot: Snapshot, document: str | None
    ) -> Judgement:
        """Judge a snapshot of a folder, which may be missing, with this SKILL.md."""
        name = snapshot.skill_md_name
        parsed = parse(snapshot.skill_md, name) if name else None
        assessed = assess(
            snapshot,
            parsed,
            Place(str(target.root), folder, "project"),
            acceptance=self.acceptance,
            profiles=profiles_named(self.select.profiles),
            dialects=dialects(),
            in_other_skill=partial(has_file_of_other, target.root, folder),
        )
        real = f"{target.root}/{folder}"
        selected = tuple(self.select.apply(assessed.findings, real, document or SKILL_MD))
        reported, notes = selected, list[str]()
        if parsed and self.select.comments:
            texts = {document or SKILL_MD: parsed.text, **snapshot.texts}
            reported, notes = selection.without_commented(selected, texts, document)
        return Judgement(
            target.full_name(folder),
            assessed.name,
            assessed.spec_valid,
            assessed.skill is not None,
            reported,
            document,
            parsed.text if parsed and any(finding.line for finding in reported) else "",
            len(selected) - len(reported),
            tuple(notes),
            assessed.description,
            snapshot.files,
            self.acceptance,
        )

    def _rejected(
        self, target: SearchedPlace, path: str, name: str | None, finding: Finding
    ) -> Judgement:
        """Return a judgement with one finding."""
        found = self.select.apply((finding,), f"{target.root}/{path}", SKILL_MD)
        return Judgement(target.full_name(path), name, False, False, tuple(found))


def _judgements(
    targets: Sequence[SearchedPlace], judge: _Judge, cores: int | None
) -> Iterator[Judgement]:
    planned = [(target, target.entries()) for target in targets]
    steps = [(target, entry) for target, entries in planned for entry in entries]
    pieces = [
        steps[start : start + _ENTRIES_IN_A_PIECE]
        for start in range(0, len(steps), _ENTRIES_IN_A_PIECE)
    ]
    judged: set[str] = set()  # real paths
    with processes.at_work(judge.judge, pieces, cores) as found:
        results = chain.from_iterable(found)
        for target, entries in planned:
            is_empty = True
            for of_entry in islice(results, len(entries)):
                is_empty = is_empty and not of_entry
                for real_path, judgement in of_entry:
                    if judgement and real_path not in judged:
                        judged.add(real_path)
                        yield judgement
            if is_empty:
                yield Judgement(
                    target.full_name(target.under), None, False, False, (SKILL_MD_MISSING.at(),)
                )
