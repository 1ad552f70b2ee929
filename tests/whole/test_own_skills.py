"""Our own skills pass every profile that is on by default."""

import re
from pathlib import Path

from pipeline.authoring.lint import judge_paths
from pipeline.config.selection import ValidateConfig, ValidateSettings, of_settings
from tests.support.paths import REPOSITORY


def findings(folder: Path) -> list[str]:
    """Return the findings in the skills below a folder, as `validate` reports them."""
    select = of_settings(ValidateConfig(ValidateSettings(), folder), ValidateSettings())
    judged = judge_paths([folder], select=select, cores=1)
    return [f"{found.code} {one.place(found)}" for one in judged for found in one.findings]


def test_nothing_is_found_in_the_example_skills() -> None:
    """A comment explains the one field that is there on purpose; a quoted attack is only named."""
    assert {found.partition(" ")[0] for found in findings(REPOSITORY / "watched")} == {
        "danger-named"
    }


def test_nothing_is_found_in_the_skill_of_the_readme(tmp_path: Path) -> None:
    """Readers copy it."""
    text = (REPOSITORY / "README.md").read_text("utf-8")
    example = re.search(r"^---\nname: (\S+)\n.*?(?=^END$)", text, re.DOTALL | re.MULTILINE)
    assert example
    (tmp_path / example[1]).mkdir()
    (tmp_path / example[1] / "SKILL.md").write_text(example[0], "utf-8")
    assert findings(tmp_path) == []
