import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from catalog.model.declarations import ApexBridge
from catalog.model.skill import FileEntry, Place, Rejection, SkillRecord, Verdict
from catalog.model.values import Acceptance, Level
from catalog.text import tokens
from catalog.writing.rows.derived import body_of
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import DEFAULT_PROFILES
from pipeline.parsing.document import parse
from pipeline.roots import snapshot as snapshots
from pipeline.roots.codes import FOLDER_TOO_LARGE, SKILL_MD_NOT_A_FILE
from pipeline.roots.snapshot import Snapshot
from tests.support.judging import judge

GOOD = "---\nname: pdf\ndescription: Reads PDF.\n---\n# Use\n\nRun it.\n"


def entry(path: str, content: bytes) -> FileEntry:
    """Return a file as reading gives it."""
    return FileEntry(
        path=path,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        mode=0o644,
        kind=snapshots.kind_of(path, "SKILL.md"),
        is_text=True,
    )


def looked_at(skill_md: bytes, path: str = "pdf", **changes: Any) -> Snapshot:
    """Return the snapshot of a folder with this SKILL.md and a script."""
    files = (entry("SKILL.md", skill_md), entry("scripts/run.py", b"pass\n"))
    values: dict[str, Any] = {
        "path": path,
        "skill_md_name": "SKILL.md",
        "skill_md": skill_md,
        "files": files,
        "fingerprint": "f",
        "digest": snapshots.digest(files),
        "problems": (),
        **changes,
    }
    return Snapshot(**values)


def verdict(
    text: str,
    acceptance: Acceptance = "lenient",
    place: Place | None = None,
    **changes: Any,
) -> Verdict:
    """Return the verdict on a folder whose SKILL.md is this text."""
    place = place or Place("/watched", "pdf", "project")
    looked = looked_at(text.encode(), place.path, **changes)
    return judge(looked, parse(looked.skill_md), place, acceptance=acceptance, profiles=("spec",))


def accepted(text: str, acceptance: Acceptance = "lenient", **changes: Any) -> SkillRecord:
    """Return the record of a folder that must be accepted."""
    record = verdict(text, acceptance, **changes)
    assert isinstance(record, SkillRecord), record.findings
    return record


def codes(of: Verdict) -> set[str]:
    """Return the codes of a verdict's findings."""
    return {found.code for found in of.findings}


def with_fields(fields: str) -> str:
    """Return a good SKILL.md with more fields."""
    return GOOD.replace("---\n#", f"{fields}\n---\n#")


@pytest.mark.requirement("textbook/mode-default", "prd/read-tokens")
def test_a_good_skill_becomes_a_record() -> None:
    """The record has everything that the catalog stores of a skill."""
    record = accepted(GOOD)
    assert (record.skill_id, record.name, record.description) == ("pdf", "pdf", "Reads PDF.")
    assert (record.spec_valid, record.findings) == (True, ())
    assert record.skill_md_hash == hashlib.sha256(GOOD.encode()).hexdigest()
    assert (record.skill_md_name, record.skill_md_content) == ("SKILL.md", GOOD)
    assert body_of(record.skill_md_content, record.body_chars).text == "# Use\n\nRun it."
    assert (record.headings, record.body_lines) == (("Use",), 3)
    assert record.estimated_tokens == tokens.estimate(GOOD)
    assert record.inventory.script_files == ("scripts/run.py",)
    assert record.frontmatter == {"name": "pdf", "description": "Reads PDF."}
    assert (record.model_invocable, record.user_invocable) == (True, True)
    assert (record.priority, record.tags, record.author) == (None, (), None)


def test_each_tag_counts_once() -> None:
    """However often and in whatever case SKILL.md has it."""
    record = accepted(GOOD.replace("\n---\n", "\ntags: [PDF, text, pdf, text]\n---\n", 1))
    assert record.tags == ("pdf", "text")


@pytest.mark.requirement("prd/package-hash")
def test_the_hash_is_of_the_raw_bytes() -> None:
    """A byte order mark and CRLF count, though the text is read without them."""
    raw = b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()
    place = Place("/watched", "pdf", "project")
    record = judge(looked_at(raw), parse(raw), place, acceptance="lenient", profiles=())
    assert isinstance(record, SkillRecord)
    assert record.skill_md_hash == hashlib.sha256(raw).hexdigest()
    assert record.spec_valid


