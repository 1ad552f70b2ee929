from collections.abc import Mapping
from typing import Any

import pytest

from catalog.model.finding import Finding
from pipeline.dialects.apexbridge import codes as findings
from pipeline.dialects.apexbridge import field_rules, file_rules
from pipeline.dialects.apexbridge.fields import FIELDS
from pipeline.dialects.registry import profiles
from tests.support.judging import declare, public_functions
from tests.support.parsed_skills import codes, found, skill

BODY = """# 天气

## 描述
## 参数
## 输出
## 执行步骤
## 示例
## 安全/合规提示
"""
SECURITY = {"timeout_ms": "5000", "memory_mb": "128", "network": "none", "filesystem": "read-only"}
ALWAYS = set(file_rules.SECTIONS) - {"safety"}
TOOL = {"name": "get-weather", "parameters": {}, "returns": {"type": "object"}}
GOOD: Mapping[str, Any] = {
    "version": "1.0.0",
    "type": "service",
    "capabilities": ["weather"],
    "tags": ["weather"],
    "triggers": {"intents": ["weather"], "phrases": ["天气"], "event_types": [], "priority": "0.8"},
    "input_schema": {"type": "object"},
    "output_schema": {},
    "security": SECURITY,
    "resources": {"entry": "./scripts/execute.ts"},
}


def package(
    *files: str, body: str = BODY, without: str = "", whole: bool = True, **change: Any
) -> Any:
    """Return a good package with a change to its fields; without files it has its script."""
    fields = {key: value for key, value in {**GOOD, **change}.items() if key != without}
    return skill(body, *(files or ("scripts/execute.ts",)), whole=whole, **fields)


def told(of: Any) -> list[str]:
    """Return the codes of what is found, one each time it is found."""
    return [finding.code for finding in found("apexbridge", of)]


def only(of: Any) -> Finding:
    """Return the one finding there is."""
    (finding,) = found("apexbridge", of)
    return finding


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(
            package(),
            id="what is required",
            marks=pytest.mark.requirement("apexbridge/fields-optional"),
        ),
        pytest.param(
            package(
                "scripts/execute.ts",
                "scripts/helpers/math.ts",
                "references/api.pdf",
                "assets/report.docx",
                "tests/execute.test.ts",
                "config/schema.json",
                "README.md",
                displayName="天气",
                domain="utilities",
                category="tools",
                keywords=["weather"],
                protocol="abp",
                abp={"kind": "query", "tools": [TOOL]},
                cacheable="true",
                ttl="300",
                author="A",
                license="MIT",
                security={
                    **SECURITY,
                    "network": "allowlist",
                    "requires_filesystem": "true",
                    "network_allowlist": ["https://api.example.com"],
                    "environment": {"TZ": "UTC"},
                },
                resources={
                    "entry": "scripts/execute.ts",
                    "helpers": ["./scripts/helpers/math.ts"],
                    "references": ["references/api.pdf"],
                    "assets": ["./assets/report.docx"],
                },
            ),
            id="everything there is",
            marks=pytest.mark.requirement("apexbridge/fields-optional"),
        ),
        pytest.param(
            package(version="2.10.3-rc.1+build.5"),
            id="version with all its parts",
            marks=pytest.mark.requirement("apexbridge/version"),
        ),
        pytest.param(
            package(protocol="vcp"),
            id="the default protocol by name",
            marks=pytest.mark.requirement("apexbridge/protocol"),
        ),
        pytest.param(
            package(triggers={"priority": "0", "event_types": ["abp.tool_request"]}),
            id="an event alone, the lowest priority",
            marks=pytest.mark.requirement("own/triggers-some"),
        ),
        pytest.param(
            package(triggers={"priority": "1", "phrases": ["go"]}),
            id="the highest",
            marks=pytest.mark.requirement("apexbridge/triggers-priority"),
        ),
        pytest.param(
            package(resources={"entry": "./scripts/execute.ts", "helpers": []}),
            id="an empty list of helpers",
        ),
        pytest.param(
            package(
                "scripts/execute.ts", "references/a.md", resources={"references": ["./references/"]}
            ),
            id="a folder among the resources, one script and no entry",
        ),
        pytest.param(
            package(
                "scripts/execute.ts",
                "scripts/types.d.ts",
                "scripts/README.md",
                resources={"references": ["scripts/README.md"]},
            ),
            id="what is no script needs no entry",
        ),
        pytest.param(
            package(whole=False, resources={"entry": "scripts/unread.ts"}),
            id="files that were not read are not missed",
        ),
    ],
)
def test_a_good_package_has_no_findings(of: Any) -> None:
    """It follows ApexBridge's format."""
    assert found("apexbridge", of) == ()


