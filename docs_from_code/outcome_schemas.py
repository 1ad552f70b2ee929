"""JSON Schemas of the objects that runtimes write, for docs/schemas."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from pipeline.outcomes.schema import (
    AbpEnvelopeForm,
    MemoryWriteForm,
    SkillExecutionOutcomeForm,
    SkillResultForm,
    StepTraceForm,
)

SCHEMAS: Mapping[str, type[BaseModel]] = {
    "skill-execution-outcome": SkillExecutionOutcomeForm,
    "skill-result": SkillResultForm,
    "memory-write": MemoryWriteForm,
    "step-trace": StepTraceForm,
    "abp-envelope": AbpEnvelopeForm,
}
"""Models whose JSON Schemas are published, by the name of the file."""


def json_schema(name: str) -> dict[str, Any]:
    """Return the published JSON Schema of a name in SCHEMAS."""
    schema = SCHEMAS[name].model_json_schema(mode="validation", schema_generator=_AnyOf)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


class _AnyOf(GenerateJsonSchema):
    """Generator for forms that have values in common."""

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        result = super().tagged_union_schema(schema)
        return {"anyOf": result["oneOf"]}
