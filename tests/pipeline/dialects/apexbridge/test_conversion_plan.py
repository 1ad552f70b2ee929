from collections.abc import Mapping

import pytest

from pipeline.dialects.apexbridge.conversion_plan import code_block, plan
from pipeline.parsing.document import parse
from pipeline.validation.profile import OldLayout, Plan

FULL = """---
name: dice # as in the game
description: Rolls dice.
version: 1.0.0
type: direct
capabilities: [roll]
tags: [dice]
triggers: {phrases: [roll]}
input_schema: {}
output_schema: {}
security: {network: none}
resources: {entry: ./scripts/execute.ts}
---

Text.

## Description, parameters and output

Text.

## Steps

Text.

## Examples

None.
"""
DIRECTORIES = frozenset({"scripts", "references", "assets"})


def planned(
    skill_md: str | bytes,
    *files: str,
    texts: Mapping[str, str] | None = None,
    folders: frozenset[str] = DIRECTORIES,
) -> Plan:
    """Return the plan for a folder named dice."""
    texts = texts or {}
    return plan(
        OldLayout(
            "dice",
            "SKILL.md",
            skill_md if isinstance(skill_md, bytes) else skill_md.encode(),
            frozenset({"SKILL.md", *files, *texts}),
            folders,
            texts,
        )
    )


def written(of: Plan) -> str:
    """Return the new SKILL.md."""
    assert not of.refused, of.findings
    return of.writes["SKILL.md"].decode()


def declared(of: Plan) -> Mapping[str, object]:
    """Return the fields of the new SKILL.md, read without a complaint."""
    parsed = parse(written(of).encode())
    assert parsed.findings == ()
    assert parsed.frontmatter is not None
    return parsed.frontmatter


def test_a_package_is_left_as_it_is() -> None:
    """The plan for a complete package is empty."""
    assert planned(FULL, "scripts/execute.ts") == Plan()


@pytest.mark.requirement("apexbridge/folders-made")
def test_missing_folders_are_made() -> None:
    """Only the folders of the package layout are created."""
    made = planned(FULL, "scripts/execute.ts", folders=frozenset({"scripts", "docs"}))
    assert (made.folders, made.writes) == (("references", "assets"), {})


@pytest.mark.requirement("own/sections-added")
@pytest.mark.parametrize(
    ("heading", "description", "added"),
    [
        ("## 步骤", "Rolls.", {"描述": "Rolls.", "示例": "尚无示例。"}),
        (
            "",
            "掷骰子，不问密码。",
            {"描述": "掷骰子，不问密码。", "安全提示": "尚未说明敏感数据的处理规范。"},
        ),
        (
            "## Steps",
            "掷骰子。",
            {"Description": "掷骰子。", "Examples": "There is no example yet."},
        ),
        ("", "Rolls.", {"Steps": "Run [scripts/execute.ts](scripts/execute.ts)."}),
    ],
)
def test_missing_sections_are_added(heading: str, description: str, added: dict[str, str]) -> None:
    """They are in the language of the headings, else of the description, each with a warning."""
    text = FULL.split("Text.")[0].replace("Rolls dice.", description)
    of = planned(f"{text}{heading}\n\nText.\n", "scripts/execute.ts")
    for title, sentence in added.items():
        assert f"\n\n## {title}\n\n{sentence}\n" in written(of)
    assert {(f.code, f.severity) for f in of.findings} == {("section-missing", "warning")}
    assert written(of).count("\n## ") == len(of.findings) + bool(heading)


@pytest.mark.requirement("apexbridge/placeholders")
@pytest.mark.parametrize(
    "field",
    [
        "version",
        "type",
        "capabilities",
        "tags",
        "triggers",
        "input_schema",
        "output_schema",
        "security",
        "resources",
    ],
)
def test_each_missing_field_is_filled_in_with_a_finding(field: str) -> None:
    """A finding names the placeholder and the advice; the other lines stay."""
    lines = FULL.splitlines(keepends=True)
    of = planned(
        "".join(line for line in lines if not line.startswith(field)), "scripts/execute.ts"
    )
    assert declared(of)[field]
    assert [(f.code, f.field) for f in of.findings] == [("required-field-missing", field)]
    assert all(line in written(of) for line in lines if not line.startswith(field))


def test_name_and_description_are_filled_in() -> None:
    """They come from the folder's name and the first paragraph, if there is one."""
    of = planned("---\nversion: 1.0.0\n---\n# Dice\n\nRolls  any dice.\n", "scripts/execute.ts")
    assert declared(of)["name"] == "dice"
    assert declared(of)["description"] == "Rolls any dice."
    assert [f.code for f in of.findings][:2] == ["name-missing", "description-missing"]
    bare = planned("---\nversion: 1.0.0\n---\n# Dice\n", "scripts/execute.ts")
    assert str(declared(bare)["description"]).startswith("TODO: ")