@pytest.mark.requirement(
    "prd/install-name-missing",
    "prd/install-description-missing",
    "textbook/book-unknown",
    "textbook/book-description",
)
@pytest.mark.parametrize(
    ("text", "strict", "lenient", "permissive"),
    [
        pytest.param(GOOD, True, True, True, id="good"),
        pytest.param(GOOD.replace("name: pdf\n", ""), False, True, True, id="no name"),
        pytest.param(
            GOOD.replace("pdf", "My PDF"),
            False,
            True,
            True,
            id="bad name",
            marks=pytest.mark.requirement("client-guide/name-not-folder"),
        ),
        pytest.param(
            GOOD.replace("pdf", "p" * 65),
            False,
            True,
            True,
            id="long name",
            marks=pytest.mark.requirement("client-guide/name-long"),
        ),
        pytest.param(with_fields("foo: bar"), False, True, True, id="unknown field"),
        pytest.param(with_fields("metadata: [a]"), False, True, True, id="no map"),
        pytest.param(GOOD.replace("Reads", "x" * 1_100), False, True, True, id="too long"),
        pytest.param(
            GOOD.replace(" Reads PDF.", ""),
            False,
            False,
            True,
            id="blank description",
            marks=pytest.mark.requirement("client-guide/no-description"),
        ),
        pytest.param("---\nname: pdf\n---\n# A\n", False, False, False, id="nothing to derive"),
        pytest.param(
            "---\nname: [pdf\n---\nText.\n",
            False,
            False,
            False,
            id="beyond repair",
            marks=pytest.mark.requirement("client-guide/unreadable"),
        ),
        pytest.param("Only text.\n", False, False, False, id="no frontmatter"),
        pytest.param("", False, False, False, id="empty file"),
    ],
)
def test_acceptance(text: str, strict: bool, lenient: bool, permissive: bool) -> None:
    """Strict requires the full specification, lenient a description, permissive its source."""
    levels: dict[Acceptance, bool] = {
        "strict": strict,
        "lenient": lenient,
        "permissive": permissive,
    }
    assert {
        acceptance: isinstance(verdict(text, acceptance), SkillRecord) for acceptance in levels
    } == levels


@pytest.mark.parametrize("acceptance", ["strict", "lenient", "permissive"])
@pytest.mark.parametrize(
    "text", ["", "Only text.", "---\nname: pdf\n---\n", "---\nname: [pdf\n---\nText.\n"]
)
def test_a_rejection_says_why(text: str, acceptance: Acceptance) -> None:
    """Among a rejection's findings there is always one that rejects."""
    rejection = verdict(text, acceptance)
    assert isinstance(rejection, Rejection)
    assert any(acceptance in REGISTRY[code].rejects for code in codes(rejection))


def test_a_derived_description_is_reported() -> None:
    """Permissive acceptance takes the first paragraph and reports it."""
    record = accepted("---\nname: pdf\n---\n# Title\n\nReads\nPDF.\n\nMore.", "permissive")
    assert record.description == "Reads PDF."
    assert codes(record) == {"description-missing", "description-derived"}
    assert not record.spec_valid


@pytest.mark.parametrize(
    ("paragraph", "ending", "length"),
    [
        pytest.param("word " * 1_000, "word…", 1_020, id="at a word's end"),
        pytest.param("字" * 3_000, "字…", 1_024, id="in the middle of Chinese"),
    ],
)
def test_a_derived_description_keeps_to_the_limit(paragraph: str, ending: str, length: int) -> None:
    """A long first paragraph is cut at a space, or at the limit if it has none."""
    record = accepted(f"---\nname: pdf\n---\n{paragraph}", "permissive")
    assert record.description.endswith(ending)
    assert len(record.description) == length


def test_a_rejection_keeps_what_is_known() -> None:
    """Even a rejected skill can be found by its name."""
    rejection = verdict("---\nname: Reader\ntags: a\n---\n")
    assert isinstance(rejection, Rejection)
    assert (rejection.name, rejection.skill_id) == ("Reader", "reader")
    assert rejection.frontmatter == {"name": "Reader", "tags": "a"}
    assert rejection.inventory.total_files == 2
    assert rejection.digest


