"""Forms in which runtimes write outcomes: each is taken, normalised, and kept as written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from catalog.model.outcome import RunFile, RunOutcome
from docs_from_code.outcome_schemas import json_schema
from pipeline.outcomes.parser import judge_outcome
from pipeline.outcomes.schema import SkillExecutionOutcomeForm, SkillResultForm

FILE = RunFile("meetings/run-1.json", "0" * 64)
STEP = {"stepId": "1", "stepName": "read", "input": "a", "output": "b", "duration": 1.5}
OWNED = {"ownerType": "user", "ownerId": "anna", "type": "fact", "importance": 2, "content": "Tea."}

RESULTS: dict[str, dict[str, Any]] = {
    "output alone": {"output": "done"},
    "null": {"output": None},
    "false": {"output": False},
    "empty text": {"output": ""},
    "list": {"output": [1, {"a": None}]},
    "no lists": {"output": 1, "memoryWrites": [], "intermediateSteps": []},
    "nulls": {"output": 1, "memoryWrites": None, "intermediateSteps": None},
    "memory": {"output": 1, "memoryWrites": [OWNED, OWNED | {"metadata": {"page": 3}}]},
    "memory between two numbers": {"output": 1, "memoryWrites": [OWNED | {"importance": 3.5}]},
    "step": {"output": 1, "intermediateSteps": [STEP]},
    "empty names": {"output": 1, "intermediateSteps": [STEP | {"stepId": "", "stepName": ""}]},
    "timestamp": {"output": 1, "intermediateSteps": [STEP | {"timestamp": 1763625600123}]},
    "odd times": {"output": 1, "intermediateSteps": [STEP | {"timestamp": 1e300, "duration": -1}]},
    "error text": {"output": 1, "intermediateSteps": [STEP | {"error": "late"}]},
    "any input": {"output": 1, "intermediateSteps": [STEP | {"input": [None], "output": {}}]},
    "named": {"output": 1, "skillId": "meetings", "version": "20261120-120000", "runId": "r1"},
}
OUTCOMES: dict[str, dict[str, Any]] = {
    "format": {"output": "<p>", "format": "html"},
    "status": {"output": 1, "status": "partial"},
    "no status": {"output": 1, "status": ""},
    "message": {"output": 1, "message": "3 of 4 files"},
    "tokens": {"output": 1, "tokenUsage": 1234},
    "part of a token": {"output": 1, "tokenUsage": 12.5},
    "counts": {"output": 1, "tokenUsage": {"input": 812, "output": 64}},
    "warnings": {"output": 1, "warnings": ["one", ""]},
    "whole": {
        "output": {"text": "ok"},
        "format": "json",
        "status": "success",
        "message": "ok",
        "tokenUsage": 7,
        "warnings": ["w"],
        "memoryWrites": [OWNED],
        "intermediateSteps": [STEP | {"error": {"name": "Error", "message": "boom"}}],
    },
}
STRINGIFIED: dict[str, str] = {
    "undefined": '{"output":1,"intermediateSteps":[{"stepId":"1","stepName":"read","duration":2}]}',
    "undefined in lists": '{"output":[null,null],"memoryWrites":[null],"intermediateSteps":[null]}',
    "error": '{"output":1,"intermediateSteps":[{"stepId":"1","stepName":"read","input":"a",'
    '"output":"b","duration":1.5,"error":{}}]}',
    "error of a class": '{"output":1,"intermediateSteps":[{"stepId":"1","stepName":"read",'
    '"duration":1.5,"error":{"name":"AppError","code":42}}]}',
    "error with toJSON": '{"output":1,"intermediateSteps":[{"stepId":"1","stepName":"read",'
    '"duration":1.5,"error":{"name":"Error","message":"boom"}}]}',
    "NaN": '{"output":null,"tokenUsage":null,"intermediateSteps":[{"stepId":"1","stepName":"read",'
    '"input":"a","output":"b","duration":null,"timestamp":null}]}',
    "Date": '{"output":"1970-01-01T00:00:00.000Z","intermediateSteps":[{"stepId":"1",'
    '"stepName":"read","duration":1.5,"timestamp":"2025-11-20T08:00:00.123Z"}]}',
    "Map": '{"output":{},"warnings":[null,"w",{}]}',
    "Buffer": '{"output":{"type":"Buffer","data":[104,105]}}',
    "typed array": '{"output":{"0":1,"1":2}}',
    "large number": '{"output":0,"tokenUsage":1e+21}',
    "line separators": '{"output":"\u2028\\u0000\u2029"}',
}
"""Texts that JSON.stringify of Node.js 20 gives."""


def taken(text: str) -> RunOutcome:
    """Judge a text that is an outcome."""
    outcome = judge_outcome(FILE, text.encode())
    assert isinstance(outcome, RunOutcome), outcome
    return outcome


def step(**fields: Any) -> Any:
    """Return the step of an outcome with one."""
    (it,) = taken(json.dumps({"output": 1, "intermediateSteps": [STEP | fields]})).steps
    return it


@pytest.mark.requirement("apexbridge/outcome-output", "apexbridge/outcome-result")
@pytest.mark.parametrize("example", RESULTS.values(), ids=RESULTS)
def test_a_result_passes_through_models_and_schemas(example: dict[str, Any]) -> None:
    """Both forms take it, and write the same values as it has."""
    for name, model in (
        ("skill-result", SkillResultForm),
        ("skill-execution-outcome", SkillExecutionOutcomeForm),
    ):
        read = model.model_validate_json(json.dumps(example), strict=True)
        written = read.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert written == example
        Draft202012Validator(json_schema(name)).validate(example)
    assert taken(json.dumps(example)).findings == ()


@pytest.mark.requirement("apexbridge/outcome-optional")
@pytest.mark.parametrize("example", OUTCOMES.values(), ids=OUTCOMES)
def test_an_outcome_passes_through_model_and_schema(example: dict[str, Any]) -> None:
    """It is written with the same values as it has."""
    read = SkillExecutionOutcomeForm.model_validate_json(json.dumps(example), strict=True)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == example
    Draft202012Validator(json_schema("skill-execution-outcome")).validate(example)
    assert taken(json.dumps(example)).findings == ()


@pytest.mark.requirement("own/outcome-javascript")
@pytest.mark.parametrize("text", STRINGIFIED.values(), ids=STRINGIFIED)
def test_texts_of_javascript_are_taken(text: str) -> None:
    """JSON has no undefined, NaN, Error or Date."""
    assert taken(text).findings == ()
    Draft202012Validator(json_schema("skill-execution-outcome")).validate(json.loads(text))


@pytest.mark.requirement("apexbridge/step-error")
@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("late", "late"),
        ({"name": "Error", "message": "boom"}, "Error: boom"),
        ({"message": "boom", "stack": "Error: boom\n at x"}, "boom"),
        ({"name": "AppError", "code": 42}, "AppError"),
        ({"code": "ENOENT"}, '{"code": "ENOENT"}'),
        ({}, "an error without a text"),
    ],
)
def test_an_error_has_a_text_and_is_kept_as_written(error: Any, text: str) -> None:
    """JavaScript writes most errors as an empty object; that is a failure, too."""
    it = step(error=error)
    assert (it.error, it.error_declared) == (text, error)


def test_a_step_without_an_error_has_none() -> None:
    """Whether the field is null or absent."""
    assert step().error is None
    assert step(error=None).error is None


@pytest.mark.requirement("apexbridge/step-timestamp")
@pytest.mark.parametrize(
    ("written", "time"),
    [
        (1763625600123, "2025-11-20T08:00:00.123+00:00"),
        (1763625600, "2025-11-20T08:00:00.000+00:00"),
        (0, "1970-01-01T00:00:00.000+00:00"),
        (1000, "1970-01-01T00:00:01.000+00:00"),
        (-1000, "1969-12-31T23:59:59.000+00:00"),
        (1e300, None),
        (None, None),
        ("2025-11-20T09:00:00+01:00", "2025-11-20T08:00:00.000+00:00"),
        ("2025-11-20T08:00:00", "2025-11-20T08:00:00.000+00:00"),
    ],
)
def test_a_timestamp_is_in_milliseconds_or_a_text(written: Any, time: str | None) -> None:
    """Numbers that would be of 1970 as milliseconds, and are of this century as seconds, are so."""
    it = step(timestamp=written)
    assert (it.timestamp, it.timestamp_declared) == (time, written)


@pytest.mark.requirement("apexbridge/outcome-tokens")
@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (1234, 1234),
        (0, 0),
        (None, None),
        ({"input": 812, "output": 64}, 876),
        ({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 4}, 4),
        ({"inputTokens": 5}, 5),
        ({"cached": 5}, None),
        ({}, None),
        ({"total": "many", "input": True}, None),
        (10**400, None),
    ],
)
def test_tokens_are_one_number_and_are_kept_as_written(usage: Any, tokens: float | None) -> None:
    """An object of counts has a total, or input and output."""
    outcome = taken(json.dumps({"output": 1, "tokenUsage": usage}))
    assert (outcome.tokens, outcome.token_usage) == (tokens, usage)


@pytest.mark.requirement("apexbridge/outcome-warnings")
def test_warnings_become_texts() -> None:
    """JavaScript writes undefined as null, and an error as an object."""
    text = '{"output":1,"warnings":["a",null,{"message":"b"},{}]}'
    assert taken(text).warnings == ("a", "b", "an error without a text")


def test_half_a_character_is_replaced_with_a_finding() -> None:
    """JavaScript cuts texts inside an emoji and writes the half as an escape."""
    outcome = taken('{"output":{"\\ud83d":["cut \\ud83d","\\ud83d\\ude00"]},"message":"\\ude00"}')
    assert outcome.output == {"\ufffd": ["cut \ufffd", "😀"]}
    assert outcome.message == "\ufffd"
    assert [finding.code for finding in outcome.findings] == ["outcome-half-character"]


def test_a_byte_order_mark_is_skipped() -> None:
    """Some programs of Windows write one."""
    assert judge_outcome(FILE, b'\xef\xbb\xbf{"output": 1}').findings == ()


@pytest.mark.parametrize("key", ["skillId", "skill", "skillName"])
def test_a_file_names_its_skill_version_and_run(key: str) -> None:
    """Also in an ABP envelope or the result inside it."""
    names = {key: "meetings", "skillVersion": "v", "runId": "r"}
    for value in (
        {"output": 1, **names},
        {"id": "c", "tool": "t", "result": {"output": 1}, **names},
        {"id": "c", "tool": "t", "result": {"output": 1, **names}},
    ):
        outcome = taken(json.dumps(value))
        assert (outcome.skill, outcome.version, outcome.run_id) == ("meetings", "v", "r")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e308, 1e308) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
_NUMBER = st.integers(-(2**53), 2**53) | st.floats(-1e308, 1e308)
_MEMORY = st.fixed_dictionaries(
    {
        "ownerType": st.sampled_from(["user", "household", "task", "group"]),
        "ownerId": st.text(min_size=1).filter(str.strip),
        "type": st.sampled_from(["preference", "fact", "event", "summary"]),
        "importance": st.integers(1, 5) | st.floats(1, 5),
        "content": st.text(min_size=1).filter(str.strip),
    },
    optional={"metadata": st.dictionaries(st.text(), _JSON, max_size=3)},
)
_STEP = st.fixed_dictionaries(
    {
        "stepId": st.text(),
        "stepName": st.text(),
        "input": _JSON,
        "output": _JSON,
        "duration": _NUMBER,
    },
    optional={
        "error": st.dictionaries(st.sampled_from(["name", "message", "stack"]), _JSON) | st.text(),
        "timestamp": _NUMBER,
    },
)
_RESULT_FIELDS = {
    "memoryWrites": st.lists(_MEMORY, max_size=3),
    "intermediateSteps": st.lists(_STEP, max_size=3),
}
_RESULT = st.fixed_dictionaries({"output": _JSON}, optional=_RESULT_FIELDS)
_OUTCOME = st.fixed_dictionaries(
    {"output": _JSON},
    optional=_RESULT_FIELDS
    | {
        "format": st.text(),
        "status": st.text(),
        "message": st.text(),
        "tokenUsage": _NUMBER,
        "warnings": st.lists(st.text(), max_size=3),
    },
)


@pytest.mark.requirement("apexbridge/outcome-optional", "apexbridge/step-fields")
@given(_RESULT | _OUTCOME)
def test_every_outcome_of_the_specification_passes_through(example: dict[str, Any]) -> None:
    """Model and schema take it, it is written as it was, and the parser loses nothing."""
    read = SkillExecutionOutcomeForm.model_validate_json(json.dumps(example), strict=True)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == example
    Draft202012Validator(json_schema("skill-execution-outcome")).validate(example)
    outcome = taken(json.dumps(example))
    assert outcome.output == example["output"]
    assert outcome.token_usage == example.get("tokenUsage")
    assert len(outcome.memory_writes) == len(example.get("memoryWrites", []))
    assert [
        (step.step_id, step.duration, step.error_declared, step.timestamp_declared)
        for step in outcome.steps
    ] == [
        (step["stepId"], step["duration"], step.get("error"), step.get("timestamp"))
        for step in example.get("intermediateSteps", [])
    ]