def test_every_field_of_apexbridges_is_in_the_good_packages() -> None:
    """The good package above declares every field of the format."""
    unasked = {
        "config",
        "dependencies",
        "inputSchema",
        "loadingPriority",
        "outputSchema",
        "parameters",
        "permissions",
        "priority",
        "triggerPatterns",
    }
    assert FIELDS - unasked == {
        *GOOD,
        "displayName",
        "domain",
        "category",
        "keywords",
        "protocol",
        "abp",
        "cacheable",
        "ttl",
        "author",
    }


@pytest.mark.requirement("apexbridge/fields-required")
@pytest.mark.parametrize("field", field_rules.REQUIRED)
@pytest.mark.parametrize("value", [None, "", " "], ids=["null", "empty", "blank"])
def test_a_required_field_must_not_be_empty(field: str, value: Any) -> None:
    """Missing and empty are the same, and each field has its own advice."""
    for of in (package(without=field), package(**{field: value})):
        (first, *others) = found("apexbridge", of)
        assert (first.code, first.field) == ("required-field-missing", field)
        assert first.fix == field_rules.REQUIRED[field]
        assert {each.code for each in others} <= {"field-malformed"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            {"capabilities": []},
            ["required-field-missing"],
            id="no capability",
            marks=pytest.mark.requirement("apexbridge/capabilities"),
        ),
        pytest.param({"security": {}}, ["required-field-missing"], id="empty security"),
        pytest.param({"triggers": {}}, ["required-field-missing"], id="empty triggers"),
        pytest.param(
            {"capabilities": "weather"},
            ["field-malformed"],
            id="capabilities a text",
            marks=pytest.mark.requirement("apexbridge/capabilities"),
        ),
        pytest.param(
            {"tags": "a, b"},
            ["field-malformed"],
            id="tags a text",
            marks=pytest.mark.requirement("apexbridge/tags"),
        ),
        pytest.param(
            {"keywords": "a"},
            ["field-malformed"],
            id="keywords a text",
            marks=pytest.mark.requirement("apexbridge/keywords"),
        ),
        pytest.param({"tags": {"a": "b"}}, ["field-malformed"], id="tags a map"),
        pytest.param({"capabilities": [["a"]]}, ["field-malformed"], id="a list in a list"),
        pytest.param(
            {"triggers": ["go"]},
            ["field-malformed"],
            id="triggers a list",
            marks=pytest.mark.requirement("apexbridge/triggers"),
        ),
        pytest.param(
            {"triggers": {"phrases": "go"}},
            ["field-malformed"],
            id="phrases a text",
            marks=pytest.mark.requirement("apexbridge/triggers"),
        ),
        pytest.param(
            {"triggers": {"phrases": ["go"], "priority": "1.1"}},
            ["field-malformed"],
            id="priority above 1",
            marks=pytest.mark.requirement("apexbridge/triggers-priority"),
        ),
        pytest.param(
            {"triggers": {"phrases": ["go"], "priority": "-0.1"}},
            ["field-malformed"],
            id="priority below 0",
            marks=pytest.mark.requirement("apexbridge/triggers-priority"),
        ),
        pytest.param(
            {"triggers": {"phrases": ["go"], "priority": "high"}},
            ["field-malformed"],
            id="priority a word",
        ),
        pytest.param(
            {"triggers": {"intents": [], "priority": "1"}},
            ["triggers-empty"],
            id="nothing triggers it",
            marks=pytest.mark.requirement("own/triggers-some"),
        ),
        pytest.param(
            {"version": "1.0"},
            ["version-not-semantic"],
            id="two numbers",
            marks=pytest.mark.requirement("apexbridge/version"),
        ),
        pytest.param(
            {"version": "v1.0.0"},
            ["version-not-semantic"],
            id="a v before it",
            marks=pytest.mark.requirement("apexbridge/version"),
        ),
        pytest.param({"version": "01.0.0"}, ["version-not-semantic"], id="a leading zero"),
        pytest.param({"version": "1.0.0-"}, ["version-not-semantic"], id="nothing after -"),
        pytest.param({"version": "１.0.0"}, ["version-not-semantic"], id="wide digits"),
        pytest.param({"version": ["1.0.0"]}, ["field-malformed"], id="version a list"),
        pytest.param(
            {"type": "script"},
            ["value-unknown"],
            id="type",
            marks=pytest.mark.requirement("apexbridge/type"),
        ),
        pytest.param(
            {"type": "Direct"},
            ["value-unknown"],
            id="types have a case",
            marks=pytest.mark.requirement("apexbridge/type"),
        ),
        pytest.param(
            {"protocol": "mcp"},
            ["value-unknown"],
            id="protocol",
            marks=pytest.mark.requirement("apexbridge/protocol"),
        ),
        pytest.param(
            {"input_schema": "object"},
            ["field-malformed"],
            id="schema a text",
            marks=pytest.mark.requirement("apexbridge/input-schema"),
        ),
        pytest.param({"input_schema": ["object"]}, ["field-malformed"], id="schema a list"),
        pytest.param(
            {"input_schema": {"type": "text"}},
            ["schema-invalid"],
            id="input_schema",
            marks=pytest.mark.requirement("apexbridge/input-schema"),
        ),
        pytest.param(
            {"output_schema": {"required": "a"}},
            ["schema-invalid"],
            id="output_schema",
            marks=pytest.mark.requirement("apexbridge/output-schema"),
        ),
        pytest.param(
            {"cacheable": "sometimes"},
            ["field-malformed"],
            id="cacheable",
            marks=pytest.mark.requirement("apexbridge/cacheable"),
        ),
        pytest.param(
            {"ttl": "-1"},
            ["field-malformed"],
            id="ttl below 0",
            marks=pytest.mark.requirement("apexbridge/ttl"),
        ),
        pytest.param(
            {"ttl": "soon"},
            ["field-malformed"],
            id="ttl a word",
            marks=pytest.mark.requirement("apexbridge/ttl"),
        ),
        pytest.param(
            {"displayName": ["a"]},
            ["field-malformed"],
            id="displayName a list",
            marks=pytest.mark.requirement("apexbridge/display-name"),
        ),
        pytest.param(
            {"domain": {"a": "b"}},
            ["field-malformed"],
            id="domain a map",
            marks=pytest.mark.requirement("apexbridge/domain"),
        ),
        pytest.param(
            {"category": ["a"]},
            ["field-malformed"],
            id="category a list",
            marks=pytest.mark.requirement("apexbridge/category"),
        ),
    ],
)
def test_fields(change: Mapping[str, Any], expected: list[str]) -> None:
    """Each error of a field is reported once."""
    assert told(package(**change)) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            {"timeout_ms": "0"},
            ["field-malformed"],
            id="no time at all",
            marks=pytest.mark.requirement("apexbridge/timeout"),
        ),
        pytest.param(
            {"timeout_ms": "1.5"},
            ["field-malformed"],
            id="half a millisecond",
            marks=pytest.mark.requirement("apexbridge/timeout"),
        ),
        pytest.param(
            {"memory_mb": "much"},
            ["field-malformed"],
            id="memory a word",
            marks=pytest.mark.requirement("apexbridge/memory"),
        ),
        pytest.param(
            {"network": "full"},
            ["value-unknown"],
            id="network",
            marks=pytest.mark.requirement("apexbridge/network"),
        ),
        pytest.param(
            {"filesystem": "read-write"},
            ["value-unknown"],
            id="filesystem",
            marks=pytest.mark.requirement("apexbridge/filesystem"),
        ),
        pytest.param(
            {"requires_filesystem": "x"},
            ["field-malformed"],
            id="requires_filesystem",
            marks=pytest.mark.requirement("apexbridge/requires-filesystem"),
        ),
        pytest.param(
            {"environment": ["TZ"]},
            ["field-malformed"],
            id="environment a list",
            marks=pytest.mark.requirement("apexbridge/environment"),
        ),
        pytest.param(
            {"environment": {"TZ": ["UTC"]}},
            ["field-malformed"],
            id="a variable a list",
            marks=pytest.mark.requirement("apexbridge/environment"),
        ),
        pytest.param(
            {"network": "allowlist"},
            ["allowlist-missing"],
            id="allowlist of nobody",
            marks=pytest.mark.requirement("apexbridge/allowlist"),
        ),
        pytest.param(
            {"network": "allowlist", "network_allowlist": []},
            ["allowlist-missing"],
            id="empty allowlist",
            marks=pytest.mark.requirement("apexbridge/allowlist"),
        ),
        pytest.param(
            {"network_allowlist": ["a.example"]},
            [],
            id="unused list",
            marks=pytest.mark.requirement("apexbridge/allowlist"),
        ),
        pytest.param(
            {"network": "allowlist", "network_allowlist": "a.example"},
            ["field-malformed"],
            id="allowlist a text",
        ),
        pytest.param({"timeout_ms": None, "network": None}, ["security-incomplete"], id="open"),
    ],
)
def test_security(change: Mapping[str, Any], expected: list[str]) -> None:
    """Each field of the sandbox is checked by itself."""
    assert told(package(security={**SECURITY, **change})) == expected


