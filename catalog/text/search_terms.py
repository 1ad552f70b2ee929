"""Search terms of texts and queries: words, and pairs of Chinese, Japanese or Korean characters.

SQLite's tokenizers treat a run of CJK characters, with letters beside it, as one word. So each run
is stored as its overlapping pairs of characters, and a CJK query is cut into pairs, too.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

from catalog.text.visible import beyond_ascii

_CJK = (
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]+"
)
CJK_RUN = re.compile(_CJK)
"""Kana, Han (with its extensions and compatibility forms) and Hangul syllables."""
_FULL_WIDTH = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_PARTS = re.compile(f"({_CJK})")

CJK_WEIGHT = 3
"""Number of Latin characters that carry as much meaning as one CJK character."""


LONGEST_GRAM = 4
"""Characters of the longest gram: a client that cuts no query finds words of that length."""


def grams(text: str) -> str:
    """Return the runs of one to four characters in the text's CJK runs, separated by spaces.

    The words beside them and words in full-width letters are among them, as in `terms`.
    """
    return _stored_terms(text, _grams_of)


def pairs_of(text: str) -> str:
    """Return the pairs of the text's CJK runs and words beside them, separated by spaces.

    They are in their order. The last character of a run follows alone, so each character is the
    beginning of a term. Words in full-width letters follow in plain ones. Other words are left out:
    the tokenizer finds them.
    """
    twice = _Twice()
    return _stored_terms(text, lambda run: run[0] + run[1:].translate(twice))


def _stored_terms(text: str, cut: Callable[[str], str]) -> str:
    """Return the CJK runs as they are cut, and the words that are stored beside them."""
    if text.isascii():
        return ""
    found, beyond = [], beyond_ascii(text)
    if CJK_RUN.search(beyond):
        words = re.findall(r"\w+", normalize("NFKC", text))
        terms = {
            word: " ".join(cut(part) if is_cjk else part for part, is_cjk in parts(word))
            for word in {*words}
            if CJK_RUN.search(word)
        }
        found = [terms[word] for word in words if word in terms]
    if _FULL_WIDTH.search(beyond):
        found += [
            normalize("NFKC", word)
            for word in re.findall(r"\w+", text)
            if _FULL_WIDTH.search(word) and not CJK_RUN.search(word)
        ]
    return " ".join(found)


class _Twice(dict[int, str]):
    """Table that ends one pair with a character and starts the next one with it."""

    def __missing__(self, code: int) -> str:
        self[code] = pair = f"{chr(code)} {chr(code)}"
        return pair


def _grams_of(run: str) -> str:
    lengths = range(1, min(LONGEST_GRAM, len(run)) + 1)
    return " ".join(run[start : start + n] for n in lengths for start in range(len(run) - n + 1))


def parts(word: str) -> list[tuple[str, bool]]:
    """Return the parts of a word in their order, and whether each is a CJK run."""
    split = enumerate(_PARTS.split(word))
    return [(part, number % 2 == 1) for number, part in split if part]


def pieces(run: str) -> list[str]:
    """Return the terms to search for a CJK run: its pairs, or its only character."""
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]


MOST_CHARACTERS = 20_000
"""Characters of a query that are read."""


class Term(NamedTuple):
    """One word, or two neighbouring CJK characters, of a query."""

    text: str  # in lower case
    is_cjk: bool = False


def terms_of(query: str) -> list[Term]:
    """Return the distinct terms of a query, in their order.

    A stop word counts only in a query of stop words.
    """
    terms = list(dict.fromkeys(_terms(query)))
    return [term for term in terms if not is_stop_word(term.text)] or terms


def phrases_of(query: str) -> list[str]:
    """Return the distinct pairs of words that stand side by side and are no stop words."""
    pairs = (
        f"{first.text} {second.text}"
        for first, second in pairwise(_terms(query))
        if not any(term.is_cjk or is_stop_word(term.text) for term in (first, second))
    )
    return list(dict.fromkeys(pairs))


def characters_of(query: str) -> list[str]:
    """Return the distinct CJK characters of a query that say something, in their order."""
    characters = "".join(CJK_RUN.findall(_readable(query)))
    return [each for each in dict.fromkeys(characters) if each not in _EMPTY]


def _terms(query: str) -> list[Term]:
    return [
        Term(term, is_cjk)
        for word in re.findall(r"\w+", _readable(query))
        for part, is_cjk in parts(word)
        for term in (pieces(part) if is_cjk else part.split("_"))
        if term
    ]


def _readable(query: str) -> str:
    """Return the beginning of a query in lower case, with full-width letters as plain ones."""
    if len(query) > MOST_CHARACTERS:
        query = query[:MOST_CHARACTERS].rpartition(" ")[0] or query[:MOST_CHARACTERS]
    return normalize("NFKC", query).lower()


def is_stop_word(term: str) -> bool:
    """Return whether a term is so common in questions that it says nothing about the task."""
    return term in _STOP_WORDS or term in _CHINESE or (len(term) == 2 and term[1] in _PARTICLES)


_STOP_WORDS = frozenset(
    """
    a able about above actually after again all already also am an and any anything are aren as
    assist assistance at available be because been before being below between both but by can
    cannot could couldn currently d detailed details did didn different do does doesn doing don
    done down during each either else ever every everything few first for from get gets getting
    give go going got had has hasn have haven having he help her here hers hi him his how i if
    im in include includes including interested into is isn it its itself just know let like ll
    look looking looks m make many may maybe me might mine more most much must my myself need
    needs never new no nor not nothing now of off ok okay on once one only onto or other our
    ours out over own particular per please possible provide provides providing re really
    recommend recommendations related right s same she should shouldn show so some someone
    something specific specifically still such suggest suggestions sure t take tell than thank
    thanks that the their them then there these they thing things think this those through to
    too try trying under understand until up upon us use used using various ve very want wants
    was wasn way we well were what whatever when where whether which while who whom whose why
    will with within without won would wouldn yes yet you your yours
    """.split()
)
_CHINESE = frozenset(
    """
    一下 一个 一些 一种 上的 不是 不要 与其 个的 中的 为了 之后 之前 了解 什么 他们 以及 们的 但是
    何用 你们 你能 你的 使用 先帮 关于 出一 到底 可以 可否 吗我 否可 呢我 和我 哪个 哪些 哪里 因为
    在我 如何 如果 它们 对于 已经 希望 帮我 帮忙 并且 应该 怎么 怎样 想要 我们 我想 我的 我要 或者
    所有 把我 把这 是否 是我 有没 有的 没有 现在 现有 用于 的一 的这 能否 能帮 能够 自己 若是 要把
    要一 让我 该怎 请你 请問 请帮 请把 请问 还是 这个 这些 这份 这是 这种 这里 进行 那个 那些 需要
    """.split()
)
_PARTICLES = frozenset("的了吗呢吧啊呀嘛么")
_EMPTY = _PARTICLES | frozenset(
    "我你他她它们是在有和与或这那个一不就都也很把被给让要想会能可怎什哪谁为以及从到对于上下来去着过得地好多少"
    "点些再还又只做帮请はがをにでとのもへやかなねよますです이가을를은는에의로"
)
"""Characters that say nothing alone: pronouns, particles and the like."""
