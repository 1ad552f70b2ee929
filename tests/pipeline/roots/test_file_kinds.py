"""Choice of the texts that rules read."""

import pytest

from pipeline.roots.file_kinds import SKILL_BYTES, SKILL_FILES, chosen, is_read


@pytest.mark.parametrize(
    ("path", "is_chosen"),
    [
        ("references/a.md", True),
        ("scripts/run.py", True),
        ("scripts/run", True),
        ("lib/tool.ts", True),
        ("LICENSE", False),
        ("assets/logo.png", False),
        ("data.csv", False),
        ("tests/attack.md", False),
        ("scripts/node_modules/a/b.js", False),
    ],
)
def test_scripts_and_documents_are_read(path: str, is_chosen: bool) -> None:
    """Data, pictures, tests and installed packages are not."""
    assert is_read(path) == is_chosen


def test_the_bytes_and_files_are_bounded() -> None:
    """A large file is skipped, and the first files are read up to a number of bytes and files."""
    assert list(chosen([("a.md", SKILL_BYTES + 1), ("b.md", SKILL_BYTES)])) == ["b.md"]
    many = [(f"{number:03}.md", SKILL_BYTES // 16) for number in range(20)]
    assert len(list(chosen(many))) == 16
    small = [(f"{number:03}.md", 1) for number in range(SKILL_FILES + 9)]
    assert len(list(chosen(small))) == SKILL_FILES