@pytest.mark.requirement("own/security-complete")
def test_missing_fields_of_security_are_named() -> None:
    """The message lists what is missing."""
    finding = only(package(security={"filesystem": "none"}))
    assert finding.message == "security does not set timeout_ms, memory_mb and network."


@pytest.mark.requirement("apexbridge/permissions")
@pytest.mark.parametrize(
    ("permissions", "expected", "said"),
    [
        (
            {"network": "true", "filesystem": "none"},
            ["permissions-outdated"],
            "read as security with network: allowlist and filesystem: none.",
        ),
        ({"network": "False"}, ["permissions-outdated"], "read as security with network: none."),
        ({"filesystem": "read"}, ["permissions-outdated"], "security with filesystem: read-only."),
        (
            {"network": "some"},
            ["value-unknown", "permissions-outdated"],
            "it was ignored.",
        ),
        (
            {"filesystem": "read-write"},
            ["value-unknown", "permissions-outdated"],
            "it was ignored.",
        ),
        ({}, ["permissions-outdated"], "it was ignored."),
        (["network"], ["required-field-missing", "field-malformed"], "a map is expected."),
    ],
)
def test_permissions(permissions: Any, expected: list[str], said: str) -> None:
    """The old form of security is read as security."""
    of = package(without="security", permissions=permissions)
    assert told(of) == expected
    assert found("apexbridge", of)[-1].message.endswith(said)


