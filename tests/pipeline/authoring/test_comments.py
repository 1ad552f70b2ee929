"""Comments in a SKILL.md that leave out findings."""

from pipeline.authoring.selection import read

TEXT = """---
# skilldrop: ignore=name-not-folder
name: other
description: x # skilldrop: ignore=description-vague
---
A line. <!-- skilldrop: ignore=reference-missing, spec -->

<!-- skilldrop: ignore=instruction-override -->

The next line.
<!-- skilldrop: ignore-file=body-long -->
"""


def test_a_comment_is_about_its_line_the_next_one_or_the_skill() -> None:
    """Alone on a line, it is about the next line that is not empty."""
    ignores = read(TEXT.replace("body-long", "safety"))
    assert set(ignores.by_line) == {3, 4, 6, 10}
    assert ignores.by_line[3] == {"name-not-folder"}
    assert {"reference-missing", "name-missing"} <= ignores.by_line[6]
    assert "instruction-override" in ignores.everywhere
    assert not ignores.problems


def test_an_unknown_code_in_a_comment_is_told_with_the_nearest() -> None:
    """Other codes of the comment still count."""
    ignores = read("a <!-- skilldrop: ignore=name-mising,name-missing -->\n")
    assert ignores.by_line == {1: {"name-missing"}}
    (problem,) = ignores.problems
    assert problem.startswith("1: the comment names 'name-mising', which is neither a code nor")
    assert problem.endswith("; did you mean name-missing?")
    assert read("<!-- skilldrop: skip=spec -->").problems
