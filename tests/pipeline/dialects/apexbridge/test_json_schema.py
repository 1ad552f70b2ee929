import socket
from typing import Any

import pytest

from pipeline.dialects.apexbridge.field_rules import problem_of

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


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
        pytest.param({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, id="a reference"),
        pytest.param({"$schema": "https://schemas.example/a"}, id="an unknown version"),
        pytest.param({"$schema": "http://["}, id="a version that is no address"),
        pytest.param({"$schema": {"a": "b"}}, id="a version that is no text"),
    ],
)
def test_a_valid_schema_has_no_problem(schema: Any) -> None:
    """Its version of JSON Schema allows it."""
    assert problem_of(schema) is None


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "text"}, "type"),
        ({"properties": {"a": {"type": "str"}}}, "properties.a.type"),
        ({"required": "a"}, "required"),
        ({"properties": []}, "properties"),
        ({"minimum": "5"}, "minimum"),
        ({"exclusiveMinimum": True}, "exclusiveMinimum"),
        ({"$schema": DRAFT_4, "exclusiveMinimum": 1, "minimum": 1}, "exclusiveMinimum"),
        ({"enum": "a"}, "enum"),
        ({"$ref": 5}, "$ref"),
        ({"$schema": 7, "type": "x"}, "type"),
    ],
)
def test_each_error_has_its_path(schema: Any, path: str) -> None:
    """For each kind of error."""
    problem = problem_of(schema)
    assert problem
    assert problem[0] == path


def test_a_deep_schema_does_not_make_it_fail() -> None:
    """A schema of any depth gets a result."""
    deep: Any = {"type": "x"}
    for _ in range(400):
        deep = {"items": deep}
    assert problem_of(deep)


@pytest.mark.requirement("apexbridge/schema-references")
def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reference and no version causes a network connection."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    there = "https://schemas.example/"
    assert problem_of({"$schema": f"{there}a", "$ref": f"{there}b", "type": "x"})


def test_a_message_is_short_and_printable() -> None:
    """The message about a value of any size is short."""
    problem = problem_of({"type": "\x1b[31m" + "x" * 9_000})
    assert problem
    assert len(problem[1]) < 250
    assert problem[1].isprintable()
