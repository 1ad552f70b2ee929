"""Published JSON Schemas, and the models from which they are generated."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from catalog.model.change import Judged
from catalog.model.skill import RootSpec
from docs_from_code.outcome_schemas import SCHEMAS
from pipeline.roots.local.folder import Limits
from pipeline.service.scanning.scanner import ScanOptions, ScanScope, scan

SCHEMA_FILES = Path(__file__).parents[3] / "docs" / "schemas"
GOOD = Path(__file__).parents[2] / "samples" / "outcomes" / "good"


def schema(name: str) -> dict[str, Any]:
    """Return a published schema."""
    found: dict[str, Any] = json.loads((SCHEMA_FILES / f"{name}.json").read_text("utf-8"))
    return found


STEP = {"stepId": "1", "stepName": "read", "duration": 2.5, "timestamp": "2026-11-20T08:00:00Z"}
MEMORY = {
    "ownerType": "task",
    "ownerId": "t1",
    "type": "summary",
    "importance": 5,
    "content": "Done.",
}
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "skill-execution-outcome": [
        {"output": None},
        json.loads((GOOD / "direct.json").read_text("utf-8")),
    ],
    "memory-write": [MEMORY, MEMORY | {"metadata": {"page": 3}}],
    "step-trace": [STEP, STEP | {"input": [1, None], "output": "text", "error": "late"}],
    "abp-envelope": [json.loads((GOOD / "abp.json").read_text("utf-8"))],
}
WRONG = {
    "skill-execution-outcome": {"status": "success"},
    "skill-result": {"output": 1, "intermediateSteps": [{"stepId": "1", "stepName": "a"}]},
    "memory-write": MEMORY | {"importance": 6},
    "step-trace": STEP | {"error": 4},
    "abp-envelope": {
        "id": "1",
        "tool": "t",
        "result": {
            "output": 1,
            "memoryWrites": [{"type": "fact", "content": "c", "importance": 2}],
        },
    },
}


@pytest.mark.requirement("own/outcome-schemas")
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_published_schema_is_valid(name: str) -> None:
    """Its names are in camelCase."""
    Draft202012Validator.check_schema(schema(name))
    assert not [key for key in schema(name)["properties"] if "_" in key]


@pytest.mark.requirement("own/outcome-schemas", "apexbridge/memory-fields")
@pytest.mark.parametrize(
    ("name", "example"),
    [(name, example) for name, examples in EXAMPLES.items() for example in examples],
)
def test_the_schema_accepts_what_the_model_reads_and_writes(
    name: str, example: dict[str, Any]
) -> None:
    """An example passes both, and the model's output parses to the same value."""
    model = SCHEMAS[name]
    read = model.model_validate_json(json.dumps(example), strict=True)
    written = read.model_dump_json(by_alias=True, exclude_unset=True)
    Draft202012Validator(schema(name)).validate(example)
    Draft202012Validator(schema(name)).validate(json.loads(written))
    assert model.model_validate_json(written, strict=True) == read


@pytest.mark.requirement("own/outcome-schemas")
@pytest.mark.parametrize("name", SCHEMAS)
def test_model_and_schema_reject_the_same_values(name: str) -> None:
    """Each value is out of its range."""
    with pytest.raises(ValueError, match="validation error"):
        SCHEMAS[name].model_validate_json(json.dumps(WRONG[name]), strict=True)
    assert not Draft202012Validator(schema(name)).is_valid(WRONG[name])


@pytest.mark.requirement("own/outcome-own-steps")
def test_ingestions_are_traced_in_the_same_form(tmp_path: Path) -> None:
    """Each step of an ingestion is a StepTrace of the published schema."""
    folder = tmp_path / "word-count"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: word-count\ndescription: Count words.\n---\n")
    scope = ScanScope(RootSpec(str(tmp_path)), ("",), {})
    (judged,) = scan(scope, ScanOptions(Limits(), quiet=0.0))
    assert isinstance(judged, Judged)
    steps = json.loads(judged.steps)
    assert [step["stepName"] for step in steps] == ["read", "parse", "validate"]
    for step in steps:
        Draft202012Validator(schema("step-trace")).validate(step)
        SCHEMAS["step-trace"].model_validate_json(json.dumps(step), strict=True)