@pytest.mark.requirement("apexbridge/metadata-merged", "apexbridge/metadata-kept")
def test_metadata_is_merged_and_kept() -> None:
    """Fields missing in SKILL.md are added with their comments; its own values stay."""
    of = planned(
        "---\nname: dice\ntype: static # really\n---\nText.\n",
        "scripts/execute.ts",
        texts={
            "METADATA.yml": "# of the game\nname: cubes\ntype: static\n"
            "description: Rolls.\nversion: '2.0.0' # second\n"
        },
    )
    text = written(of)
    assert "type: static # really\n" in text
    assert "version: '2.0.0' # second\n" in text
    assert (declared(of)["name"], declared(of)["description"]) == ("dice", "Rolls.")
    assert of.moves == {"METADATA.yml": "METADATA.yml.legacy"}
    assert "keep name from SKILL.md; METADATA.yml has “cubes”" in of.steps


@pytest.mark.requirement("own/metadata-bare")
def test_metadata_alone_becomes_the_frontmatter() -> None:
    """A SKILL.md without frontmatter gets one, and its text stays below it."""
    of = planned(
        "# Dice\n\nText.\n",
        "scripts/execute.ts",
        texts={"METADATA.yaml": "name: dice\ndescription: Rolls.\n"},
    )
    assert written(of).startswith("---\nname: dice\ndescription: Rolls.\n")
    assert "---\n\n# Dice\n\nText.\n\n## Description\n\nRolls.\n" in written(of)


@pytest.mark.requirement("own/unreadable")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [", id="not YAML"),
        pytest.param("- a", id="a list"),
        pytest.param("a: &x 1", id="an anchor"),
    ],
)
def test_metadata_that_cannot_be_read_stops_it(text: str) -> None:
    """An unreadable file is refused: nothing changes, and a finding names its line."""
    of = planned(FULL, texts={"METADATA.yml": text})
    assert (of.refused, of.writes, of.moves) == (True, {}, {})
    assert of.findings[0].path == "METADATA.yml"
    assert of.findings[0].line


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"---\nname: [\n---\n", id="YAML beyond repair"),
        pytest.param(b"---\nname: a: b\n---\n", id="YAML that needs repair"),
        pytest.param(b"---\nname: \xff\n---\n", id="not UTF-8"),
        pytest.param("---\nname: a\n---\n".encode("utf-16"), id="UTF-16"),
        pytest.param(b"", id="empty"),
        pytest.param(b"---\nname: a\nname: b\n---\n", id="a field twice"),
        pytest.param(b"---\nname: a\n", id="never closed"),
        pytest.param(b"---\n- a\n---\n", id="a list"),
    ],
)
def test_a_skill_md_that_cannot_be_read_stops_it(data: bytes) -> None:
    """A SKILL.md that cannot be read is not overwritten."""
    of = planned(data)
    assert (of.refused, of.writes) == (True, {})
    assert of.findings


@pytest.mark.requirement("apexbridge/code-block")
def test_code_moves_to_a_script() -> None:
    """A link to the script replaces the block, and nothing else changes."""
    of = planned(FULL + "## 代码\n\n```python\nprint(1)\n```\n\n## 示例\n", folders=frozenset())
    assert of.writes["scripts/execute.py"] == b"print(1)\n"
    assert "\n## 代码\n\n见 [scripts/execute.py](scripts/execute.py)。\n\n## 示例\n" in written(of)


def test_code_stays_where_there_is_a_script() -> None:
    """Two scripts of the same name are not merged."""
    text = FULL + "## Code\n\n```ts\nnew\n```\n"
    of = planned(text, "scripts/execute.ts")
    assert not of.changes_something
    assert of.steps == ("leave the code block in SKILL.md, because a script exists already",)


@pytest.mark.requirement("own/main-script")
def test_the_older_script_gets_its_name() -> None:
    """The frontmatter and the body of SKILL.md name the new path."""
    text = FULL.replace("execute.ts", "main.ts") + "Run `scripts/main.ts`, not xscripts/main.ts.\n"
    of = planned(text, "scripts/main.ts", "scripts/util.ts")
    assert of.moves == {"scripts/main.ts": "scripts/execute.ts"}
    assert "entry: ./scripts/execute.ts" in written(of)
    assert "Run `scripts/execute.ts`, not xscripts/main.ts." in written(of)


@pytest.mark.requirement("apexbridge/script-placeholder")
def test_without_any_script_there_is_a_placeholder() -> None:
    """The script is marked as a placeholder, and a finding reports it."""
    of = planned(FULL, folders=frozenset())
    assert b"placeholder" in of.writes["scripts/execute.ts"]
    assert [f.code for f in of.findings] == ["script-missing"]
    assert of.folders == ("references", "assets")


