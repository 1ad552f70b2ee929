"""Language of a text by its script, for the `lang` attribute: it decides fonts and voices."""

import re
from functools import lru_cache

from markupsafe import Markup

EXAMINED = 4_000
"""Characters of a text that are examined: the first ones."""
MOSTLY = 0.3
"""Part of the letters that must be of the script; each of them says more than a Latin one."""
SOME_KANA = 0.05
"""Part of kana among the characters from which a text is Japanese."""

_KANA = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile(r"[A-Za-z]")


@lru_cache(maxsize=4_096)
def of_text(text: str) -> str:
    """Return "zh", "ja" or "ko" for a text that is mostly Chinese, Japanese or Korean, else ""."""
    if text.isascii():
        return ""
    head = text[:EXAMINED]
    kana, hangul, han, latin = (
        len(script.findall(head)) for script in (_KANA, _HANGUL, _HAN, _LATIN)
    )
    total = kana + hangul + han
    if total < MOSTLY * (total + latin):
        return ""
    if hangul * 2 > total:
        return "ko"
    return "ja" if kana >= SOME_KANA * total and kana else "zh" if total else ""


def attribute(text: str | None) -> Markup:
    """Return the attribute for an element that holds a text, with a space before it; or nothing."""
    language = of_text(text[:EXAMINED]) if text else ""
    return Markup(' lang="{}"').format(language) if language else Markup("")
