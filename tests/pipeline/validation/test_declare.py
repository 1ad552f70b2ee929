"""Words of the frontmatter that a search finds."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model.fields import CLAUDE_CODE, SPECIFICATION_NAMES, Declared, Metadata
from catalog.model.skill import SkillRecord
from pipeline.dialects.apexbridge.dialect import APEXBRIDGE
from pipeline.dialects.apexbridge.fields import ApexBridgeFields
from pipeline.dialects.registry import dialects
from pipeline.validation.declare import MOST_CHARACTERS, clients
from pipeline.validation.skill import Declaration
from tests.pipeline.validation.test_verdict import verdict
from tests.support.judging import declare


def test_the_specifications_fields() -> None:
    """The six fields of the specification are read as written, without surrounding space."""
    declared, _, mismatches, *_ = declare(
        {
            "name": " pdf ",
            "description": "Reads PDF.\n",
            "license": "MIT",
            "compatibility": "uv",
            "metadata": {"author": "A", "other": {"deep": "passed over"}},
            "allowed-tools": "Read  Grep",
        }
    )
    assert mismatches == ()
    assert (declared.name, declared.description, declared.license) == ("pdf", "Reads PDF.", "MIT")
    assert (declared.compatibility, declared.allowed_tools) == ("uv", "Read Grep")
    assert declared.metadata.author == "A"


def test_claude_codes_fields() -> None:
    """Claude Code's fields have their types."""
    declared, _, mismatches, *_ = declare(
        {
            "when_to_use": "Often.",
            "argument-hint": ["file"],
            "arguments": "one two",
            "disable-model-invocation": "true",
            "user-invocable": "no",
            "model": "opus",
            "effort": "high",
            "context": "fork",
            "agent": "Explore",
            "hooks": {"Stop": []},
            "paths": "src/{a,b}.py",
            "shell": "bash",
            "disallowed-tools": ["Write"],
        }
    )
    assert mismatches == ()
    assert declared.argument_hint == "file"
    assert declared.arguments == ("one", "two")
    assert (declared.disable_model_invocation, declared.user_invocable) == (True, False)
    assert declared.hooks == {"Stop": []}
    assert declared.paths == ("src/{a,b}.py",)
    assert declared.disallowed_tools == "Write"


@pytest.mark.parametrize(
    ("written", "meant"),
    [(word, True) for word in ("true", "True", "TRUE", "yes", "Yes", "on", "1", "y")]
    + [(word, False) for word in ("false", "False", "no", "off", "0", "n")],
)
def test_yes_and_no_as_people_write_them(written: str, meant: bool) -> None:
    """A flag is understood in every spelling that YAML dialects and people use."""
    declared, _, mismatches, *_ = declare({"user-invocable": written})
    assert (declared.user_invocable, mismatches) == (meant, ())


@pytest.mark.parametrize(
    ("written", "words"),
    [
        pytest.param("a, b,c", ("a", "b", "c"), id="commas"),
        pytest.param("a b  c", ("a", "b", "c"), id="spaces"),
        pytest.param("machine learning, data", ("machine learning", "data"), id="commas win"),
        pytest.param("数据，分析、图表", ("数据", "分析", "图表"), id="Chinese commas"),
        pytest.param(["a", " b ", "a", None, ""], ("a", "b"), id="a list, once each"),
        pytest.param("", (), id="nothing"),
        pytest.param(None, (), id="null"),
    ],
)
def test_lists_written_as_one_text(written: Any, words: tuple[str, ...]) -> None:
    """Tags and keywords may be a list or one text."""
    declared, _, mismatches, *_ = declare({"tags": written, "keywords": written})
    assert (declared.tags, declared.keywords, mismatches) == (words, words, ())


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        pytest.param(
            "Read Bash(git add:*)",
            "Read Bash(git add:*)",
            id="spaces, as specified",
            marks=pytest.mark.requirement("agent-skills/tools"),
        ),
        pytest.param("Read, Bash(a, b), Grep", "Read Bash(a, b) Grep", id="commas outside ()"),
        pytest.param(["Read", "Bash(a, b)"], "Read Bash(a, b)", id="a list"),
        pytest.param([], "", id="an empty list"),
    ],
)
def test_allowed_tools_become_one_text(written: Any, stored: str) -> None:
    """However the tools are listed, spaces separate them afterwards."""
    assert declare({"allowed-tools": written}).common.allowed_tools == stored