@pytest.mark.requirement("agent-skills/skill-md", "apexbridge/layout-skill-md")
def test_a_folder_without_a_readable_skill_md_is_rejected() -> None:
    """Without SKILL.md, the name is the folder's, and the reason comes from reading."""
    problem = SKILL_MD_NOT_A_FILE.at(path="SKILL.md")
    place = Place("/watched", "pdf", "project")
    looked = looked_at(b"", skill_md_name=None, problems=(problem,))
    rejection = judge(looked, None, place, acceptance="permissive", profiles=("spec",))
    assert isinstance(rejection, Rejection)
    assert (rejection.name, rejection.findings) == ("pdf", (problem,))


def test_a_reason_is_given_even_where_reading_gave_none() -> None:
    """Every rejection has a finding."""
    place = Place("/watched", "pdf", "project")
    looked = looked_at(b"", skill_md_name=None)
    rejection = judge(looked, None, place, acceptance="lenient", profiles=("spec",))
    assert codes(rejection) == {"folder-unreadable"}
    assert codes(verdict(GOOD, digest=None)) == {"folder-unreadable"}


def test_problems_of_reading_decide_too() -> None:
    """A problem with the folder rejects a SKILL.md that is good, and other findings remain."""
    large = FOLDER_TOO_LARGE.at()
    rejection = verdict(with_fields("foo: bar"), problems=(large,))
    assert isinstance(rejection, Rejection)
    assert codes(rejection) == {"folder-too-large", "field-not-in-specification"}


def test_the_specification_is_always_asked() -> None:
    """spec_valid does not depend on the profiles that a root is configured with."""
    looked = looked_at(with_fields("foo: bar").encode())
    place = Place("/watched", "pdf", "project")
    record = judge(looked, parse(looked.skill_md), place, acceptance="lenient", profiles=())
    assert isinstance(record, SkillRecord)
    assert not record.spec_valid


@pytest.mark.parametrize(
    ("place", "folder"),
    [
        pytest.param(Place("/w", "office/pdf", "project"), "pdf", id="nested"),
        pytest.param(Place("/w", "pdf/", "project"), "pdf", id="a slash at the end"),
        pytest.param(Place("/w/pdf", "", "project"), "pdf", id="the root itself"),
        pytest.param(Place("/w/pdf", ".", "project"), "pdf", id="the root as a dot"),
        pytest.param(Place("/w", "pdf.zip!", "project"), "pdf", id="top of a zip"),
        pytest.param(Place("/w", "a/pdf.TAR.GZ!", "project"), "pdf", id="top of a tar"),
        pytest.param(Place("/w", "x.zip!/in/pdf", "project"), "pdf", id="inside a zip"),
        pytest.param(Place("/w", "pdf!", "project"), "pdf!", id="no archive"),
    ],
)
def test_folder_name(place: Place, folder: str) -> None:
    """A skill at the top of an archive or a root takes its name."""
    assert place.folder_name == folder