@pytest.mark.requirement("apexbridge/permissions")
def test_security_holds_beside_permissions() -> None:
    """If both are declared, a finding says that the old form has no effect."""
    finding = only(package(permissions={"network": "true"}))
    assert (finding.code, finding.fix) == ("permissions-outdated", "Remove permissions.")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            {"protocol": "abp"},
            ["abp-missing"],
            id="no abp",
            marks=pytest.mark.requirement("apexbridge/abp"),
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"kind": "query"}},
            ["abp-missing"],
            id="no tools",
            marks=pytest.mark.requirement("apexbridge/abp"),
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"tools": []}},
            ["abp-missing"],
            id="empty tools",
            marks=pytest.mark.requirement("apexbridge/abp"),
        ),
        pytest.param({"abp": {"tools": [TOOL]}}, ["abp-unused"], id="no protocol"),
        pytest.param(
            {"protocol": "vcp", "abp": {"tools": [TOOL]}},
            ["abp-unused"],
            id="vcp",
            marks=pytest.mark.requirement("own/abp-unused"),
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"tools": [{"name": "a"}]}},
            ["tool-incomplete"],
            id="a name alone",
            marks=pytest.mark.requirement("apexbridge/tool-parameters"),
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"tools": [TOOL, TOOL]}},
            ["tool-twice"],
            id="one name for two",
            marks=pytest.mark.requirement("apexbridge/tool"),
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"tools": [TOOL, {"parameters": {}}]}},
            ["field-malformed"],
            id="a tool without a name",
            marks=pytest.mark.requirement("apexbridge/tool"),
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"tools": [TOOL, "x"]}},
            ["field-malformed"],
            id="a tool that is text",
        ),
        pytest.param(
            {"protocol": "abp", "abp": [TOOL]}, ["field-malformed", "abp-missing"], id="abp a list"
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"kind": ["a"], "tools": [TOOL]}},
            ["field-malformed"],
            id="kind a list",
            marks=pytest.mark.requirement("apexbridge/tool-kind"),
        ),
        pytest.param(
            {"protocol": "abp", "abp": {"tools": [{**TOOL, "returns": "x"}]}},
            ["field-malformed", "tool-incomplete"],
            id="returns a text",
        ),
        pytest.param(
            {
                "protocol": "abp",
                "abp": {
                    "tools": [
                        {**TOOL, "parameters": {"city": {"type": "anything", "required": True}}}
                    ]
                },
            },
            [],
            id="parameters by name",
            marks=pytest.mark.requirement("apexbridge/tool-parameters"),
        ),
        pytest.param(
            {
                "protocol": "abp",
                "abp": {
                    "tools": [
                        {
                            **TOOL,
                            "parameters": {
                                "type": "object",
                                "properties": {"city": {"type": "anything"}},
                            },
                        }
                    ]
                },
            },
            ["schema-invalid"],
            id="parameters that are a schema, and a bad one",
        ),
    ],
)
def test_tools(change: Mapping[str, Any], expected: list[str]) -> None:
    """Each tool of the ABP protocol is checked by itself."""
    assert told(package(**change)) == expected


