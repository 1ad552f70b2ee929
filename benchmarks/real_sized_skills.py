"""Generated skill folders with the sizes and the mixture of texts of real ones.

The lengths, the parts of a text and their frequency are those of 486 published skills: about 13 KB
of SKILL.md, and 21 KB of text in references, scripts and data beside it. The words and their
frequency are from the table of word rarity, so nothing outside the repository is read. The same
seed gives the same bytes.
"""

import json
import math
import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

_TABLE = Path(__file__).parents[1] / "catalog/prompt_index/word_rarity.txt"
_RARITIES = [line.split() for line in _TABLE.read_text("utf-8").splitlines()]
_WORDS = [word for _, *words in _RARITIES for word in words]
_WEIGHTS = list(
    accumulate(
        2 ** (-1.1 * float(rarity)) * (4 if rarity == "0.0" else 1)
        for rarity, *words in _RARITIES
        for _ in words
    )
)
"""Frequency in the texts: as that of real skills, in which common words are repeated."""
_LONG = [word for word in _WORDS if len(word) > 3 and word.isascii()]
_LANGUAGES = ("bash", "bash", "python", "json", "yaml", "")
_LINES = {
    "bash": (
        "# 6",
        '1="$(cat "${HOME}/2/1.json" | jq -r .2)"',
        "curl -fsSL https://2.example.com/1 -o 2.json",
        "pip install 2==0.4.0 && 1 --2 80",
        "if [ -f ./1.yaml ]; then rm -rf ./2; fi",
        'echo "6" >&2 || exit 3',
    ),
    "python": (
        "def 1(2: str) -> dict:",
        '    """6."""',
        "    # 6",
        '    1 = 2.get("1", 80)',
        "    for 1 in 2.items():",
        '        print(f"6: {2}")',
        "    return 1[0] if 2 else None",
        "",
    ),
    "json": ('  "1": "6",', '  "2": 80,', '  "1": {'),
    "yaml": ("1:", "  2: 6", "  - 1: 80", "  # 6"),
    "": ("1 → 2 (80)", "  ├── 1/2.md", "6"),
}
"""Forms of lines by language; 1 and 2 are names, 6 is six words."""
_SPANS = ("1", "1", "1.2()", "<1>", "1 --2", "src/1/2.ts")


def make_real_sized_skills(root: Path, count: int, seed: int = 7) -> None:
    """Write `count` skill folders below root, in groups of 100."""
    rng = random.Random(seed)
    for number in range(count):
        name = f"{_identifier(rng, '-')}-{number:06d}"
        _Skill(rng).write(root / f"group-{number // 100:04d}" / name)


def sentences(count: int, words: int, seed: int = 11) -> Iterator[str]:
    """Yield different sentences of that many words, as frequent as in the texts."""
    rng = random.Random(seed)
    seen: set[str] = set()
    while len(seen) < count:
        text = " ".join(_words(rng, words))
        if text not in seen:
            seen.add(text)
            yield text


def _words(rng: random.Random, count: int) -> list[str]:
    return rng.choices(_WORDS, cum_weights=_WEIGHTS, k=count)


def _identifier(rng: random.Random, between: str = "_") -> str:
    """Return a name of two words, which few other texts have."""
    return between.join(rng.choices(_LONG, k=2))


