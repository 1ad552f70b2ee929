import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model.finding import Finding
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import dialects, profiles
from pipeline.parsing.document import Parsed
from pipeline.parsing.yaml_reader import Position
from pipeline.validation.profile import Dialects
from pipeline.validation.profiles.spec import codes as spec_findings
from pipeline.validation.profiles.spec import rules as spec_rules
from pipeline.validation.skill import Skill
from tests.support.judging import check, declare, public_functions

GOOD: Mapping[str, Any] = {"name": "pdf", "description": "Reads PDF."}


def skill(
    frontmatter: Mapping[str, Any] | None,
    folder: str = "pdf",
    positions: Mapping[str, Position] | None = None,
    named: Dialects = (),
) -> Skill:
    """Return a skill whose SKILL.md declares this, as a package of the named dialects."""
    parsed = Parsed(
        frontmatter=frontmatter,
        positions=positions or {},
        text="",
        body="",
        body_line=1,
        findings=(),
    )
    return Skill(folder, "SKILL.md", parsed, declare(frontmatter or {}, named), ())


def found(frontmatter: Mapping[str, Any] | None, folder: str = "pdf") -> tuple[Finding, ...]:
    """Return what the specification's rules find."""
    return check(skill(frontmatter, folder), ["spec"])


def codes(frontmatter: Mapping[str, Any] | None, folder: str = "pdf") -> set[str]:
    """Return the codes of what the specification's rules find."""
    return {finding.code for finding in found(frontmatter, folder)}


@pytest.mark.parametrize(
    "frontmatter",
    [
        pytest.param(
            GOOD,
            id="the two that are required",
            marks=pytest.mark.requirement("agent-skills/fields-required"),
        ),
        pytest.param(
            {
                **GOOD,
                "license": "MIT",
                "compatibility": "x" * 500,
                "metadata": {"a": "b"},
                "allowed-tools": "Read Bash(git:*)",
            },
            id="all six",
            marks=pytest.mark.requirement(
                "agent-skills/fields-optional", "agent-skills/compatibility-length"
            ),
        ),
        pytest.param(
            {**GOOD, "description": "x" * 1_024},
            id="description at its limit",
            marks=pytest.mark.requirement(
                "agent-skills/description-length", "apexbridge/description-limit"
            ),
        ),
        pytest.param({**GOOD, "license": None, "metadata": {"a": None}}, id="empty values"),
    ],
)
def test_a_conforming_skill_has_no_findings(frontmatter: Mapping[str, Any]) -> None:
    """A skill that follows the specification has no finding."""
    assert found(frontmatter) == ()


