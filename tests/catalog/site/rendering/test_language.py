"""Languages of texts by their script."""

import pytest

from catalog.site.rendering import language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Counts words.", ""),
        ("", ""),
        ("把会议录音整理成纪要。", "zh"),
        ("SwiftUI の状態管理とナビゲーションのベストプラクティス。", "ja"),
        ("문서의 단어 수를 셉니다.", "ko"),
        ("Renders 中文 in a long English description of a skill.", ""),
        ("Café ñandú über", ""),
    ],
)
def test_a_text_is_of_the_language_that_most_of_it_is(text: str, expected: str) -> None:
    """A few foreign words do not change it."""
    assert language.of_text(text) == expected
    assert language.attribute(text) == (f' lang="{expected}"' if expected else "")