@pytest.mark.parametrize(
    ("path", "plugin", "declared", "name", "skill_id"),
    [
        pytest.param("pdf", None, "reader", "reader", "reader", id="declared"),
        pytest.param("Pdf", None, None, "Pdf", "pdf", id="the folder's"),
        pytest.param("x.zip!", None, None, "x", "x", id="the archive's"),
        pytest.param("pdf", None, "[a, b]", "pdf", "pdf", id="not text: the folder's"),
        pytest.param("pdf", None, "数据", "数据", "数据", id="Chinese"),
        pytest.param(
            "office/pdf",
            "office",
            "reader",
            "office:reader",
            "office--reader",
            id="of a plugin",
            marks=pytest.mark.requirement("textbook/plugin-name"),
        ),
        pytest.param(
            "office",
            "office",
            "reader",
            "office:office",
            "office--office",
            id="directly in the plugin's folder",
            marks=pytest.mark.requirement("claude-code/plugin-itself"),
        ),
        pytest.param(
            "office/office",
            "office",
            None,
            "office:office",
            "office--office",
            id="in a folder named after its plugin",
        ),
    ],
)
def test_naming(
    path: str, plugin: str | None, declared: str | None, name: str, skill_id: str
) -> None:
    """A skill is named as declared, else after its folder, and qualified by its plugin."""
    line = f"name: {declared}\n" if declared else ""
    level: Level = "plugin" if plugin else "project"
    text = GOOD.replace("name: pdf\n", line)
    record = accepted(text, place=Place("/watched", path, level, plugin))
    assert (record.name, record.skill_id) == (name, skill_id)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param("author: A", {"author": "A"}, id="author"),
        pytest.param(
            "metadata:\n  author: A",
            {"author": "A"},
            id="author in metadata",
            marks=pytest.mark.requirement("agent-skills/metadata-free"),
        ),
        pytest.param("author: A\nmetadata:\n  author: B", {"author": "A"}, id="author in both"),
        pytest.param("tags: a, b", {"tags": ("a", "b")}, id="tags"),
        pytest.param(
            "metadata:\n  tags: a b",
            {"tags": ("a", "b")},
            id="tags in metadata",
            marks=pytest.mark.requirement("agent-skills/metadata-free"),
        ),
        pytest.param("keywords: [a]", {"tags": ("a",)}, id="keywords stand in for tags"),
        pytest.param("triggers:\n  priority: 0.9", {"priority": 0.9}, id="priority"),
        pytest.param("metadata:\n  priority: 1", {"priority": 1.0}, id="priority in metadata"),
        pytest.param(
            "triggers:\n  priority: 0\nmetadata:\n  priority: 1",
            {"priority": 0.0},
            id="a priority of nothing counts",
        ),
        pytest.param("metadata:\n  category: c", {"category": "c"}, id="category in metadata"),
        pytest.param(
            "displayName: PDF 工具",
            {"display_name": "PDF 工具"},
            id="display name",
            marks=pytest.mark.requirement("apexbridge/display-name"),
        ),
        pytest.param(
            "license: MIT\ncompatibility: uv",
            {"license": "MIT", "compatibility": "uv"},
            id="license and compatibility",
            marks=pytest.mark.requirement("agent-skills/license"),
        ),
        pytest.param("license: ''", {"license": None}, id="an empty license is none"),
        pytest.param(
            "allowed-tools: [Read, Bash(a b)]",
            {"allowed_tools": "Read Bash(a b)"},
            id="tools as a list",
            marks=pytest.mark.requirement("agent-skills/tools-text"),
        ),
        pytest.param(
            "disable-model-invocation: yes",
            {"model_invocable": False, "user_invocable": True},
            id="users only",
            marks=pytest.mark.requirement("textbook/mode-users"),
        ),
        pytest.param(
            "user-invocable: False",
            {"model_invocable": True, "user_invocable": False},
            id="models only",
            marks=pytest.mark.requirement("textbook/mode-models"),
        ),
        pytest.param("user-invocable: maybe", {"user_invocable": True}, id="wrong type"),
    ],
)
def test_declared_values(fields: str, expected: dict[str, Any]) -> None:
    """Declared fields reach the record, at the top level or in metadata."""
    record = accepted(with_fields(fields))
    assert {field: getattr(record, field) for field in expected} == expected


def test_a_mismatch_is_found_at_its_line() -> None:
    """A field of a wrong type has a finding with its line, and does not reject."""
    record = accepted(with_fields("metadata:\n  priority: high"), "strict")
    (mismatch,) = record.findings
    assert (mismatch.code, mismatch.field, mismatch.line) == ("field-type", "metadata.priority", 5)
    assert (mismatch.severity, record.priority) == ("warning", None)


CORPUS = Path(os.environ.get("SKILLDROP_CORPUS") or Path(__file__).parents[4] / "shared/corpus")

# skills-ref refuses YAML in flow style, which the specification does not forbid; in these there
# is nothing else that it would refuse.
VALID_FOR_US_ALONE = {"skills/azure-role-selector"}


APEXBRIDGE = """---
name: pdf
description: Reads PDF.
version: 1.0.0
type: direct
capabilities: [read]
tags: [pdf]
triggers: {phrases: [read this], priority: 0.7}
input_schema: {type: object, properties: {page: {type: integer, default: 5, title: "5"}}}
output_schema: {}
security: {timeout_ms: 100, memory_mb: 16, network: none}
resources: {entry: ./scripts/run.py}
---
# Description
# Input
# Output
# Steps
# Examples
# Safety
"""


def judged_as_package(text: str, acceptance: Acceptance) -> Verdict:
    """Return the verdict in a root of ApexBridge's packages."""
    looked = looked_at(text.encode())
    return judge(
        looked,
        parse(looked.skill_md),
        Place("/watched", "pdf", "project"),
        acceptance=acceptance,
        profiles=("apexbridge",),
    )