@pytest.mark.parametrize(
    ("name", "folder", "expected"),
    [
        pytest.param(
            "数据-分析2",
            "数据-分析2",
            set(),
            id="Chinese",
            marks=pytest.mark.requirement("agent-skills/name-characters"),
        ),
        pytest.param(
            "a" * 64,
            "a" * 64,
            set(),
            id="64 characters",
            marks=pytest.mark.requirement("agent-skills/name-length"),
        ),
        pytest.param(
            "日" * 65,
            "日" * 65,
            {"name-too-long"},
            id="65 characters, not bytes",
            marks=pytest.mark.requirement("agent-skills/name-length"),
        ),
        pytest.param(" pdf ", "pdf", set(), id="space around it is stripped"),
        pytest.param(
            "ﬁle②",
            "file2",
            set(),
            id="compared after NFKC",
            marks=pytest.mark.requirement("validator/name-unicode"),
        ),
        pytest.param(
            "cafe\u0301",
            "café",
            set(),
            id="decomposed name, composed folder",
            marks=pytest.mark.requirement("validator/name-unicode"),
        ),
        pytest.param("café", "cafe\u0301", set(), id="composed name, decomposed folder"),
        pytest.param("x²", "x²", set(), id="a superscript digit becomes a digit"),
        pytest.param(
            "٣",
            "٣",
            set(),
            id="Arabic digits",
            marks=pytest.mark.requirement("agent-skills/name-characters"),
        ),
        pytest.param("ß", "ß", set(), id="a letter that has no single upper case"),
        pytest.param(
            "PDF",
            "PDF",
            {"name-not-lower-case"},
            id="upper case",
            marks=pytest.mark.requirement("agent-skills/name-lower-case"),
        ),
        pytest.param(
            "ǅ",
            "ǅ",
            {"name-not-lower-case"},
            id="title case",
            marks=pytest.mark.requirement("agent-skills/name-lower-case"),
        ),
        pytest.param("Ⅳ", "Ⅳ", {"name-not-lower-case"}, id="Roman numeral"),
        pytest.param("कि", "कि", {"name-characters"}, id="a combining mark that stays one"),
        pytest.param(
            "-pdf",
            "-pdf",
            {"name-outer-hyphen"},
            id="leading hyphen",
            marks=pytest.mark.requirement("agent-skills/name-outer-hyphen"),
        ),
        pytest.param(
            "pdf-",
            "pdf-",
            {"name-outer-hyphen"},
            id="trailing hyphen",
            marks=pytest.mark.requirement("agent-skills/name-outer-hyphen"),
        ),
        pytest.param("-", "-", {"name-outer-hyphen"}, id="a hyphen alone"),
        pytest.param(
            "p--f",
            "p--f",
            {"name-double-hyphen"},
            id="two hyphens in a row",
            marks=pytest.mark.requirement("agent-skills/name-double-hyphen"),
        ),
        pytest.param(
            "p_f",
            "p_f",
            {"name-characters"},
            id="underscore",
            marks=pytest.mark.requirement("agent-skills/name-characters"),
        ),
        pytest.param(
            "p f",
            "p f",
            {"name-characters"},
            id="space within",
            marks=pytest.mark.requirement("agent-skills/name-characters"),
        ),
        pytest.param("a/b", "b", {"name-characters"}, id="slash"),
        pytest.param("pdf\u200b", "pdf", {"name-characters"}, id="invisible"),
        pytest.param(
            "pdf",
            "word",
            {"name-not-folder"},
            id="another folder",
            marks=pytest.mark.requirement("agent-skills/name-folder"),
        ),
        pytest.param(
            "pdf",
            "Pdf",
            {"name-not-folder"},
            id="the folder in another case",
            marks=pytest.mark.requirement("agent-skills/name-folder"),
        ),
        pytest.param(
            "",
            "pdf",
            {"name-missing"},
            id="empty",
            marks=pytest.mark.requirement("agent-skills/name-length"),
        ),
        pytest.param(" \t", "pdf", {"name-missing"}, id="blank"),
        pytest.param(None, "pdf", {"name-missing"}, id="null"),
        pytest.param(
            ["pdf"],
            "pdf",
            {"name-not-text"},
            id="a list",
            marks=pytest.mark.requirement("validator/name-text"),
        ),
        pytest.param(
            {"a": "b"},
            "pdf",
            {"name-not-text"},
            id="a map",
            marks=pytest.mark.requirement("validator/name-text"),
        ),
        pytest.param(
            "-A--b_",
            "x",
            {"name-characters"},
            id="all at once",
        ),
    ],
)
def test_name(name: Any, folder: str, expected: set[str]) -> None:
    """All errors of a name's form are one finding, because one correction mends them."""
    assert codes({**GOOD, "name": name}, folder) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            {"description": ""},
            {"description-missing"},
            id="description empty",
            marks=pytest.mark.requirement("agent-skills/description-blank"),
        ),
        pytest.param(
            {"description": " \n"},
            {"description-missing"},
            id="description blank",
            marks=pytest.mark.requirement("agent-skills/description-blank"),
        ),
        pytest.param({"description": None}, {"description-missing"}, id="description null"),
        pytest.param({"description": " " * 2_000}, {"description-missing"}, id="long and blank"),
        pytest.param(
            {"description": ["a"]},
            {"description-not-text"},
            id="description a list",
            marks=pytest.mark.requirement("validator/description-text"),
        ),
        pytest.param(
            {"description": "述" * 1_025},
            {"description-too-long"},
            id="1,025",
            marks=pytest.mark.requirement(
                "agent-skills/description-length", "apexbridge/description-limit"
            ),
        ),
        pytest.param(
            {"compatibility": "x" * 501},
            {"compatibility-too-long"},
            id="501",
            marks=pytest.mark.requirement("agent-skills/compatibility-length"),
        ),
        pytest.param(
            {"compatibility": ["a"]},
            {"compatibility-not-text"},
            id="a list",
            marks=pytest.mark.requirement("validator/compatibility-text"),
        ),
        pytest.param(
            {"compatibility": ""},
            {"compatibility-empty"},
            id="compatibility empty",
            marks=pytest.mark.requirement("agent-skills/compatibility-empty"),
        ),
        pytest.param({"compatibility": None}, {"compatibility-empty"}, id="compatibility null"),
        pytest.param(
            {"license": ["MIT"]},
            {"license-not-text"},
            id="license a list",
            marks=pytest.mark.requirement("validator/license-text"),
        ),
        pytest.param(
            {"metadata": "x"},
            {"metadata-not-map"},
            id="metadata a text",
            marks=pytest.mark.requirement("agent-skills/metadata-map"),
        ),
        pytest.param(
            {"metadata": ["x"]},
            {"metadata-not-map"},
            id="metadata a list",
            marks=pytest.mark.requirement("agent-skills/metadata-map"),
        ),
        pytest.param(
            {"metadata": {"a": ["x"]}},
            {"metadata-value-not-text"},
            id="value a list",
            marks=pytest.mark.requirement("agent-skills/metadata-values"),
        ),
        pytest.param(
            {"allowed-tools": ["Read"]},
            {"allowed-tools-not-text"},
            id="tools a list",
            marks=pytest.mark.requirement("agent-skills/tools-text"),
        ),
        pytest.param({"version": "1"}, {"field-not-in-specification"}, id="a known field"),
        pytest.param(
            {"foo": "1"},
            {"field-not-in-specification"},
            id="an unknown field",
            marks=pytest.mark.requirement("validator/fields-other"),
        ),
        pytest.param({"Name": "pdf"}, {"field-not-in-specification"}, id="fields have a case"),
    ],
)
def test_other_fields(change: Mapping[str, Any], expected: set[str]) -> None:
    """Each error of another field has its own finding."""
    assert codes({**GOOD, **change}) == expected


