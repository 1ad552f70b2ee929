"""Judgement of one skill folder: it is read, parsed and validated."""

import time
from datetime import UTC, datetime

from catalog.database import sql
from catalog.model.change import Judged, StepTrace
from catalog.model.naming import qualified_name, skill_id
from catalog.model.skill import Place, RootSpec, SkillRecord
from catalog.model.values import Json
from catalog.text.humanize import iso
from pipeline.dialects.registry import dialects, profiles_named
from pipeline.parsing.document import parse
from pipeline.roots import internal_errors
from pipeline.roots.local.folder import Folder, failure
from pipeline.roots.source import Source
from pipeline.roots.withholding import without_secrets
from pipeline.service.scanning.results import Unsettled, place_of
from pipeline.validation.verdict import judge


def judge_folder(
    spec: RootSpec, source: Source, folder: Folder, place: Place | None = None
) -> Judged | Unsettled:
    """Read, parse and validate one folder; Unsettled if it changes meanwhile or is unreadable.

    With a place, it is judged as the content of that one.
    """
    place = place or place_of(spec, folder.path, is_alias=folder.is_alias)
    try:
        return _judge(spec, source, folder, place)
    except Exception as error:  # noqa: BLE001  # other folders go on
        name = folder.path.rpartition("/")[2]
        verdict = internal_errors.rejection(
            place,
            skill_id(name, place.namespace, folder.path),
            qualified_name(name, place.namespace),
            folder.fingerprint,
            error,
        )
        return Judged(verdict, "[]", _now(), 0.0)


def _judge(spec: RootSpec, source: Source, folder: Folder, place: Place) -> Judged | Unsettled:
    steps = _Steps()
    snapshot = source.read(folder)
    if snapshot is None or (reason := failure(snapshot.problems)):
        return Unsettled(folder.path, reason if snapshot else None)
    snapshot = without_secrets(snapshot, spec.secrets)
    steps.add(
        "read",
        folder.path,
        {"files": len(snapshot.files), "bytes": sum(f.size for f in snapshot.files)},
    )
    parsed = None
    if snapshot.skill_md_name:
        parsed = parse(snapshot.skill_md, snapshot.skill_md_name)
        steps.add("parse", snapshot.skill_md_name, {"findings": len(parsed.findings)})
    verdict = judge(
        snapshot,
        parsed,
        place,
        acceptance=spec.acceptance,
        profiles=profiles_named(spec.profiles),
        dialects=dialects(),
    )
    steps.add(
        "validate",
        spec.profiles,
        {"accepted": isinstance(verdict, SkillRecord), "findings": len(verdict.findings)},
    )
    return Judged(verdict, steps.as_json(), steps.started_at, steps.total_ms)


class _Steps:
    """Step traces of one folder; each step starts at the end of the previous one."""

    def __init__(self) -> None:
        self.started_at = _now()
        self._traces: list[StepTrace] = []
        self._first = self._last = time.perf_counter()

    def add(self, name: str, step_input: Json, output: Json) -> None:
        now = time.perf_counter()
        self._traces.append(
            StepTrace(
                step_id=str(len(self._traces) + 1),
                step_name=name,
                timestamp=_now(),
                duration=round((now - self._last) * 1000, 3),
                input=step_input,
                output=output,
            )
        )
        self._last = now

    def as_json(self) -> str:
        return sql.to_json([trace.as_json() for trace in self._traces])

    @property
    def total_ms(self) -> float:
        return round((self._last - self._first) * 1000, 3)


def _now() -> str:
    return iso(datetime.now(UTC))
