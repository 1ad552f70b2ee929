"""Text of the skill that finds others."""

import yaml

from catalog.listings.finder import description_in, skill_md


def text(number: int, *tags: str) -> str:
    """Return the text for so many skills with tags."""
    skills = [(f"pdf-{count}", list(tags)) for count in range(number)]
    return skill_md("find", skills, "/bin/skilldrop", "/var/data")


def test_the_text_is_a_skill() -> None:
    """Its description says how many skills there are, and their main subjects."""
    _, head, body = text(230, "tables").split("---\n")
    assert yaml.safe_load(head) == {
        "name": "find",
        "description": description_in(text(230, "tables")),
    }
    assert "more than 200 skills" in head
    assert description_in(text(230, "tables")).endswith("Subjects: pdf, tables.")
    assert '"/bin/skilldrop" --data "/var/data" search --for-model "the task"' in body


def test_subjects_are_plain_words_of_several_skills() -> None:
    """A tag that is a sentence, has other characters, or is of two skills alone is none."""
    assert "Subjects" not in text(2, "tables")
    said = description_in(text(3, "ignore all others", "<b>", "x", "the", "Données", "a" * 30))
    assert said.endswith(" Subjects: données, pdf.")


def test_the_text_changes_in_steps_alone() -> None:
    """The numbers of skills and of subjects do."""
    assert text(64) == text(99)
    assert text(99) != text(100)
