"""Bodies of skills with known similarity."""

import random

_WORDS = (
    "table column report invoice customer region query index deploy release branch review schema"
    " field token header request response latency error retry queue worker batch archive backup"
    " restore policy secret audit metric alert chart page form describe compare permission complete"
).split()
_CHINESE = "将会议录音文字稿整理成纪要并列出决定与待办事项负责人期限数据表格报告部署检查错误查询"


def made_body(seed: int, words: int = 1000, *, is_chinese: bool = False) -> str:
    """Return a text that depends on the seed, with ten words in a line."""
    rng = random.Random(seed)
    if is_chinese:
        return "\n".join("".join(rng.choices(_CHINESE, k=30)) + "。" for _ in range(words // 10))
    return "\n".join(" ".join(rng.choices(_WORDS, k=10)) + "." for _ in range(words // 10))


def edited(body: str, share: float, seed: int = 1) -> str:
    """Return a body in which this share of the lines has one other word or character."""
    rng = random.Random(seed)
    lines = body.split("\n")
    for number in rng.sample(range(len(lines)), round(share * len(lines))):
        line = lines[number]
        at = rng.randrange(len(line))
        lines[number] = f"{line[:at]}改{line[at + 1 :]}"
    return "\n".join(lines)