@pytest.mark.requirement("own/package-strict")
@pytest.mark.parametrize(
    ("old", "new", "strict", "lenient"),
    [
        pytest.param("", "", True, True, id="good"),
        pytest.param("type: direct", "type: script", False, True, id="an unknown type"),
        pytest.param("version: 1.0.0\n", "", False, True, id="a missing field"),
        pytest.param("timeout_ms: 100", "timeout_ms: x", False, True, id="a wrong type"),
        pytest.param("memory_mb: 16, ", "", True, True, id="a warning"),
        pytest.param(
            "type: direct",
            "type: direct\ncolour: green",
            True,
            True,
            id="a field that nobody defined",
        ),
        pytest.param(
            "type: direct", "type: direct\nmodel: opus", True, True, id="a field of another system"
        ),
    ],
)
def test_acceptance_of_a_package(old: str, new: str, strict: bool, lenient: bool) -> None:
    """ApexBridge's errors reject only under strict; the presence of its fields never does."""
    text = APEXBRIDGE.replace(old, new)
    verdicts = {how: judged_as_package(text, how) for how in ("strict", "lenient", "permissive")}
    assert {how: isinstance(each, SkillRecord) for how, each in verdicts.items()} == {
        "strict": strict,
        "lenient": lenient,
        "permissive": lenient,
    }
    assert "field-not-in-specification" not in codes(verdicts["lenient"])
    assert getattr(verdicts["lenient"], "spec_valid", None) is False


@pytest.mark.requirement("apexbridge/package-names")
@pytest.mark.parametrize("name", ["PDF", "pdf_reader", "other", "读取"])
def test_a_dialect_permits_names_that_it_allows(name: str) -> None:
    """ApexBridge only recommends a form of names, so a strict root of its packages takes any."""
    record = judged_as_package(APEXBRIDGE.replace("name: pdf", f"name: {name}"), "strict")
    assert isinstance(record, SkillRecord)
    assert not record.spec_valid
    severities = {f.severity for f in record.findings if f.code.startswith("name-")}
    assert severities == {"warning"}


@pytest.mark.requirement("apexbridge/package-declared")
def test_a_package_that_declares_itself_one_has_its_fields() -> None:
    """Several fields of ApexBridge alone are no error in any root, though spec_valid stays no."""
    record = verdict(APEXBRIDGE, "strict")
    assert isinstance(record, SkillRecord)
    assert not record.spec_valid


def test_a_rejection_begins_with_its_reason() -> None:
    """Findings that reject nothing follow, in the order of their lines."""
    text = APEXBRIDGE.replace("type: direct", "type: direct\nlicense: [a]").replace(
        "description: Reads PDF.", "description: ''"
    )
    rejection = verdict(text, "lenient")
    assert isinstance(rejection, Rejection)
    assert [f.code for f in rejection.findings] == [
        "description-missing",
        "license-not-text",
    ]


@pytest.mark.parametrize(
    ("field", "profiles", "acceptance", "severity"),
    [
        pytest.param("foo: 1", (), "lenient", "error", id="to the letter"),
        pytest.param("hooks: {}", (), "lenient", "error", id="a client's, to the letter"),
        pytest.param("foo: 1", ("advice",), "lenient", "warning", id="by default"),
        pytest.param("author: us", ("advice",), "lenient", None, id="a document's"),
        pytest.param("hooks: {}", ("advice",), "lenient", None, id="a client's"),
        pytest.param("foo: 1", ("advice",), "strict", "error", id="strict"),
        pytest.param("hooks: {}", ("advice",), "strict", None, id="a client's, strict"),
    ],
)
def test_other_fields_are_an_error_only_to_the_letter(
    field: str, profiles: tuple[str, ...], acceptance: Acceptance, severity: str | None
) -> None:
    """With other profiles they are a warning, and none if clients read them; never spec_valid."""
    looked = looked_at(with_fields(field).encode())
    place = Place("/watched", "pdf", "project")
    parsed = parse(looked.skill_md)
    result = judge(looked, parsed, place, acceptance=acceptance, profiles=profiles)
    found = [f.severity for f in result.findings if f.code == "field-not-in-specification"]
    assert found == ([severity] if severity else [])
    assert isinstance(result, Rejection) == (severity == "error" and acceptance == "strict")
    assert not getattr(result, "spec_valid", False)


