from typing import Any

import pytest

from catalog.model.fields import CLAUDE_CODE_NAMES
from tests.support.parsed_skills import codes, found, skill


def test_claude_codes_own_fields_are_read_as_they_are_meant() -> None:
    """Every field of Claude Code with a known value has no finding."""
    of = skill(
        when_to_use="Often.",
        argument_hint="[file]",
        arguments="file",
        allowed_tools=["Read"],
        disable_model_invocation="no",
        user_invocable="yes",
        disallowed_tools="Write",
        model="sonnet",
        effort="high",
        context="fork",
        agent="Explore",
        background="false",
        hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a"}]}]},
        paths=["src/**/*.ts"],
        shell="bash",
        license="MIT",
        metadata={"a": "b"},
    )
    assert set(CLAUDE_CODE_NAMES) <= set(of.frontmatter)
    assert found("claude-code", of) == ()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"description": "x" * 1_000, "when_to_use": "x" * 536}, set(), id="1,536"),
        pytest.param(
            {"description": "x" * 1_000, "when_to_use": "x" * 537},
            {"listing-too-long"},
            id="1,537 together",
        ),
        pytest.param({"description": "x" * 1_537}, set(), id="description alone"),
        pytest.param({"context": "thread"}, {"context-unknown"}, id="context"),
        pytest.param(
            {"context": "thread", "agent": "Explore"},
            {"context-unknown"},
            id="an agent beside a wrong context",
        ),
        pytest.param({"agent": "Explore"}, {"agent-without-fork"}, id="agent alone"),
        pytest.param({"model": "gpt-4"}, {"model-unknown"}, id="another vendor's model"),
        pytest.param({"model": "Opus"}, set(), id="a model in capitals"),
        pytest.param({"model": "sonnet[1m]"}, set(), id="a model with a long context"),
        pytest.param({"model": "claude-sonnet-4-5-20250929"}, set(), id="a model's full name"),
        pytest.param({"model": "us.anthropic.claude-opus-4-v1:0"}, set(), id="a model on Bedrock"),
        pytest.param({"model": "inherit"}, set(), id="the session's model"),
        pytest.param({"effort": "enormous"}, {"effort-unknown"}, id="effort"),
        pytest.param({"effort": "xhigh"}, set(), id="a known effort"),
        pytest.param({"shell": "fish"}, {"shell-unknown"}, id="shell"),
        pytest.param({"hooks": {"PreTooluse": []}}, {"hook-event-unknown"}, id="hook event"),
        pytest.param({"hooks": {"Stop": "make"}}, {"hook-malformed"}, id="a hook that is text"),
        pytest.param({"hooks": {"Stop": ["make"]}}, {"hook-malformed"}, id="matcher that is text"),
        pytest.param({"hooks": {"Stop": [{"matcher": "a"}]}}, {"hook-malformed"}, id="no hooks"),
        pytest.param(
            {"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}},
            {"hook-malformed"},
            id="a hook without a type",
        ),
        pytest.param({"hooks": {"Stop": []}}, set(), id="an event without hooks"),
        pytest.param({"paths": "/src/a.py"}, {"paths-never-match"}, id="absolute path"),
        pytest.param({"paths": ["a", "src\\a.py"]}, {"paths-never-match"}, id="backslashes"),
        pytest.param({"argument-hint": ["file"]}, {"argument-hint-list"}, id="hint as a list"),
        pytest.param({"colour": "green"}, set(), id="left to the specification"),
    ],
)
def test_fields(fields: dict[str, Any], expected: set[str]) -> None:
    """Each value that Claude Code reads differently or ignores is reported once."""
    assert codes("claude-code", skill(**fields)) == expected


@pytest.mark.parametrize(
    ("fields", "fix"),
    [
        ({"hooks": {"PreTooluse": []}}, "Write PreToolUse."),
        ({"argument-hint": ["file"]}, 'Put it in quotes: argument-hint: "[file]".'),
    ],
)
def test_the_advice_names_the_intended_value(fields: dict[str, Any], fix: str) -> None:
    """The advice for a misspelt or misread value names the correct one."""
    assert [each.fix for each in found("claude-code", skill(**fields))] == [fix]


def test_wrong_types_are_reported_once() -> None:
    """A value of the wrong type is reported for all fields alike, not by this profile."""
    of = skill(hooks="x", model=["a"], context={"a": "b"}, effort=["a"], agent=["a"], shell={})
    assert found("claude-code", of) == ()
