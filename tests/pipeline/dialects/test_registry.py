from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from catalog.model.declarations import RECORDS
from catalog.model.fields import Fields, Share, Words
from catalog.model.finding import IF_STRICT, NEVER, OURS, Finding, FindingType
from catalog.model.skill import Place, Rejection, SkillRecord, Verdict
from catalog.model.values import Acceptance
from pipeline.dialects.registry import OF_PROFILES, dialects, profiles, profiles_named
from pipeline.parsing.document import parse
from pipeline.roots.local.folder import Folder
from pipeline.roots.source import DEFAULT_LIMITS
from pipeline.validation.profile import Dialect, Profile
from pipeline.validation.skill import Skill
from pipeline.validation.verdict import assess, verdict_of
from tests.support import roots
from tests.support.skills import SkillWriter

SAD = FindingType("sad", "error", "tiny", IF_STRICT, "It is sad.", "Cheer up.", OURS)
TOO_HEAVY = FindingType("too-heavy", "warning", "tiny", NEVER, "It is heavy.", "Mend it.", OURS)


@dataclass(frozen=True)
class Mood:
    """The record of the second dialect."""

    words: tuple[str, ...]


class TinyFields(Fields):
    """The fields of the second dialect."""

    mood: Words = ()
    weight: Share = None


def mood_is_not_sad(skill: Skill) -> Iterator[Finding]:
    """Find a sad mood."""
    if "sad" in skill.declaration.of(TinyFields).mood:
        yield skill.finding(SAD, field="mood")


def weight_fits(skill: Skill) -> Iterator[Finding]:
    """Find a weight of the wrong type."""
    for mismatch in skill.declaration.mismatches:
        yield skill.finding(TOO_HEAVY, mismatch.message, field=mismatch.field)


TINY = Dialect(
    owner="Tiny",
    profile=Profile("tiny", (SAD, TOO_HEAVY), (mood_is_not_sad, weight_fits)),
    model=TinyFields,
    fields=frozenset({"mood", "weight"}),
    record=lambda declared: Mood(declared.mood) if declared.mood else None,
    priority=lambda declared: declared.weight,
)


def judged(folder: Path, *profiles: Profile, acceptance: Acceptance = "lenient") -> Verdict:
    """Return the verdict on a folder where the second dialect is registered, too."""
    (found,) = roots.walk(folder.parent, folder.name, DEFAULT_LIMITS)
    assert isinstance(found, Folder)
    snapshot = roots.read(folder.parent, found, DEFAULT_LIMITS)
    assert snapshot
    parsed, place = parse(snapshot.skill_md), Place(str(folder.parent), folder.name, "project")
    assessed = assess(
        snapshot,
        parsed,
        place,
        acceptance=acceptance,
        profiles=profiles,
        dialects=(*dialects(), TINY),
    )
    return verdict_of(assessed, snapshot, parsed, place)


def messages(verdict: Verdict) -> dict[str, str]:
    """Return the message of each finding, by its code."""
    return {finding.code: finding.message for finding in verdict.findings}


def test_a_second_dialect_is_one_value(skill: SkillWriter, tmp_path: Path) -> None:
    """Its fields and record are read, its rule is checked, and messages name its owner."""
    folder = skill(tmp_path / "a", more="mood: sad, grey\nweight: 0.3")
    record = judged(folder, TINY.profile)
    assert isinstance(record, SkillRecord)
    assert record.dialects == {"tiny": Mood(("sad", "grey"))}
    assert record.priority == 0.3
    assert messages(record) == {"sad": "It is sad."}
    assert messages(judged(folder)) == {
        "field-not-in-specification": "2 fields not of the specification: mood, weight (Tiny)."
    }


@pytest.mark.requirement("own/package-fields")
def test_a_strict_root_takes_the_fields_of_the_dialect_that_it_asks_for(
    skill: SkillWriter, tmp_path: Path
) -> None:
    """The dialect's fields are accepted if its profile is on, and its own errors reject."""
    good = skill(tmp_path / "good", more="mood: glad")
    assert isinstance(judged(good, acceptance="strict"), Rejection)
    assert isinstance(judged(good, TINY.profile, acceptance="strict"), SkillRecord)
    bad = skill(tmp_path / "bad", more="mood: sad")
    assert isinstance(judged(bad, TINY.profile, acceptance="strict"), Rejection)


def test_a_mismatch_is_reported_by_the_dialect_that_is_asked(
    skill: SkillWriter, tmp_path: Path
) -> None:
    """A wrong type is a finding of the dialect if its profile is on, and no finding otherwise."""
    folder = skill(tmp_path / "a", more="weight: 9")
    assert set(messages(judged(folder, TINY.profile))) == {"too-heavy"}
    assert set(messages(judged(folder))) == {"field-not-in-specification"}


def test_dialects_leave_one_another_alone(skill: SkillWriter, tmp_path: Path) -> None:
    """A skill may declare something for two systems, and each has its record."""
    folder = skill(tmp_path / "a", more="mood: glad\ncapabilities: [read]\ntags: [x]")
    record = judged(folder)
    assert isinstance(record, SkillRecord)
    assert set(record.dialects) == {"apexbridge", "tiny"}
    assert record.tags == ("x",)


def test_the_finding_types_are_those_of_the_profiles() -> None:
    """They are listed apart, as a scan of unchanged folders needs no rules."""
    assert list(OF_PROFILES.items()) == [(name, p.types) for name, p in profiles().items()]


def test_every_registered_dialect_has_its_rows() -> None:
    """A dialect's record reaches the catalog."""
    assert {dialect.profile.name for dialect in dialects()} == set(RECORDS)


def test_a_profile_that_does_not_exist_is_an_error() -> None:
    """A misspelt profile raises an error."""
    assert profiles_named(("spec", "apexbridge")) == (profiles()["spec"], profiles()["apexbridge"])
    with pytest.raises(KeyError):
        profiles_named(("spce",))
