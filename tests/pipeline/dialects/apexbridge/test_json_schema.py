import socket
from typing import Any

import pytest

from pipeline.dialects.apexbridge.json_schema import problems_of

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def codes(schema: Any) -> list[tuple[str, str]]:
    """Return code and path of what is wrong."""
    return [(wrong.kind.code, wrong.path) for wrong in problems_of(schema)]


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="empty"),
        pytest.param(
            {
                "type": "object",
                "properties": {"a": {"type": ["string", "null"]}},
                "required": ["a"],
                "additionalProperties": False,
            },
            id="ordinary",
        ),
        pytest.param({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"}, id="own reference"),
        pytest.param({"pattern": r"^\p{L}+(?<x>a)$"}, id="a pattern that Python cannot read"),
        pytest.param({"pattern": "(" * 5_000}, id="a pattern to choke on"),
        pytest.param({"x-order": 1, "example": {"$ref": "elsewhere"}}, id="words of others"),
        pytest.param({"$schema": DRAFT_4, "exclusiveMinimum": True, "minimum": 1}, id="draft 4"),
        pytest.param({"minimum": 0.5, "maximum": 10**40}, id="numbers"),
    ],
)
def test_a_valid_schema_has_no_problem(schema: Any) -> None:
    """Its version of JSON Schema allows it."""
    assert codes(schema) == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "text"}, [("schema-invalid", "type")]),
        ({"properties": {"a": {"type": "str"}}}, [("schema-invalid", "properties.a.type")]),
        ({"required": "a"}, [("schema-invalid", "required")]),
        ({"properties": []}, [("schema-invalid", "properties")]),
        ({"minimum": "5"}, [("schema-invalid", "minimum")]),
        ({"exclusiveMinimum": True}, [("schema-invalid", "exclusiveMinimum")]),
        (
            {"$schema": DRAFT_4, "exclusiveMinimum": 1, "minimum": 1},
            [("schema-invalid", "exclusiveMinimum")],
        ),
        ({"enum": "a"}, [("schema-invalid", "enum")]),
        ({"$ref": 5}, [("schema-invalid", "$ref")]),
        ({"$ref": "https://schemas.example/a"}, [("schema-reference-outside", "$ref")]),
        (
            {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
            [("schema-reference-outside", "properties.a.$ref")],
        ),
        (
            {"allOf": [{"$dynamicRef": "other.json"}]},
            [("schema-reference-outside", "allOf.0.$dynamicRef")],
        ),
        ({"$schema": "https://schemas.example/a"}, [("schema-dialect-unknown", "$schema")]),
        ({"$schema": "http://["}, [("schema-dialect-unknown", "$schema")]),
        ({"$schema": ["a"]}, [("schema-dialect-unknown", "$schema")]),
        ({"$schema": {"a": "b"}}, [("schema-dialect-unknown", "$schema")]),
        (
            {"$schema": 7, "type": "x"},
            [("schema-dialect-unknown", "$schema"), ("schema-invalid", "type")],
        ),
    ],
)
def test_each_error_has_its_code_and_path(schema: Any, expected: list[Any]) -> None:
    """For each kind of error."""
    assert codes(schema) == expected


def test_a_deep_schema_does_not_make_it_fail() -> None:
    """A schema of any depth gets a result."""
    deep: Any = {"type": "x"}
    for _ in range(400):
        deep = {"items": deep}
    assert [code for code, _ in codes(deep)] == ["schema-invalid"]


@pytest.mark.requirement("apexbridge/schema-references")
def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reference and no dialect causes a network connection."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert codes({"$schema": "https://schemas.example/a", "$ref": "https://schemas.example/b"})


def test_a_message_is_short_and_printable() -> None:
    """The message about a value of any size is short."""
    (only,) = problems_of({"type": "\x1b[31m" + "x" * 9_000})
    assert len(only.message) < 250
    assert only.message.isprintable()
