"""Words of the frontmatter that a search finds."""

import pytest

from catalog.model.skill import SkillRecord
from pipeline.validation.search_words import MOST_CHARACTERS
from tests.pipeline.validation.test_verdict import verdict


def words(fields: str) -> tuple[str, ...]:
    """Return the search words of a skill with these fields."""
    record = verdict(f"---\nname: pdf\ndescription: Reads PDF.\n{fields}---\n# Use\n\nRun it.\n")
    assert isinstance(record, SkillRecord)
    return record.search_words


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("", ()),
        ("keywords: [a, b]\ntags: [c]\n", ("a", "b")),
        ("category: office\ndomain: finance\n", ("office", "finance")),
        ("when_to_use: After a meeting.\n", ("After a meeting.",)),
        ("triggers: [sum a bill]\n", ("sum a bill",)),
        ("triggers:\n  phrases: [sum a bill]\n  intents: [bill_sum]\n", ("sum a bill", "bill_sum")),
        ("capabilities: [reading]\n", ("reading",)),
        ("abp:\n  tools:\n    - name: convert-units\n", ("convert-units",)),
        ("metadata:\n  domain: ai-ml\n  languages: [bash]\n  owner: x\n", ("ai-ml", "bash")),
        ("metadata:\n  triggers:\n    phrases: [hey, you]\n", ("hey", "you")),
        ("metadata: text\n", ()),
    ],
)
def test_words_that_a_system_declares_are_searched(fields: str, found: tuple[str, ...]) -> None:
    """Those of Claude Code, of each dialect and of the free metadata; no other values."""
    assert words(fields) == found


def test_a_skill_cannot_fill_the_index_with_its_keywords() -> None:
    """Words beyond the limit are left out."""
    listed = ", ".join(f"word{number:06}" for number in range(1000))
    assert sum(map(len, words(f"keywords: [{listed}]\n"))) <= MOST_CHARACTERS