@pytest.mark.requirement("agent-skills/fields-required")
def test_required_fields_that_are_not_there() -> None:
    """An empty frontmatter lacks both."""
    assert codes({}) == {"name-missing", "description-missing"}


def test_unreadable_frontmatter_is_left_to_parsing() -> None:
    """Missing frontmatter is reported once, and not by these rules."""
    assert found(None) == ()


@pytest.mark.requirement("validator/all")
def test_findings_give_numbers_and_places() -> None:
    """A finding names field, file, line and column, the actual numbers and the remedy."""
    positions = {"description": Position(3, 14), "metadata.a": Position(5, 3)}
    one, two = check(
        skill({**GOOD, "description": "x" * 1_068, "metadata": {"a": []}}, positions=positions),
        ["spec"],
    )
    assert one == Finding(
        code="description-too-long",
        severity="error",
        profile="spec",
        field="description",
        path="SKILL.md",
        line=3,
        column=14,
        message="description is 1,068 characters; the limit is 1,024.",
        fix="Keep the text that says when to use the skill; move details into the body.",
    )
    assert (two.field, two.line, two.severity) == ("metadata.a", 5, "error")
    assert two.message == "metadata.a is a list, not text."


def test_a_missing_field_is_reported_on_the_first_line() -> None:
    """A finding about a missing field points to the start of the frontmatter."""
    assert {(finding.line, finding.column) for finding in found({})} == {(1, None)}


KEEP, MOVE = "Keep what your clients need", "Move them under metadata"