@pytest.mark.requirement("textbook/book-tools", "textbook/book-booleans")
def test_a_list_of_tools_and_booleans_are_read_as_the_textbook_shows_them() -> None:
    """By default nothing is said about them; a comma between tools is a warning."""
    fields = "allowed-tools:\n  - Read\n  - Grep\ndisable-model-invocation: true\n"
    record = accepted_by_default(f"{fields}user-invocable: true")
    assert not [f for f in record.findings if f.profile == "spec"]
    assert (record.allowed_tools, record.model_invocable) == ("Read Grep", False)
    found = accepted_by_default("allowed-tools: Read, Grep").findings
    (commas,) = (f for f in found if f.profile == "spec")
    assert (commas.code, commas.severity) == ("allowed-tools-not-text", "warning")


def test_a_description_that_says_nothing_is_told_and_stays_as_it_is() -> None:
    """Nothing of the body takes its place."""
    text = GOOD.replace("Reads PDF.", "Helps with PDFs.")
    looked, place = looked_at(text.encode()), Place("/watched", "pdf", "project")
    parsed = parse(looked.skill_md)
    record = judge(looked, parsed, place, acceptance="permissive", profiles=DEFAULT_PROFILES)
    assert isinstance(record, SkillRecord)
    assert record.description == "Helps with PDFs."
    assert "description-says-nothing" in codes(record)


def accepted_by_default(fields: str) -> SkillRecord:
    """Return the record of a skill with further fields, in a strict root with default profiles."""
    looked = looked_at(with_fields(fields).replace("PDF.", "PDF. Use for forms.").encode())
    place = Place("/watched", "pdf", "project")
    record = judge(
        looked, parse(looked.skill_md), place, acceptance="strict", profiles=DEFAULT_PROFILES
    )
    assert isinstance(record, SkillRecord)
    return record


def test_the_type_of_a_dialects_field_is_asked_only_of_its_packages() -> None:
    """Many skills have fields of these names."""
    assert "field-type" not in codes(verdict(with_fields("version: 1.0.0\ntriggers: [a]")))


@pytest.mark.requirement("apexbridge/schema-types")
def test_fields_of_apexbridge_have_their_types() -> None:
    """Schemas hold real numbers and booleans, and quoted ones stay text."""
    record = accepted(APEXBRIDGE)
    package = record.dialects["apexbridge"]
    assert isinstance(package, ApexBridge)
    assert package.input_schema == {
        "type": "object",
        "properties": {"page": {"type": "integer", "default": 5, "title": "5"}},
    }
    assert (package.timeout_ms, package.network) == (100, "none")
    assert (package.phrases, record.priority) == (("read this",), 0.7)
    assert accepted(GOOD).dialects == {}


def test_a_wrong_type_is_reported_once() -> None:
    """The profile reports an error; without the profile, a warning is reported."""
    text = APEXBRIDGE.replace("timeout_ms: 100", "timeout_ms: x")
    asked = [
        f.code
        for f in judged_as_package(text, "lenient").findings
        if f.field == "security.timeout_ms"
    ]
    unasked = [f.code for f in verdict(text).findings if f.field == "security.timeout_ms"]
    assert (asked, unasked) == (["field-malformed"], ["field-type"])


@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus of real skills")
def test_spec_valid_is_the_reference_validators_verdict_on_real_skills() -> None:
    """Real skills have the same verdict as in skills-ref, except for flow style."""
    different = set()
    for real in json.loads((CORPUS / "manifest.json").read_text())["entries"]:
        folder = CORPUS / real["sample_path"]
        raw = (folder / real["skill_file"]).read_bytes()
        parsed = parse(raw)
        place = Place(str(folder.parent), folder.name, "project")
        judged = judge(
            looked_at(raw, folder.name), parsed, place, acceptance="lenient", profiles=("spec",)
        )
        valid = isinstance(judged, SkillRecord) and judged.spec_valid
        if valid != real["skills_ref"]["valid"]:
            different.add(real["skill_dir"])
    assert different == VALID_FOR_US_ALONE


@pytest.mark.parametrize(
    ("description", "is_template"),
    [
        ('"[TODO: say what it does.]"', True),
        ("<TODO>", True),
        ('"TODO: say what this skill does."', True),
        ("TODO lists of a team. Use when somebody asks what is left to do.", False),
        ("Finds [TODO] marks in code. Use when asked for open ends.", False),
    ],
)
def test_only_the_text_of_a_template_is_a_placeholder(description: str, is_template: bool) -> None:
    """A skill may be about lists of things to do."""
    judged = verdict(GOOD.replace("Reads PDF.", description))
    assert ("placeholder-text" in {each.code for each in judged.findings}) is is_template
