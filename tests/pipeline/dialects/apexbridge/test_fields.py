from pipeline.dialects.apexbridge.fields import ApexBridgeFields
from tests.support.judging import declare


def test_apexbridges_fields() -> None:
    """ApexBridge's fields have their types, including those inside triggers."""
    declaration = declare(
        {
            "displayName": "PDF 工具",
            "version": "1.10",
            "type": "direct",
            "category": "office",
            "domain": "documents",
            "author": "A",
            "tags": ["a"],
            "keywords": "b c",
            "triggers": {
                "intents": ["read"],
                "phrases": "read this",
                "event_types": [],
                "priority": "0.8",
            },
        }
    )
    assert declaration.mismatches == ()
    declared = declaration.of(ApexBridgeFields)
    assert (declared.display_name, declared.version) == ("PDF 工具", "1.10")
    assert (declared.tags, declared.keywords) == (("a",), ("b", "c"))
    assert (declared.triggers.intents, declared.triggers.phrases) == (("read",), ("read this",))
    assert declared.triggers.priority == 0.8


def test_a_tool_without_a_name_takes_only_itself_with_it() -> None:
    """The other tools are kept, and each error of the tool is reported."""
    declaration = declare(
        {
            "abp": {
                "kind": "query",
                "tools": [
                    {"name": "a"},
                    {"parameters": "x", "kind": ["y"]},
                    {"name": "b", "returns": {"type": "c"}},
                    {"name": " "},
                ],
            }
        }
    )
    assert [mismatch.field for mismatch in declaration.mismatches] == [
        "abp.tools.1.name",
        "abp.tools.1.kind",
        "abp.tools.1.parameters",
        "abp.tools.3.name",
    ]
    declared = declaration.of(ApexBridgeFields)
    assert declared.abp
    assert [tool.name for tool in declared.abp.tools if tool] == ["a", "b"]
