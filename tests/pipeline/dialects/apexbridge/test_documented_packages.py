"""Packages of the forms that ApexBridge's documentation shows, written in our own words."""

import json
import re
from pathlib import Path

import pytest

from pipeline.authoring.convert import ConversionOptions, migrate_paths
from pipeline.authoring.lint import judge_paths
from pipeline.dialects.apexbridge.dialect import APEXBRIDGE
from tests.support import program
from tests.support.documents import document, skills_in
from tests.support.shelf import Shelf

CODE = """
```typescript
export async function execute(parameters: Record<string, unknown>) {
  return { output: parameters.text, status: 'success', intermediateSteps: [] };
}
```
"""
TOOL = """
protocol: abp
abp:
  kind: query
  tools:
    - name: findTrain
      description: Finds the next train
      parameters:
        station: {type: string, description: The station, required: true}
      returns: {type: object, description: A train}
"""
SERVICE = """---
name: next-train
displayName: 下一班火车
description: 查询下一班火车的时间
version: 1.0.0
type: service
category: 出行
keywords: [火车, train]
domain: travel
permissions:
  network: true
  filesystem: none
cacheable: true
ttl: 60
---
"""
DIRECT = """---
name: {name}
displayName: {title}
description: {title}的步骤
version: 1.0.0
type: direct
---

# {title}

"""
PACKAGES = {
    "shortest": "---\nname: short\ndescription: Skill\nversion: 1.0.0\ntype: direct\n---\n\n"
    f"# 正文\n## 描述\n...\n\n## 代码\n{CODE}",
    "vcp": SERVICE,
    "abp": SERVICE.replace("category:", f"{TOOL.strip()}\ncategory:"),
    "memories": DIRECT.format(name="note-keeper", title="便条")
    + f"## 描述\n\n保存便条。\n\n## 参数\n\n- `text`\n\n## 代码\n{CODE}",
    "steps": DIRECT.format(name="row-cleaner", title="清洗")
    + f"## 描述\n\n清洗。\n\n## 代码\n{CODE}",
    "both": DIRECT.format(name="address-book", title="用户资料") + f"## 代码\n{CODE}",
}
DOCUMENTED = 6  # in the document, of the same forms


def written(text: str, root: Path) -> Path:
    """Write a package into a folder of its name."""
    name = re.search(r"^name: (\S+)", text, re.MULTILINE)
    assert name
    folder = root / name[1]
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text, "utf-8")
    return folder


def is_recognised(text: str, root: Path) -> None:
    """Check a package with a field of its own, without the profile and in a strict root."""
    folder = written(text.replace("version:", "house: ours\nversion:", 1), root)
    (judgement,) = judge_paths([folder], acceptance="strict")
    assert judgement.loadable
    assert "field-not-in-specification" not in {found.code for found in judgement.findings}


def is_converted(text: str, root: Path) -> None:
    """Convert a package; validate the result as a user does, with the profile."""
    folder = written(text, root / "old")
    (conversion,) = migrate_paths([folder], ConversionOptions(APEXBRIDGE, root / "new"))
    assert {finding.severity for finding in conversion.plan.findings} == {"warning"}
    result = program.run("validate", root / "new", "--profile", "apexbridge", "--json")
    (judged,) = json.loads(result.stdout)
    assert not [found for found in judged["findings"] if found["severity"] == "error"]
    assert result.returncode == 0


@pytest.mark.requirement("apexbridge/package-declared", "apexbridge/fields-further")
@pytest.mark.parametrize("text", PACKAGES.values(), ids=PACKAGES)
def test_a_package_is_recognised_without_the_profile(text: str, tmp_path: Path) -> None:
    """Its fields, and further ones of its own, are no error even in a strict root."""
    is_recognised(text, tmp_path)


@pytest.mark.parametrize("number", range(DOCUMENTED))
def test_a_package_of_the_document_is_recognised(number: int, tmp_path: Path) -> None:
    """The same holds for the document's own examples."""
    is_recognised(list(skills_in(document("004")))[number], tmp_path)


@pytest.mark.requirement("apexbridge/result-valid")
@pytest.mark.parametrize("text", PACKAGES.values(), ids=PACKAGES)
def test_a_converted_package_passes_the_gate(text: str, tmp_path: Path) -> None:
    """It has no error of its profile; each placeholder is a warning."""
    is_converted(text, tmp_path)


@pytest.mark.parametrize("number", range(DOCUMENTED))
def test_a_converted_package_of_the_document_passes_the_gate(number: int, tmp_path: Path) -> None:
    """The same holds for the document's own examples."""
    is_converted(list(skills_in(document("004")))[number], tmp_path)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param("type: reference\nversion: 1.0.0", id="another type"),
        pytest.param("type: direct", id="no version"),
        pytest.param("version: 1.0.0\ntriggers: [a]", id="one sign"),
    ],
)
def test_other_skills_are_not_taken_for_packages(fields: str, tmp_path: Path) -> None:
    """A field that nobody defines is an error of them in a strict root."""
    text = f"---\nname: other\ndescription: Reads.\n{fields}\nhouse: ours\n---\n"
    (judgement,) = judge_paths([written(text, tmp_path)], acceptance="strict")
    of_fields = [f for f in judgement.findings if f.code == "field-not-in-specification"]
    assert ("error", "house") in {(f.severity, f.field) for f in of_fields}


@pytest.mark.requirement("apexbridge/protocol-default")
@pytest.mark.parametrize(("name", "protocol"), [("vcp", "vcp"), ("abp", "abp"), ("steps", "vcp")])
def test_the_protocol_is_stored_with_its_default(name: str, protocol: str, tmp_path: Path) -> None:
    """A query by protocol finds every package."""
    shelf = Shelf(tmp_path)
    written(PACKAGES[name], shelf.root)
    shelf.scan()
    stored = shelf.db.execute("SELECT protocol FROM apexbridge_skills").fetchall()
    assert [tuple(row) for row in stored] == [(protocol,)]
    shelf.close()