@pytest.mark.parametrize(
    ("frontmatter", "field", "message"),
    [
        (
            {"user-invocable": "maybe"},
            "user-invocable",
            "user-invocable is “maybe”; yes or no is expected.",
        ),
        (
            {"user-invocable": ["yes"]},
            "user-invocable",
            "user-invocable is a list; yes or no is expected.",
        ),
        ({"version": {"major": "1"}}, "version", "version is a map; text is expected."),
        ({"tags": {"a": "b"}}, "tags", "tags is a map; a list of texts is expected."),
        ({"tags": ["a", ["b"], ["c"]]}, "tags", "tags is a list; a list of texts is expected."),
        ({"hooks": "x"}, "hooks", "hooks is “x”; a map is expected."),
        ({"triggers": ["a"]}, "triggers", "triggers is a list; a map is expected."),
        (
            {"triggers": {"priority": "7"}},
            "triggers.priority",
            "triggers.priority is “7”; a number from 0 to 1 is expected.",
        ),
        (
            {"triggers": {"priority": "-0.1"}},
            "triggers.priority",
            "triggers.priority is “-0.1”; a number from 0 to 1 is expected.",
        ),
        (
            {"metadata": {"priority": "nan"}},
            "metadata.priority",
            "metadata.priority is “nan”; a number from 0 to 1 is expected.",
        ),
        ({"security": "none"}, "security", "security is “none”; a map is expected."),
        (
            {"security": {"timeout_ms": "soon"}},
            "security.timeout_ms",
            "security.timeout_ms is “soon”; a whole number above 0 is expected.",
        ),
        (
            {"security": {"memory_mb": "0"}},
            "security.memory_mb",
            "security.memory_mb is “0”; a whole number above 0 is expected.",
        ),
        (
            {"security": {"timeout_ms": "9" * 30}},
            "security.timeout_ms",
            f"security.timeout_ms is “{'9' * 30}”; a whole number above 0 is expected.",
        ),
        (
            {"security": {"requires_filesystem": "some"}},
            "security.requires_filesystem",
            "security.requires_filesystem is “some”; yes or no is expected.",
        ),
        (
            {"security": {"environment": {"TZ": None}}},
            "security.environment.TZ",
            "security.environment.TZ is empty; text is expected.",
        ),
        (
            {"resources": {"helpers": {"a": "b"}}},
            "resources.helpers",
            "resources.helpers is a map; a list of texts is expected.",
        ),
        (
            {"input_schema": "object"},
            "input_schema",
            "input_schema is “object”; a map is expected.",
        ),
        ({"ttl": "-1"}, "ttl", "ttl is “-1”; a number of seconds is expected."),
        ({"ttl": "inf"}, "ttl", "ttl is “inf”; a number of seconds is expected."),
        (
            {"abp": {"tools": "search"}},
            "abp.tools",
            "abp.tools is “search”; a list of maps is expected.",
        ),
        (
            {"abp": {"tools": [{"name": "a"}, "b"]}},
            "abp.tools.1",
            "abp.tools.1 is “b”; a map is expected.",
        ),
        (
            {"abp": {"tools": [{"kind": "query"}, {"name": "b"}]}},
            "abp.tools.0.name",
            "abp.tools.0.name is missing.",
        ),
        (
            {"abp": {"tools": [{"name": ["a"]}]}},
            "abp.tools.0.name",
            "abp.tools.0.name is a list; text is expected.",
        ),
        (
            {"abp": {"tools": [{"name": "a", "returns": "text"}]}},
            "abp.tools.0.returns",
            "abp.tools.0.returns is “text”; a map is expected.",
        ),
    ],
)
def test_a_mismatch_says_what_is_expected(
    frontmatter: Mapping[str, Any], field: str, message: str
) -> None:
    """A value of the wrong type is reported once, with the actual and the expected value."""
    mismatches = declare(frontmatter).mismatches
    assert [(mismatch.field, mismatch.message) for mismatch in mismatches] == [(field, message)]


def test_an_empty_value_is_no_mismatch() -> None:
    """A field without a value counts as not declared."""
    declaration = declare({"user-invocable": "", "triggers": "", "tags": None, "hooks": ""})
    assert declaration.common == declare({}).common
    assert declaration.of(ApexBridgeFields) == ApexBridgeFields()
    assert declaration.mismatches == ()


def test_a_mismatch_leaves_everything_else_alone() -> None:
    """One wrong value affects no other field, not even in the same map."""
    declaration = declare(
        {
            "name": "pdf",
            "user-invocable": "maybe",
            "disable-model-invocation": "yes",
            "triggers": {"priority": "high", "phrases": ["read"]},
            "metadata": {"priority": "0.5", "tags": {"a": "b"}},
        }
    )
    declared, triggers = declaration.common, declaration.of(ApexBridgeFields).triggers
    assert {mismatch.field for mismatch in declaration.mismatches} == {
        "user-invocable",
        "triggers.priority",
    }
    assert declared.user_invocable is None
    assert (declared.name, declared.disable_model_invocation) == ("pdf", True)
    assert (triggers.priority, triggers.phrases) == (None, ("read",))
    assert (declared.metadata.priority, declared.metadata.tags) == (0.5, ())


