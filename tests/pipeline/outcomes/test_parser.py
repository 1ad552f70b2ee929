"""Parsing of outcome files, and the findings about bad ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model.outcome import BadOutcome, JudgedOutcome, RunFile, RunOutcome
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.outcomes.parser import judge_outcome

SAMPLES = Path(__file__).parents[2] / "samples" / "outcomes"
FILE = RunFile("meetings/run-1.json", "0" * 64)
FAILED_STEP = {"stepId": "1", "stepName": "a", "duration": 1, "error": {}}
MEMORY = {"type": "fact", "importance": 3, "content": "Tea."}
OWNED = MEMORY | {"ownerType": "user", "ownerId": "anna"}
OF_THE_FOLDER = {"outcome-too-large", "outcome-unreadable"}


def judged(value: Any) -> JudgedOutcome:
    """Judge a value as JSON."""
    return judge_outcome(FILE, json.dumps(value).encode())


def taken(value: Any) -> RunOutcome:
    """Judge a value that is an outcome."""
    outcome = judged(value)
    assert isinstance(outcome, RunOutcome), outcome
    return outcome


@pytest.mark.parametrize("sample", sorted((SAMPLES / "bad").iterdir()), ids=lambda s: s.stem)
def test_a_sample_shows_exactly_its_finding(sample: Path) -> None:
    """One that is an error keeps the file out; a warning does not."""
    outcome = judge_outcome(FILE, sample.read_bytes())
    assert [finding.code for finding in outcome.findings] == [sample.stem]
    assert isinstance(outcome, BadOutcome) == (REGISTRY[sample.stem].severity == "error")


def test_every_code_has_a_sample_or_a_test_of_the_folder() -> None:
    """Registry and samples name the same codes."""
    registered = {code for code, kind in REGISTRY.items() if kind.profile == "outcome"}
    assert {sample.stem for sample in (SAMPLES / "bad").iterdir()} | OF_THE_FOLDER == registered


@pytest.mark.parametrize("sample", sorted((SAMPLES / "good").iterdir()), ids=lambda s: s.stem)
def test_a_good_sample_shows_nothing(sample: Path) -> None:
    """It is accepted without findings."""
    outcome = judge_outcome(FILE, sample.read_bytes())
    assert isinstance(outcome, RunOutcome)
    assert outcome.findings == ()


@pytest.mark.requirement("apexbridge/outcome-fields")
def test_a_direct_outcome_is_read_whole() -> None:
    """Every field is returned as written, with times in UTC."""
    outcome = judge_outcome(FILE, (SAMPLES / "good/direct.json").read_bytes())
    assert isinstance(outcome, RunOutcome)
    assert (outcome.form, outcome.status, outcome.failed) == ("outcome", "success", False)
    assert (outcome.output, outcome.format) == ({"text": "三个会议"}, "json")
    assert (outcome.tokens, outcome.warnings) == (876, ("one meeting has no end",))
    assert [(w.owner_type, w.owner_id, w.importance) for w in outcome.memory_writes] == [
        ("user", "anna", 4),
        ("household", "h7", 1),
    ]
    assert [(s.step_id, s.duration, s.timestamp) for s in outcome.steps] == [
        ("s1", 41.5, "2026-11-20T08:00:00.000+00:00"),
        ("s2", 0, "2026-11-20T08:00:01.000+00:00"),
    ]
    assert outcome.version == "20261120-080000"


@pytest.mark.requirement(
    "apexbridge/envelope", "apexbridge/envelope-scale", "apexbridge/envelope-owner"
)
@pytest.mark.parametrize(
    ("written", "importance"), [(0, 1), (0.1, 1), (0.25, 2), (0.5, 3), (0.75, 4), (0.9, 5), (1, 5)]
)
def test_the_envelope_decides_the_scale(written: float, importance: int) -> None:
    """1 in an ABP envelope is the most important; the written number is kept, too."""
    outcome = taken(
        {
            "id": "c",
            "tool": "t",
            "result": {
                "output": None,
                "memoryWrites": [{"type": "fact", "content": "c", "importance": written}],
            },
        }
    )
    assert (outcome.form, outcome.tool, outcome.call_id) == ("abp", "t", "c")
    (write,) = outcome.memory_writes
    assert (write.importance, write.importance_declared) == (importance, written)
    assert (write.owner_type, write.owner_id) == (None, None)


@pytest.mark.requirement("apexbridge/memory-owner-required")
def test_a_memory_outside_an_envelope_names_its_owner() -> None:
    """Both fields of the owner are required, and nothing else is asked for."""
    outcome = judged({"output": 1, "memoryWrites": [MEMORY]})
    assert [(finding.code, finding.field) for finding in outcome.findings] == [
        ("outcome-field-missing", "memoryWrites.0.ownerType"),
        ("outcome-field-missing", "memoryWrites.0.ownerId"),
    ]


@pytest.mark.requirement("apexbridge/memory-importance")
@pytest.mark.parametrize(
    ("written", "importance"), [(1, 1), (2.4, 2), (3.5, 4), (4, 4), (5, 5), (5.0, 5)]
)
def test_the_importance_of_an_owned_memory_is_a_number(written: float, importance: int) -> None:
    """It is stored as the nearest whole number, beside the written one."""
    (write,) = taken({"output": 1, "memoryWrites": [OWNED | {"importance": written}]}).memory_writes
    assert (write.importance, write.importance_declared) == (importance, written)


@pytest.mark.requirement("apexbridge/memory-importance", "apexbridge/envelope-scale")
@pytest.mark.parametrize("written", [-1, 0.99, 5.01, "3", True])
def test_a_wrong_importance_is_told_with_the_range_of_its_form(written: object) -> None:
    """From 1 to 5 with an owner, from 0 to 1 in an envelope."""
    direct = judged({"output": 1, "memoryWrites": [OWNED | {"importance": written}]})
    memory = MEMORY | {"importance": 7 if written == 0.99 else written}
    result = {"output": 1, "memoryWrites": [memory]}
    envelope = judged({"id": "c", "tool": "t", "result": result})
    for outcome, expected in ((direct, "a number from 1 to 5"), (envelope, "a number from 0 to 1")):
        (finding,) = outcome.findings
        assert finding.message.endswith(f": input should be {expected}.")


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        ({"output": 1, "status": "success"}, False),
        ({"output": 1, "status": "Failed"}, True),
        ({"output": 1, "status": "timeout"}, True),
        ({"output": 1, "status": "partial"}, False),
        ({"output": 1, "intermediateSteps": [FAILED_STEP]}, True),
        ({"output": 1, "status": "", "intermediateSteps": [FAILED_STEP]}, True),
        ({"id": "1", "tool": "t", "result": {"output": 1}}, False),
        (
            {
                "id": "1",
                "tool": "t",
                "result": {
                    "output": 1,
                    "intermediateSteps": [
                        {
                            "stepId": "1",
                            "stepName": "a",
                            "duration": 1,
                            "timestamp": 0,
                            "error": "no network",
                        }
                    ],
                },
            },
            True,
        ),
    ],
)
def test_a_failure_shows_in_the_status_or_the_last_step(
    outcome: dict[str, Any], failed: bool
) -> None:
    """An envelope need not have a status."""
    assert taken(outcome).failed is failed


@pytest.mark.requirement("own/outcome-all", "apexbridge/outcome-output")
def test_every_problem_is_reported_at_once_with_its_path() -> None:
    """Fields are named by their path in the file."""
    outcome = judged(
        {
            "status": 3,
            "intermediateSteps": [{"duration": "1"}],
            "memoryWrites": [{"ownerType": "cat", "type": "fact"}],
        }
    )
    assert sorted((finding.code, finding.field) for finding in outcome.findings) == [
        ("outcome-field-missing", "intermediateSteps.0.stepId"),
        ("outcome-field-missing", "intermediateSteps.0.stepName"),
        ("outcome-field-missing", "memoryWrites.0.content"),
        ("outcome-field-missing", "memoryWrites.0.importance"),
        ("outcome-field-missing", "memoryWrites.0.ownerId"),
        ("outcome-field-missing", "output"),
        ("outcome-field-wrong", "intermediateSteps.0.duration"),
        ("outcome-field-wrong", "memoryWrites.0.ownerType"),
        ("outcome-field-wrong", "status"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"\xff",
        b'{"status": "x", "output": NaN}',
        b'{"status": "x", "output": 1e999}',
        b"[" * 100_000,
        b'{"output": ' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"a": ' * 50_000,
        b'{"status": "x", "output": ' + b"9" * 5_000 + b"}",
        b'{"status": "x"} {}',
    ],
)
def test_a_file_that_is_not_a_json_object_is_rejected(data: bytes) -> None:
    """Even if Python could read it and other parsers could not."""
    outcome = judge_outcome(FILE, data)
    assert [finding.code for finding in outcome.findings] == ["outcome-not-json"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
_FIELDS = st.sampled_from(
    [
        "status",
        "output",
        "result",
        "id",
        "tool",
        "memoryWrites",
        "intermediateSteps",
        "tokenUsage",
        "warnings",
        "version",
        "other",
    ]
)


@given(st.dictionaries(_FIELDS, _JSON, max_size=6))
def test_nothing_that_json_can_say_raises(value: dict[str, Any]) -> None:
    """It becomes an outcome, or findings."""
    outcome = judged(value)
    assert isinstance(outcome, RunOutcome) or outcome.findings


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    """They become an outcome, or findings."""
    assert judge_outcome(FILE, data)