@pytest.mark.parametrize(
    ("field", "shown", "fix"),
    [
        ("hooks", "hooks (Claude Code)", KEEP),
        ("homepage", "homepage (OpenClaw)", KEEP),
        ("version", "version (OpenClaw, Hermes Agent, ApexBridge)", KEEP),
        ("allowed_tools", "allowed_tools", "Write allowed-tools for allowed_tools if you meant"),
        ("user_invocabel", "user_invocabel", "Write user-invocable for user_invocabel if you"),
        ("when-to-use", "when-to-use", "Write when_to_use for when-to-use if you meant it"),
        ("descripton", "descripton", "Write description for descripton if you meant it"),
        ("foo", "foo", MOVE),
        ("\x1b[31m", "[U+001B][31m", MOVE),
    ],
)
def test_a_field_of_a_client_differs_from_a_misspelt_one(field: str, shown: str, fix: str) -> None:
    """The message names the clients that read the field; a misspelt field is corrected."""
    (only,) = found({**GOOD, field: "true"})
    assert only.field == field
    assert only.message == f"1 field not of the specification: {shown}."
    assert only.fix.startswith(fix)
    assert only.severity == ("info" if "(" in shown else "warning")


@pytest.mark.requirement("validator/fields-other")
def test_fields_that_clients_read_are_told_apart() -> None:
    """Each finding lies at its first field and names all of them."""
    one, two = found({**GOOD, "version": "1", "foo": "2", "bar": "3", "hooks": "4"})
    assert (one.field, one.severity) == ("foo", "warning")
    assert one.message == "2 fields not of the specification: foo, bar."
    assert (two.field, two.severity) == ("version", "info")
    assert two.message == (
        "2 fields not of the specification: version (OpenClaw, Hermes Agent, ApexBridge); "
        "hooks (Claude Code)."
    )


def test_a_package_of_an_extensible_dialect_may_have_fields_of_its_own() -> None:
    """They count as fields of its system."""
    asked = skill({**GOOD, "version": "1", "colour": "red"}, named=dialects())
    (only,) = check(asked, ["spec"])
    assert (only.code, only.severity) == ("field-not-in-specification", "info")
    assert "colour (ApexBridge)" in only.message


def test_metadata_of_a_client_keeps_its_form() -> None:
    """A map that a client defines is info, and no advice to write it as text."""
    openclaw = {"openclaw": {"emoji": "x"}}
    (only,) = found({**GOOD, "metadata": openclaw})
    assert (only.code, only.severity, only.field) == (
        "metadata-value-not-text",
        "info",
        "metadata.openclaw",
    )
    assert only.fix == "Keep it as it is for OpenClaw; other clients ignore it."
    (other,) = found({**GOOD, "metadata": {**openclaw, "tags": ["a"]}})
    assert (other.severity, other.field) == ("error", "metadata.tags")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("p_f g", "“_”, a space"),
        ("p\x1bf", "U+001B"),
        ("कि", "U+093F"),
        ("a！b", "“!”"),
        ("a·b", "“·” (U+00B7)"),
    ],
)
def test_strange_characters_are_shown(name: str, shown: str) -> None:
    """Invisible characters are shown by their code point."""
    (message,) = (f.message for f in found({**GOOD, "name": name}) if f.code == "name-characters")
    assert message.endswith(f": {shown}.")


def test_a_long_name_does_not_make_long_messages() -> None:
    """Messages cut long names short."""
    assert max(len(finding.message) for finding in found({**GOOD, "name": "_A" * 8_000})) < 250


@pytest.mark.requirement("agent-skills/must-rejects")
def test_strict_acceptance_rejects_every_error_of_the_specification() -> None:
    """Under strict, one error of the specification is enough to reject."""
    for kind in REGISTRY.values():
        if kind.profile == "spec":
            may_be_error = kind.severity == "error" or kind.code == "field-not-in-specification"
            assert ("strict" in kind.rejects) == may_be_error, kind.code


def test_every_finding_of_the_rules_can_be_made() -> None:
    """Every code in the registry is raised by a rule."""
    everything: list[dict[str, Any]] = [
        {
            "name": "-A--b_" + "x" * 70,
            "description": "x" * 2_000,
            "compatibility": "x" * 501,
            "license": [],
            "metadata": {"a": []},
            "allowed-tools": [],
            "foo": "x",
        },
        {"name": [], "description": [], "compatibility": [], "metadata": "x"},
        {"compatibility": ""},
        *({"name": name} for name in ("Pdf", "-pdf", "p--df", "word")),
    ]
    made = set().union(*(codes(frontmatter) for frontmatter in everything))
    package = skill({**GOOD, "version": "1"}, named=dialects())
    made |= {finding.code for finding in check(package, ["spec"])}
    listed = {kind.code for kind in spec_findings.TYPES if kind.profile == "spec"}
    assert made == listed


