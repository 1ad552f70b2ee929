"""Realistic skill folders generated from a seed; the same seed gives the same bytes."""

import json
import random
from pathlib import Path

_WORDS = (
    "table column row value report invoice customer region query index cache deploy release branch"
    " review schema field token header request response latency error retry queue worker batch file"
    " folder archive backup restore user role policy secret audit metric alert chart page form test"
).split()
_VERBS = ("Reads", "Checks", "Converts", "Summarises", "Compares", "Plans", "Writes", "Sorts")
_CHINESE = "将会议录音文字稿整理成纪要并列出决定与待办事项负责人期限数据表格报告部署检查错误查询"


def make_skills(root: Path, count: int, seed: int = 7) -> None:
    """Write `count` skill folders of five files below root, in groups of 100."""
    rng = random.Random(seed)
    for number in range(count):
        group = root / f"group-{number // 100:04d}"
        make_skill(group / f"{rng.choice(_WORDS)}-{rng.choice(_WORDS)}-{number:06d}", rng)


def directories(count: int) -> int:
    """Return how many directories `make_skills` makes, with its root."""
    return 1 + -(-count // 100) + 4 * count


def make_sparse_skills(root: Path, count: int, seed: int = 7) -> None:
    """Write `count` skills of one file of 200 bytes below root, in groups of 1,000."""
    rng = random.Random(seed)
    for number in range(count):
        folder = root / f"group-{number // 1000:04d}" / f"skill-{number:07d}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            f"---\nname: {folder.name}\ndescription: {sentence(rng)}\n---\n\n{sentence(rng, 20)}\n"
        )


def make_skill(folder: Path, rng: random.Random) -> None:
    """Write one skill of five files: about 6 KB of SKILL.md, and 4 KB in the others."""
    for sub in ("scripts", "references", "assets"):
        (folder / sub).mkdir(parents=True)
    chinese = rng.random() < 0.1
    description = (
        _chinese(rng, 60)
        if chinese
        else (
            f"{rng.choice(_VERBS)} {sentence(rng)} Takes a {rng.choice(_WORDS)} and gives a "
            f"{rng.choice(_WORDS)}. Use when asked about a {rng.choice(_WORDS)}."
        )
    )
    sections = "\n".join(
        f"## {sentence(rng, 4)}\n\n{_paragraph(rng, chinese)}\n"
        for _ in range(rng.choice((3, 6, 8, 8, 10, 16)))
    )
    (folder / "SKILL.md").write_text(
        f"---\nname: {folder.name}\ndescription: {description}\nlicense: Apache-2.0\n"
        f"metadata:\n  author: team-{rng.randrange(40)}\n---\n\n# {sentence(rng, 3)}\n\n"
        f"{sections}\nSee [the guide](references/guide.md).\n",
        encoding="utf-8",
    )
    steps = "\n".join(f"print({sentence(rng)!r})" for _ in range(20))
    (folder / "scripts" / "run.py").write_text(f"{steps}\n")
    (folder / "scripts" / "run.sh").write_text("#!/bin/sh\nexec python run.py\n")
    (folder / "references" / "guide.md").write_text(f"# Guide\n\n{_paragraph(rng, False)}\n")
    (folder / "assets" / "fields.json").write_text(
        json.dumps({rng.choice(_WORDS): rng.random() for _ in range(20)})
    )


def _paragraph(rng: random.Random, chinese: bool) -> str:
    text = " ".join(sentence(rng) for _ in range(12))
    return f"{text}\n{_chinese(rng, 80)}" if chinese else text


def sentence(rng: random.Random, words: int = 9) -> str:
    """Return a sentence of that many words."""
    return f"{' '.join(rng.choices(_WORDS, k=words))}.".capitalize()


def _chinese(rng: random.Random, chars: int) -> str:
    return "".join(rng.choices(_CHINESE, k=chars)) + "。"