@pytest.mark.parametrize(
    ("files", "resources", "expected"),
    [
        pytest.param(
            ["references/a.md"],
            {"references": ["references/a.md"]},
            ["script-missing"],
            id="no script",
            marks=pytest.mark.requirement("apexbridge/script"),
        ),
        pytest.param(
            ["scripts/a.ts", "scripts/b.py"],
            {"helpers": ["scripts/a.ts"]},
            ["entry-missing"],
            id="two scripts and no entry",
            marks=pytest.mark.requirement("apexbridge/entry-of-several"),
        ),
        pytest.param(
            ["scripts/a.ts", "scripts/lib/b.ts"],
            {"helpers": ["scripts/lib/b.ts"]},
            [],
            id="what lies deeper is a helper",
        ),
        pytest.param(
            ["scripts/a.ts"],
            {"entry": "./scripts/b.ts"},
            ["resource-missing"],
            id="an entry that is not there",
            marks=pytest.mark.requirement("apexbridge/entry"),
        ),
        pytest.param(
            ["scripts/a.ts"],
            {"entry": "./Scripts/a.ts"},
            ["resource-missing"],
            id="an entry in another case",
        ),
        pytest.param(
            ["scripts/a.ts"],
            {
                "entry": "scripts/a.ts",
                "helpers": ["./scripts/x.ts"],
                "references": ["r.pdf"],
                "assets": ["assets/a"],
            },
            ["resource-missing"] * 3,
            id="helpers, references, assets",
            marks=pytest.mark.requirement("apexbridge/helpers"),
        ),
        pytest.param(
            ["scripts/a.ts"],
            {"entry": "/scripts/a.ts"},
            ["resource-outside-folder"],
            id="absolute",
            marks=pytest.mark.requirement("apexbridge/resources-relative"),
        ),
        pytest.param(
            ["scripts/a.ts"],
            {"entry": "scripts/../../a.ts"},
            ["resource-outside-folder"],
            id="climbing out",
            marks=pytest.mark.requirement("apexbridge/resources-inside"),
        ),
        pytest.param(["scripts/a.ts"], {"entry": "scripts/x/../a.ts"}, [], id="climbing inside"),
        pytest.param(
            ["scripts/a.ts"], {"entry": "C:\\a.ts"}, ["resource-outside-folder"], id="a drive"
        ),
        pytest.param(
            ["scripts/a.ts"], {"entry": "..\\a.ts"}, ["resource-outside-folder"], id="backslashes"
        ),
        pytest.param(
            ["scripts/a.ts"],
            {"assets": ["https://a.example/b"]},
            ["resource-outside-folder"],
            id="an address",
            marks=pytest.mark.requirement("apexbridge/resources-relative"),
        ),
        pytest.param(
            ["scripts/a.ts"], {"assets": ["~/a"]}, ["resource-outside-folder"], id="a home folder"
        ),
        pytest.param(
            ["scripts/a.ts", "notes.md"],
            {"entry": "notes.md"},
            ["entry-not-script"],
            id="an entry that is no script",
            marks=pytest.mark.requirement("apexbridge/entry"),
        ),
        pytest.param(
            ["scripts/a.ts", "assets/b.ts"],
            {"entry": "scripts/a.ts"},
            ["code-outside-scripts"],
            id="code among assets",
            marks=pytest.mark.requirement("apexbridge/code-elsewhere"),
        ),
        pytest.param(
            ["scripts/a.ts", "references/b.PY"],
            {"entry": "scripts/a.ts"},
            ["code-outside-scripts"],
            id="code among references",
        ),
        pytest.param(
            ["scripts/a.ts", "b.sh"],
            {"entry": "scripts/a.ts"},
            ["code-outside-scripts"],
            id="code beside SKILL.md",
            marks=pytest.mark.requirement("apexbridge/code-elsewhere"),
        ),
        pytest.param(
            ["scripts/a.ts", "config/b.js"],
            {"entry": "scripts/a.ts"},
            ["code-outside-scripts"],
            id="code in config",
        ),
        pytest.param(
            ["scripts/a.ts", "tests/b.ts", "config/c.yaml"],
            {"entry": "scripts/a.ts"},
            [],
            id="tests and config",
            marks=pytest.mark.requirement("apexbridge/layout-optional"),
        ),
        pytest.param(
            ["scripts/a.ts", "docs/b.md"],
            {"entry": "scripts/a.ts"},
            [],
            id="another folder",
        ),
    ],
)
def test_layout(files: list[str], resources: Any, expected: list[str]) -> None:
    """Scripts, resources and folders must follow the package layout."""
    assert told(package(*files, resources=resources)) == expected


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        pytest.param(
            BODY,
            set(),
            id="Chinese",
            marks=pytest.mark.requirement("own/sections-languages"),
        ),
        pytest.param(
            "# Weather\n\n## Overview\n## Inputs\n## Returns\n## Instructions\n"
            "## Usage examples\n## Security",
            set(),
            id="English",
            marks=pytest.mark.requirement("own/sections-languages"),
        ),
        pytest.param(
            "# Weather\n\n## 1. Description\n## 输入与输出\n## Steps to follow\n"
            "## Example\n## ⚠️ 注意事项",
            set(),
            id="mixed, two in one, numbered",
        ),
        pytest.param(
            "# 天氣\n\n## 說明\n## 參數\n## 輸出\n## 執行步驟\n## 範例\n## 安全",
            set(),
            id="traditional characters",
        ),
        pytest.param(
            "# Description\n\n# Parameters\n# Output\n# Steps\n# Examples\n# Safety",
            set(),
            id="all at the top level",
        ),
        pytest.param(
            BODY.replace("## 示例\n", ""),
            {"examples"},
            id="no examples",
            marks=pytest.mark.requirement("apexbridge/sections"),
        ),
        pytest.param(
            "Some text.",
            ALWAYS,
            id="no heading at all",
            marks=pytest.mark.requirement("apexbridge/sections"),
        ),
        pytest.param(
            "Some text with a password.",
            {*ALWAYS, "safety"},
            id="sensitive data",
            marks=pytest.mark.requirement("apexbridge/sections-safety"),
        ),
        pytest.param("It reads 患者 data.", {*ALWAYS, "safety"}, id="sensitive data in Chinese"),
        pytest.param("", ALWAYS, id="nothing"),
        pytest.param(
            "# Output safety description with examples",
            ALWAYS,
            id="a title that is full of words",
        ),
        pytest.param(
            BODY.replace("## 输出", "```\n## 输出\n```"), {"output"}, id="in a code block"
        ),
        pytest.param(BODY.replace("## 输出", "## Outputting"), {"output"}, id="a part of a word"),
    ],
)
def test_sections(body: str, missing: set[str]) -> None:
    """Each required section is recognised by its heading in either language."""
    messages = [f.message for f in found("apexbridge", package(body=body))]
    assert {message.split()[5] for message in messages} == missing
    assert len(messages) == len(missing)


