"""Table of word rarity in catalog/text, counted in collections of skills.

Each argument is a folder of skills, one collection. The frequency of a word is the share of skills
whose description or instructions contain it, averaged over the collections, so that none of them
outweighs the others. Words of a single collection are its jargon and stay out.

    python benchmarks/word_rarity.py COLLECTION COLLECTION > catalog/prompt_index/word_rarity.txt
"""

import argparse
import math
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

_LETTERS_FIRST = re.compile(r"[^\W\d_]\w*")
LEAST_FREQUENCY = 0.01
"""Words in fewer skills are all as rare as a word can be."""


def main() -> None:
    """Count the words of each collection, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("collections", nargs="+", type=Path, help="folder of skills")
    collections = [_frequencies(folder) for folder in parser.parse_args().collections]
    by_rarity: dict[float, list[str]] = defaultdict(list)
    for word in sorted(set().union(*collections)):
        shares = [frequencies.get(word, 0.0) for frequencies in collections]
        mean = sum(shares) / len(shares)
        if mean >= LEAST_FREQUENCY and sum(map(bool, shares)) >= min(2, len(shares)):
            by_rarity[round(-2 * math.log2(mean)) / 2].append(word)
    for rarity, words in sorted(by_rarity.items()):
        print(rarity, *words)


def _frequencies(folder: Path) -> dict[str, float]:
    """Return the share of a collection's skills that contain each word."""
    counts: Counter[str] = Counter()
    skills = sorted(folder.rglob("SKILL.md"))
    if not skills:
        sys.exit(f"{folder} contains no skills.")
    for skill in skills:
        text = skill.read_text(encoding="utf-8", errors="replace").lower()
        counts.update(set(_LETTERS_FIRST.findall(text)))
    return {word: count / len(skills) for word, count in counts.items()}


if __name__ == "__main__":
    main()