class _Skill:
    """One skill: its files refer to each other."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        kinds = (("references", "md", 2.8), ("scripts", "py", 0.6), ("scripts", "sh", 0.4))
        self.files = [
            f"{folder}/{_identifier(rng)}.{ending}"
            for folder, ending, mean in (*kinds, ("assets", "json", 0.5), ("assets", "yaml", 0.4))
            for _ in range(int(mean + rng.random()))
        ]

    def write(self, folder: Path) -> None:
        """Write the files."""
        about = f"{self.sentence(16)} {self.sentence(14)} Use when the user asks to "
        description = json.dumps(about + " ".join(_words(self.rng, 12)))
        head = f"name: {folder.name}\ndescription: {description}\nlicense: Apache-2.0\n"
        meta = f"metadata:\n  author: {_identifier(self.rng)}\n  version: 1.0.{len(self.files)}\n"
        written = {
            "SKILL.md": f"---\n{head}{meta}---\n\n{self.page(self.size(11_500))}",
            **{file: self.text(file.rpartition(".")[2]) for file in self.files},
        }
        for path, text in written.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")

    def size(self, median: int) -> int:
        return min(60_000, int(median * math.exp(self.rng.gauss(0, 0.5))))

    def text(self, ending: str) -> str:
        """Return the text of a file beside SKILL.md."""
        if ending == "md":
            return self.page(self.size(3_700))
        language = {"py": "python", "sh": "bash"}.get(ending, ending)
        lines, size = ["#!/usr/bin/env " + language] * (ending in ("py", "sh")), self.size(4_000)
        while size > 0:
            lines += self.code(language, 12)
            size -= sum(map(len, lines[-12:]))
        return "\n".join(lines) + "\n"

    def page(self, size: int) -> str:
        """Return a Markdown text with links to files of the skill."""
        parts = [f"# {self.title()}"]
        parts += [
            f"See [{self.title()}]({file})." for file in self.files if self.rng.random() < 0.6
        ]
        size -= sum(map(len, parts))
        kinds = (self.paragraph, self.items, self.table, self.fence, self.heading)
        while size > 0:
            (kind,) = self.rng.choices(kinds, weights=(22, 16, 6, 9, 30))
            parts.append(kind())
            size -= len(parts[-1]) + 2
        return "\n\n".join(parts) + "\n"

    def heading(self) -> str:
        return f"{'#' * self.rng.choice((2, 2, 3, 3, 4))} {self.title()}\n\n{self.sentence(12)}"

    def title(self) -> str:
        return " ".join(_words(self.rng, self.rng.randint(1, 5))).title()

    def paragraph(self) -> str:
        return " ".join(self.sentence(self.rng.randint(6, 22)) for _ in range(3))

    def items(self) -> str:
        return "\n".join(
            f"- **{self.title()}** — {self.sentence(self.rng.randint(3, 14))}" for _ in range(5)
        )

    def table(self) -> str:
        rows = [f"| {self.span()} | {self.sentence(7)} |" for _ in range(self.rng.randint(2, 8))]
        return "\n".join([f"| {self.title()} | {self.title()} |", "|---|---|", *rows])

    def fence(self) -> str:
        language = self.rng.choice(_LANGUAGES)
        lines = self.code(language, self.rng.randint(3, 16))
        return "\n".join([f"```{language}", *lines, "```"])

    def sentence(self, words: int) -> str:
        """Return a sentence; every ninth word is code, every 150th a link."""
        parts = _words(self.rng, words)
        for place in range(words):
            luck = self.rng.random()
            if luck < 0.065:
                parts[place] = self.span()
            elif luck < 0.069:
                parts[place] = f"[{parts[place]}]({self.target()})"
            elif luck < 0.09:
                parts[place] += self.rng.choice((",", " —", " →", ":", " (e.g.", '"', "'s"))
        return " ".join(parts).capitalize() + "."

    def target(self) -> str:
        one, two = _identifier(self.rng, "."), _identifier(self.rng, "/")
        web = f"https://{one}.example.com/{two}"
        return self.rng.choice([*self.files[:1], *self.files[-1:], web, f"#{one}"])

    def span(self) -> str:
        path = self.files[-1] if self.files else "README.md"
        return f"`{self.filled(self.rng.choice((*_SPANS, path)))}`"

    def code(self, language: str, lines: int) -> list[str]:
        forms = _LINES.get(language, _LINES[""])
        return [self.filled(self.rng.choice(forms)) for _ in range(lines)]

    def filled(self, form: str) -> str:
        """Return a text with other names and words instead of 1, 2 and 6."""
        one, two = _identifier(self.rng), _identifier(self.rng)
        text = form.replace("1", one).replace("2", two)
        return text.replace("6", " ".join(_words(self.rng, 6))) if "6" in form else text