def test_the_rules_speak_of_the_specifications_own_fields() -> None:
    """A wrong type in the specification's fields is not reported twice."""
    declared, _, mismatches, *_ = declare(
        {
            "name": ["a"],
            "description": {"a": "b"},
            "license": ["MIT"],
            "metadata": {"author": ["a"]},
            "allowed-tools": {"a": "b"},
            "compatibility": [],
        }
    )
    assert mismatches == ()
    assert (declared.name, declared.description, declared.license) == (None, None, None)
    assert (declared.allowed_tools, declared.metadata) == (None, Metadata())


@pytest.mark.parametrize(
    ("field", "readers"),
    [
        ("disable-model-invocation", (CLAUDE_CODE, "OpenClaw", "GitHub Copilot")),
        ("when_to_use", (CLAUDE_CODE,)),
        ("displayName", (APEXBRIDGE.owner,)),
        ("metadata.openclaw", ("OpenClaw",)),
        ("metadata.short-description", ("Codex",)),
        ("display_name", ()),
        ("user_invocable", ()),
        ("model_config", ()),
    ],
)
def test_which_clients_read_a_field(field: str, readers: tuple[str, ...]) -> None:
    """Fields are known by their names in SKILL.md, not by their Python names."""
    assert clients(dialects()).get(field, ()) == readers


_FIELDS = sorted({*SPECIFICATION_NAMES, *clients(dialects())})
_TEXTS = st.text(max_size=8) | st.sampled_from(["yes", "0.5", "nan", "a,b", "1e999"])
_KEYS = _TEXTS | st.sampled_from(["priority", "timeout_ms", "environment", "tools", "name"])
_VALUES = st.recursive(
    st.none() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*_FIELDS, "model_config", "__class__", "x"]), _VALUES))
def test_nothing_written_makes_it_fail(frontmatter: dict[str, Any]) -> None:
    """Any frontmatter gives a model, and values of the wrong type are ignored."""
    declaration = declare(frontmatter)
    fields = {mismatch.field for mismatch in declaration.mismatches}
    without = {
        key: value
        for key, value in frontmatter.items()
        if not any(field == key or field.startswith(f"{key}.") for field in fields)
    }
    whole = declare(without)
    assert _values(declaration, without) == _values(whole, without)


def _values(declaration: Declaration, fields: Iterable[str]) -> dict[str, tuple[Any, Any]]:
    """Return what the common fields and ApexBridge's have of each of these."""
    own = declaration.of(ApexBridgeFields)
    return {
        field: (getattr(declaration.common, field, None), getattr(own, field, None))
        for field in fields
        if field in {**Declared.model_fields, **ApexBridgeFields.model_fields}
    }


def words(fields: str) -> tuple[str, ...]:
    """Return the search words of a skill with these fields."""
    record = verdict(f"---\nname: pdf\ndescription: Reads PDF.\n{fields}---\n# Use\n\nRun it.\n")
    assert isinstance(record, SkillRecord)
    return record.search_words


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("", ()),
        ("keywords: [a, b]\ntags: [c]\n", ("a", "b")),
        ("category: office\ndomain: finance\n", ("office", "finance")),
        ("when_to_use: After a meeting.\n", ("After a meeting.",)),
        ("triggers: [sum a bill]\n", ("sum a bill",)),
        ("triggers:\n  phrases: [sum a bill]\n  intents: [bill_sum]\n", ("sum a bill", "bill_sum")),
        ("capabilities: [reading]\n", ("reading",)),
        ("abp:\n  tools:\n    - name: convert-units\n", ("convert-units",)),
        ("metadata:\n  domain: ai-ml\n  languages: [bash]\n  owner: x\n", ("ai-ml", "bash")),
        ("metadata:\n  triggers:\n    phrases: [hey, you]\n", ("hey", "you")),
        ("metadata: text\n", ()),
    ],
)
def test_words_that_a_system_declares_are_searched(fields: str, found: tuple[str, ...]) -> None:
    """Those of Claude Code, of each dialect and of the free metadata; no other values."""
    assert words(fields) == found


def test_a_skill_cannot_fill_the_index_with_its_keywords() -> None:
    """Words beyond the limit are left out."""
    listed = ", ".join(f"word{number:06}" for number in range(1000))
    assert sum(map(len, words(f"keywords: [{listed}]\n"))) <= MOST_CHARACTERS