def test_every_rule_is_asked() -> None:
    """The profile has every rule of its module."""
    rules = public_functions(spec_rules) - {spec_rules.is_valid_name}
    assert rules == set(profiles()["spec"].rules)


@pytest.mark.parametrize(
    ("name", "folder", "message", "fix"),
    [
        pytest.param(
            "Azure CLI",
            "azure-cli",
            "name “Azure CLI” is not all lower case, differs from the folder's name, “azure-cli” "
            "and contains characters other than letters, digits and hyphens: a space.",
            "Write azure-cli.",
            id="three errors, one answer",
        ),
        pytest.param(
            "Azure CLI",
            "Azure CLI",
            "name “Azure CLI” is not all lower case and contains characters other than letters, "
            "digits and hyphens: a space.",
            "Write azure-cli, and rename the folder to it.",
            id="the folder is no better",
        ),
        pytest.param(
            "word",
            "pdf",
            "name “word” differs from the folder's name, “pdf”.",
            "Write pdf, or rename the folder to word.",
            id="both are valid",
        ),
        pytest.param(
            "pdf",
            "Pdf",
            "name “pdf” differs from the folder's name, “Pdf”.",
            "Rename the folder to pdf.",
            id="the folder alone is wrong",
        ),
        pytest.param(
            "!!",
            "!!",
            "name “!!” contains characters other than letters, digits and hyphens: “!”.",
            REGISTRY["name-characters"].fix,
            id="no words to make a name of",
        ),
    ],
)
def test_a_wrong_name_has_one_finding_with_the_right_name(
    name: str, folder: str, message: str, fix: str
) -> None:
    """The finding names every problem of the name, and the name to write instead."""
    (only,) = found({**GOOD, "name": name}, folder)
    assert (only.message, only.fix) == (message, fix)


def test_values_in_metadata_that_are_not_text_are_one_finding() -> None:
    """The first is named, and the others are counted."""
    (only,) = found({**GOOD, "metadata": {"a": "b", "c": ["d"], "e": {}, "f": []}})
    assert only.message == "metadata.c is a list, not text. The same is true of 2 more values."


_NAMES = (
    st.text(max_size=6)
    | st.text("aA-_ 1²ǅé\u0301ß中कि\u200b\t", max_size=6)
    | st.integers(60, 70).map("a".__mul__)
)
_LIMITS = st.sampled_from([499, 500, 501, 1_023, 1_024, 1_025])
_TEXTS = st.text(max_size=4) | _LIMITS.map("x".__mul__)
_VALUES = (
    _TEXTS
    | st.lists(st.text(max_size=2), max_size=2)
    | st.dictionaries(st.text(max_size=2), st.text(max_size=2), max_size=2)
)


@pytest.mark.requirement("agent-skills/validator")
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "name": _NAMES | _VALUES,
            "description": _VALUES,
            "license": _VALUES,
            "compatibility": _VALUES,
            "metadata": _VALUES,
            "allowed-tools": _VALUES,
            "version": _VALUES,
            "foo": _VALUES,
        },
    ),
    _NAMES,
    st.booleans(),
)
def test_errors_are_what_the_reference_validator_refuses(
    frontmatter: dict[str, Any], folder: str, as_folder: bool
) -> None:
    """The verdict is that of skills-ref for any fields and any folder name, except three musts."""
    validator = pytest.importorskip("skills_ref.validator")
    if as_folder and isinstance(frontmatter.get("name"), str):
        folder = unicodedata.normalize("NFC", frontmatter["name"].strip())
    folder = folder.replace("/", "") or "folder"
    refused = validator.validate_metadata(frontmatter, Path("/skills") / folder)
    fields = "field-not-in-specification"  # an error in the verdict, if it is the only profile
    passed_over = {"compatibility-empty", "metadata-not-map", "metadata-value-not-text"}
    errors = [
        f
        for f in found(frontmatter, folder)
        if (f.severity == "error" and f.code not in passed_over) or f.code == fields
    ]
    assert bool(errors) == bool(refused), (errors, refused)