@pytest.mark.requirement("apexbridge/entry-added")
def test_an_entry_is_added_to_resources() -> None:
    """Existing entries of resources stay."""
    of = planned(
        FULL.replace("{entry: ./scripts/execute.ts}", "{references: [a.md]}"),
        "scripts/other.py",
        "a.md",
    )
    assert declared(of)["resources"] == {"entry": "./scripts/other.py", "references": ["a.md"]}


@pytest.mark.requirement("apexbridge/permissions-converted")
@pytest.mark.parametrize(
    "permissions",
    ["{network: false, filesystem: none}", "{network: true}"],
)
def test_permissions_become_security(permissions: str) -> None:
    """The new form restricts the rest; only the author knows the addresses of a network."""
    of = planned(
        FULL.replace("security: {network: none}", f"permissions: {permissions}"),
        "scripts/execute.ts",
    )
    security = declared(of)["security"]
    assert isinstance(security, dict)
    assert (security["network"], security["filesystem"]) == ("none", "none")
    asked = [finding.fix for finding in of.findings if finding.code == "allowlist-missing"]
    assert len(asked) == ("true" in permissions)
    assert all("network_allowlist" in fix for fix in asked)
    assert "permissions" not in declared(of)


@pytest.mark.requirement("apexbridge/permissions-converted")
def test_permissions_without_an_equal_stay() -> None:
    """A value without an equivalent is not dropped."""
    of = planned(
        FULL.replace("security: {network: none}", "permissions: {filesystem: write}"),
        "scripts/execute.ts",
    )
    assert declared(of)["permissions"] == {"filesystem": "write"}


def test_windows_line_ends_are_kept() -> None:
    """A file with CRLF line ends keeps them."""
    of = planned(FULL.replace("type: direct\n", "").replace("\n", "\r\n"), "scripts/execute.ts")
    assert written(of).count("\r\n") == written(of).count("\n")


@pytest.mark.requirement("own/again")
@pytest.mark.parametrize(
    ("skill_md", "files", "texts"),
    [
        ("Text.\n", [], {}),
        ("---\nname: dice\n---\n## Code\n```js\na\n```\n", [], {"METADATA.yml": "type: static\n"}),
        ("---\n{name: dice, type: direct}\n---\n", ["scripts/main.py"], {}),
        ("---\nname:\npermissions: {network: true}\n---\n", ["scripts/b.sh", "scripts/a.sh"], {}),
    ],
)
def test_a_second_run_changes_nothing(
    skill_md: str, files: list[str], texts: Mapping[str, str]
) -> None:
    """The plan for the result of a plan is empty."""
    first = planned(skill_md, *files, texts=texts, folders=frozenset())
    left = {*files, *texts} - set(first.moves) | set(first.moves.values()) | set(first.writes)
    second = plan(
        OldLayout("dice", "SKILL.md", first.writes["SKILL.md"], frozenset(left), DIRECTORIES, {})
    )
    assert not second.changes_something
    assert not second.findings


@pytest.mark.requirement("apexbridge/code-block")
@pytest.mark.parametrize(
    ("text", "ending", "code"),
    [
        pytest.param("## 代码\n\n```typescript\na\nb\n```\n", "ts", "a\nb\n", id="Chinese"),
        pytest.param("# Code\n```py\na\n```", "py", "a\n", id="English, no blank line"),
        pytest.param("## 3. Code:\n~~~bash\na\n~~~", "sh", "a\n", id="numbered, tildes"),
        pytest.param("## 💻 Code 💻\n```\na\n```", None, "a\n", id="no language"),
        pytest.param(
            "## Code\n````js\n```\na\n```\n````", "js", "```\na\n```\n", id="a fence in it"
        ),
        pytest.param("## Code\n### Part\n```ts\na\n```", "ts", "a\n", id="below a lower heading"),
        pytest.param(
            "## Use\n```sh\nx\n```\n## Code\n```ts\na\n```\n```ts\nb\n```",
            "ts",
            "a\n",
            id="the first of its section alone",
        ),
        pytest.param(
            "```\n## Code\n```\n## Code\n```js\na\n```",
            "js",
            "a\n",
            id="a heading in a code block is none",
        ),
        pytest.param("## Code\n```ts\n```", "ts", "", id="empty"),
    ],
)
def test_the_code_below_its_heading_is_found(text: str, ending: str | None, code: str) -> None:
    """A code block is found with any language, numbering and fence."""
    found = code_block(text)
    assert found
    assert (found.ending, found.code) == (ending, code)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("## Examples\n```ts\na\n```", id="another heading"),
        pytest.param("## Code\n\nSee scripts/.\n\n## Examples\n```ts\na\n```", id="no block in it"),
        pytest.param("## Code\n```ts\na\n", id="never closed"),
        pytest.param("## Code review\n```ts\na\n```", id="a longer heading"),
        pytest.param("Code\n```ts\na\n```", id="no heading"),
    ],
)
def test_other_code_is_left_alone(text: str) -> None:
    """Only a closed block in a code section counts."""
    assert code_block(text) is None