@pytest.mark.requirement("apexbridge/package-documented")
def test_the_documented_package_has_its_findings() -> None:
    """The example in ApexBridge's documentation lacks six fields and has old permissions."""
    of = skill(
        BODY,
        "scripts/execute.ts",
        displayName="天气查询",
        version="1.0.0",
        type="service",
        category="tools",
        keywords=["天气"],
        domain="utilities",
        cacheable="true",
        ttl="300",
        permissions={"network": "true", "filesystem": "none"},
    )
    missing = [f.field for f in found("apexbridge", of) if f.code == "required-field-missing"]
    assert missing == [
        "capabilities",
        "tags",
        "triggers",
        "input_schema",
        "output_schema",
        "resources",
    ]
    assert codes("apexbridge", of) == {"required-field-missing", "permissions-outdated"}


def test_unreadable_frontmatter_is_left_to_parsing() -> None:
    """Without frontmatter, missing fields are not listed."""
    of = package("notes/a.md")
    bare = type(of)(
        of.folder,
        of.document,
        type(of.parsed)(None, {}, "", "", 1, ()),
        declare({}),
        of.files,
    )
    assert codes("apexbridge", bare) == {"script-missing"}


def test_a_finding_has_the_line_of_its_field() -> None:
    """A position without a line of its own takes the line of its field."""
    of = package(abp={"tools": [{"name": "a"}]}, protocol="abp")
    finding = only(of)
    assert (finding.field, finding.line) == ("abp.tools.0.name", of.parsed.positions["abp"].line)


def test_every_rule_is_asked_and_every_finding_can_be_made() -> None:
    """The profile has every rule; the samples show that each code can be raised."""
    rules = (*field_rules.RULES, *file_rules.RULES)
    assert set(profiles()["apexbridge"].rules) == set(rules)
    others = {field_rules.problem_of, file_rules.missing_sections}
    for module in (field_rules, file_rules):
        assert public_functions(module) - others == set(module.RULES)
    assert {kind.profile for kind in findings.TYPES} == {"apexbridge"}
