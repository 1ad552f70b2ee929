"""The text of each format, which no skill can break out of."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given

from catalog.prompt_index import builder
from catalog.prompt_index.formats.form import INSTRUCTION, Candidate, FileGroup, Language
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec
from catalog.text.visible import one_line
from tests.support.candidates import CANDIDATES, SPECS, a, read_back
from tests.support.documents import document

TWO = [
    a("count", files=(FileGroup("SKILL.md"), FileGroup("scripts/count.py"))),
    a(
        "pdf",
        "Fills forms & more.",
        user_invocable=False,
        files=(
            FileGroup("FORMS.md"),
            FileGroup("LICENSE.txt"),
            FileGroup("REFERENCE.md"),
            FileGroup("SKILL.md"),
            FileGroup("scripts/", 8),
            FileGroup("templates/", 12),
        ),
    ),
]

SEMIBOT_ZH = IndexSpec(format="semibot", language="zh")

LOOKS = {
    "lines": (
        "<available_skills>\nWhen a task matches a line, first read that skill's SKILL.md. "
        "The files of the skill NAME are in /p/NAME/\n"
        "count: Counts words.\npdf (for agents only): Fills forms &amp; more.\n"
        "</available_skills>\n"
    ),
    "xml": (
        "<available_skills>\n<skill>\n<name>count</name>\n"
        "<description>Counts words.</description>\n"
        "<location>/p/count/current/SKILL.md</location>\n</skill>\n"
        '<skill user_invocable="false">\n<name>pdf</name>\n'
        "<description>Fills forms &amp; more.</description>\n"
        "<location>/p/pdf/current/SKILL.md</location>\n</skill>\n</available_skills>\n"
    ),
    "semibot": (
        '<available_skills>\n  <skill name="count" path="/p/count/current/">\n'
        "    Counts words.\n    Files: SKILL.md, scripts/count.py\n  </skill>\n"
        '  <skill name="pdf" path="/p/pdf/current/" user_invocable="false">\n'
        "    Fills forms &amp; more.\n"
        "    Files: SKILL.md, REFERENCE.md, FORMS.md, scripts/ (8), templates/ (12)\n  </skill>\n"
        "</available_skills>\n\n"
        "When a task matches a skill, first read its SKILL.md with the tool read_skill_file for "
        "the full guide.\n"
        "To run the scripts of a skill, use the tool bash. They lie under scripts/ in the skill's "
        "folder.\n"
    ),
    "markdown": (
        "- **count** (`/p/count/current/SKILL.md`): Counts words.\n"
        "- **pdf** (`/p/pdf/current/SKILL.md`, for agents only): Fills forms &amp; more.\n"
    ),
    "json": (
        '{"skills": [\n{"name": "count", "description": "Counts words.", '
        '"location": "/p/count/current/SKILL.md"},\n'
        '{"name": "pdf", "description": "Fills forms & more.", '
        '"location": "/p/pdf/current/SKILL.md", "user_invocable": false}\n]}\n'
    ),
    "discovery": (
        '{"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",\n"skills": [\n'
        '{"name": "count", "type": "skill-md", "description": "Counts words.", '
        f'"url": "/p/count/current/SKILL.md", "digest": "sha256:{"0" * 64}"}},\n'
        '{"name": "pdf", "type": "skill-md", "description": "Fills forms & more.", '
        f'"url": "/p/pdf/current/SKILL.md", "digest": "sha256:{"0" * 64}"}}\n]}}\n'
    ),
}


@pytest.mark.requirement(
    "agent-skills/disclosure-metadata",
    "client-guide/list",
    "prd/index-element",
    "prd/index-description",
    "claude-code/mode-models-marked",
    "textbook/step-descriptions",
    "prd/index-files",
)
@pytest.mark.parametrize("form", FORMATS)
def test_the_text_of_a_format(form: str) -> None:
    """Each format in full, with a mark on skills that only agents start."""
    spec = IndexSpec(format=form, location_base="/p")
    assert builder.build(spec, TWO).text == LOOKS[form]


TAILS = {
    ("lines", "zh"): "one\ntwo\n<left_out>另有 98 个技能未列出。</left_out>\n</available_skills>\n",
    ("xml", "en"): (
        '<by_name files="/p/NAME/">\none\ntwo\n</by_name>\n'
        "<left_out>98 more skills are not listed.</left_out>\n</available_skills>\n"
    ),
    ("semibot", "zh"): (
        '<by_name files="/p/NAME/current/">\none\ntwo\n</by_name>\n'
        "<left_out>另有 98 个技能未列出。</left_out>\n"
        f"</available_skills>\n\n{INSTRUCTION['zh']}\n"
    ),
    ("markdown", "en"): (
        "The files of NAME are in `/p/NAME/`:\n\n- one\n- two\n\n98 more skills are not listed.\n"
    ),
    ("json", "en"): (
        '{"skills": [],\n"by_name": {"files": "/p/NAME/", "skills": [\n"one",\n"two"\n]},\n'
        '"left_out": {"count": 98}}\n'
    ),
}


@pytest.mark.requirement("prd/index-languages")
@pytest.mark.parametrize(("form", "language"), TAILS)
def test_names_and_the_number_left_out_follow_the_entries(form: str, language: Language) -> None:
    """The names come with one pattern for their files, then the number of missing skills."""
    skills = [a("one", "x" * 500), a("two", "x" * 500), *[a("y" * 5000)] * 98]
    spec = IndexSpec(format=form, language=language, location_base="/p")
    found = (builder.build(replace(spec, budget_chars=n), skills) for n in range(200, 600))
    named = next(index for index in found if index.count("name_only") == 2)
    assert named.text.endswith(TAILS[form, language])


@pytest.mark.parametrize("form", ["lines", "xml", "semibot", "markdown", "json"])
def test_a_name_outside_the_pattern_has_its_location(form: str) -> None:
    """With another slug, or without a package, the name alone would mislead an agent."""
    skills = [
        a("plain", "x" * 500),
        a("plugin:one", "x" * 500, skill_id="plugin--one"),
        a("apart", "x" * 500, follows_pattern=False, location="/root/apart/SKILL.md"),
    ]
    for budget in range(100, 900):
        spec = IndexSpec(format=form, budget_chars=budget, location_base="/p")
        if (index := builder.build(spec, skills)).count("name_only") == 3:
            break
    assert [name for name, _ in read_back(spec, index)] == [
        "plain",
        "plugin:one (plugin--one)",
        "apart (/root/apart/SKILL.md)",
    ]


@pytest.mark.requirement("client-guide/instruction", "prd/index-instruction")
def test_an_instruction_follows_the_list() -> None:
    """Of the formats with a block, semibot has one, and the others have none."""
    own = {form: builder.build(IndexSpec(format=form), TWO).text for form in FORMATS}
    for text in (own["semibot"], builder.build(SEMIBOT_ZH, TWO).text):
        after = text.rpartition("</available_skills>\n\n")[2]
        assert re.findall("read_skill_file|bash", after) == ["read_skill_file", "bash"]
    for form in ("xml", "markdown", "json"):
        assert "read_skill_file" not in own[form]


@pytest.mark.requirement("prd/index-chinese", "prd/index-files")
def test_the_semibot_format_in_chinese() -> None:
    """The whole text: an element for each skill, then both sentences of the instruction."""
    skills = [
        a(
            "doc",
            "处理文档（读取、转换等）",
            location="/var/lib/semibot/skills/doc/current/SKILL.md",
            files=TWO[1].files,
        ),
        a("count", "Counts words.", files=TWO[0].files),
    ]
    assert builder.build(SEMIBOT_ZH, skills).text == (
        "<available_skills>\n"
        '  <skill name="doc" path="/var/lib/semibot/skills/doc/current/">\n'
        "    处理文档（读取、转换等）\n"
        "    文件: SKILL.md, REFERENCE.md, FORMS.md, scripts/(8个脚本), templates/(12个文件)\n"
        "  </skill>\n"
        '  <skill name="count" path="/p/count/current/">\n'
        "    Counts words.\n"
        "    文件: SKILL.md, scripts/count.py\n"
        "  </skill>\n"
        "</available_skills>\n\n"
        "当任务匹配某个技能时，先用 read_skill_file 工具读取对应的 SKILL.md 获取完整指南。\n"
        "如需执行技能中的脚本，使用 bash 工具运行。脚本位于技能目录的 scripts/ 下。\n"
    )


def test_the_semibot_format_is_the_example_of_its_document() -> None:
    """Character for character, from the skills that the example shows."""
    text = document("001")
    example = text[text.index("<available_skills>") :].partition("\n```")[0]
    shown = re.findall(r'<skill name="(.+?)" path="(.+?)">\n *(.+)\n *文件: (.+)\n', example)
    skills = [
        a(name, description, location=f"{folder}SKILL.md", files=tuple(_groups(files)))
        for name, folder, description, files in shown
    ]
    assert len(skills) == 2
    assert builder.build(SEMIBOT_ZH, skills).text == f"{example}\n"


def _groups(files: str) -> Iterator[FileGroup]:
    for path in files.split(", "):
        folder, _, count = path.partition("(")
        yield FileGroup(folder, int(re.sub(r"\D", "", count) or 1))


@pytest.mark.requirement("prd/index-folders")
def test_many_files_are_counted() -> None:
    """The line of files stays short for any skill; folders keep their room beside documents."""
    files = [FileGroup(f"doc{n:02}.md") for n in range(40)]
    folders = [FileGroup(f"folder{n:02}/", 3) for n in range(40)]
    text = builder.build(IndexSpec(format="semibot"), [a("big", files=(*files, *folders))]).text
    assert "doc05.md, … (34), folder00/ (3), " in text
    assert "folder11/ (3), … (28)\n" in text


@given(SPECS, CANDIDATES)
def test_reading_a_text_back_gives_what_the_report_says(
    spec: IndexSpec, candidates: list[Candidate]
) -> None:
    """No text of a skill can close its element, start another or begin a line."""
    index = builder.build(spec, candidates)
    told = [(one_line(e.skill.name), e.shown) for e in index.entries]
    by_id = {one_line(c.name): f"{one_line(c.name)} (" for c in candidates}
    read = read_back(spec, index)
    assert len(read) == len(told)
    for (name, said), (expected, description) in zip(read, told, strict=True):
        assert said == description
        if spec.format != "discovery":
            assert name == expected or name.startswith(by_id[expected])


@given(CANDIDATES)
def test_markdown_has_one_line_a_skill(candidates: list[Candidate]) -> None:
    """Each line of the list is one skill, and no other lines exist."""
    text = builder.build(IndexSpec(format="markdown", budget_chars=10**6), candidates).text
    lines = text.splitlines()
    assert len(lines) == len(candidates)
    assert all(re.match(r"- \*\*", line) for line in lines)


@pytest.mark.requirement("well-known/index")
@given(CANDIDATES)
def test_discovery_has_the_fields_of_its_schema(candidates: list[Candidate]) -> None:
    """Name, type, description, url and digest, where needed a title, and their schema."""
    text = builder.build(IndexSpec(format="discovery", budget_chars=10**6), candidates).text
    if candidates:
        found = json.loads(text)
        assert found["$schema"].endswith("/discovery/0.2.0/schema.json")
        assert all(
            set(skill) - {"title"} == {"name", "type", "description", "url", "digest"}
            for skill in found["skills"]
        )
