"""Characters per skill in each index format, and the error of the token estimate.

    uv run --with litellm --with tiktoken --with tokenizers python benchmarks/index_sizes.py SKILLS

SKILLS is a folder of real skills. The vocabularies are files in litellm's wheel, and nothing else
of it is used. Without it the columns with counted tokens are missing. Nothing is fetched at run
time.
"""

import argparse
import importlib.util
import os
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from skills_ref.prompt import to_prompt

from catalog.prompt_index import builder
from catalog.prompt_index import query as prompt_index_query
from catalog.prompt_index.formats.form import Candidate
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec
from catalog.text import tokens
from catalog.text.search_terms import CJK_RUN
from pipeline.config import loader
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once

BASE = "/var/lib/skilldrop/packages"
Counter = Callable[[str], int]


def main() -> None:
    """Scan the skills, then print the tables."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place:
        settings = loader.load(None, arguments.skills, Path(place))
        settings = settings.model_copy(update={"settle_quiet": 0.0})
        store = open_store(settings)
        scan_once(settings, store)
        spec = IndexSpec(format="semibot", location_base=BASE)
        skills = [_packaged(skill) for skill in prompt_index_query.ranked(store.db, spec)]
        texts = [
            row["skill_md_content"]
            for row in store.db.query("SELECT skill_md_content FROM version_contents")
        ]
        store.close()
    counters = {"estimated": tokens.estimate} | _counters()
    _print_sizes(skills, arguments.skills, counters)
    _print_semibot(skills, counters)
    _print_errors(
        {
            "descriptions": [skill.description for skill in skills],
            "index texts": [
                builder.build(IndexSpec(format=form, budget_chars=10**7), skills).text
                for form in FORMATS
            ],
            "SKILL.md": texts,
            "SKILL.md, a tenth Chinese or more": [t for t in texts if _share(t) >= 0.1],
        },
        counters,
    )
    _print_fit(skills)


def _packaged(skill: Candidate) -> Candidate:
    return replace(
        skill, follows_pattern=True, location=f"{BASE}/{skill.skill_id}/current/SKILL.md"
    )


def _print_sizes(skills: list[Candidate], folder: Path, counters: Mapping[str, Counter]) -> None:
    described = statistics.mean(len(skill.description) for skill in skills)
    print(f"\n{len(skills)} skills, {described:.0f} characters of description each on average\n")
    print(f"| form | characters a skill | {' | '.join(f'{name} tokens' for name in counters)} |")
    print("|---" * (len(counters) + 2) + "|")
    for form in FORMATS:
        spec = IndexSpec(format=form, budget_chars=10**7, location_base=BASE)
        index = builder.build(spec, skills)
        _print_row(f"`{form}`", index.text, len(skills), counters)
    names = "\n".join(skill.name for skill in skills)
    _print_row("a name only", names, len(skills), counters)
    lines = "".join(f"- {s.name}: {s.description} (file: {s.location})\n" for s in skills)
    _print_row("one line with path", lines, len(skills), counters)
    folders = _readable(folder)
    _print_row("the reference library's XML", to_prompt(folders), len(folders), counters)


def _print_semibot(skills: list[Candidate], counters: Mapping[str, Counter]) -> None:
    spec = IndexSpec(format="semibot", location_base=BASE, budget_chars=10**7)
    texts = [_only_entry(builder.build(spec, [skill]).text) for skill in skills]
    print("\n`semibot`, of whose entries its specification expects 50 to 100 tokens\n")
    print(f"| characters a skill | {' | '.join(f'{name} tokens' for name in counters)} |")
    print("|---" * (len(counters) + 1) + "|")
    cells = []
    for counter in counters.values():
        counted = [counter(text) for text in texts]
        within = sum(50 <= count <= 100 for count in counted)
        cells.append(
            f"{statistics.mean(counted):.0f}, median {statistics.median(counted):.0f}, "
            f"{within} of {len(counted)} within"
        )
    print(f"| {statistics.mean(map(len, texts)):.0f} | {' | '.join(cells)} |")


def _only_entry(index: str) -> str:
    return index.removeprefix("<available_skills>\n").partition("</available_skills>\n")[0]


def _readable(folder: Path) -> list[Path]:
    """Return the folders that the reference library can read."""
    folders = []
    for skill_md in sorted(folder.rglob("SKILL.md")):
        try:
            to_prompt([skill_md.parent])
        except Exception as error:  # noqa: BLE001  # unreadable skills are not compared
            print(
                f"(the reference library cannot read {skill_md.parent.name}: "
                f"{type(error).__name__})"
            )
        else:
            folders.append(skill_md.parent)
    return folders


def _print_row(name: str, text: str, count: int, counters: Mapping[str, Counter]) -> None:
    counted = " | ".join(f"{counter(text) / count:.0f}" for counter in counters.values())
    print(f"| {name} | {len(text) / count:.0f} | {counted} |")


def _print_errors(groups: Mapping[str, list[str]], counters: Mapping[str, Counter]) -> None:
    counted = {name: counter for name, counter in counters.items() if name != "estimated"}
    if not counted:
        return
    print(
        "\nEstimate against count: all texts together, and the middle nine tenths of single texts\n"
    )
    print(f"| text | number | {' | '.join(counted)} |")
    print("|---" * (len(counted) + 2) + "|")
    for name, texts in groups.items():
        cells = " | ".join(_error(texts, counter) for counter in counted.values())
        print(f"| {name} | {len(texts)} | {cells} |")


def _error(texts: list[str], counter: Counter) -> str:
    counts = [counter(text) for text in texts]
    estimates = [tokens.estimate(text) for text in texts]
    ratios = sorted(e / c - 1 for e, c in zip(estimates, counts, strict=True))
    edge = len(ratios) // 20
    return (
        f"{sum(estimates) / sum(counts) - 1:+.0%} "
        f"({ratios[edge]:+.0%} to {ratios[len(ratios) - 1 - edge]:+.0%})"
    )


def _print_fit(skills: list[Candidate]) -> None:
    print("\n300 skills, made by repeating these under new names, in 16,000 characters\n")
    print("| format, overflow | included | in full | shortened | by name only | left out |")
    print("|---|---|---|---|---|---|")
    many = [
        replace(s, name=f"{s.name}-{turn}", skill_id=f"{s.skill_id}-{turn}")
        for turn in range(-(-300 // len(skills)))
        for s in skills
    ][:300]
    for form in FORMATS:
        for overflow in ("fit", "exclude"):
            spec = IndexSpec(format=form, overflow=overflow, location_base=BASE)
            index = builder.build(spec, many)
            print(
                f"| {form}, {overflow} | {len(index.entries)} | {index.count('full')} | "
                f"{index.count('shortened')} | {index.count('name_only')} | {index.left_out} |"
            )


def _share(text: str) -> float:
    return sum(map(len, CJK_RUN.findall(text))) / max(1, len(text))


def _counters() -> dict[str, Counter]:
    """Return real tokenizers by name, from vocabularies in a wheel that is never imported."""
    home = importlib.util.find_spec("litellm")
    if home is None or not home.submodule_search_locations:
        return {}
    import tiktoken
    from tokenizers import Tokenizer

    folder = Path(home.submodule_search_locations[0], "litellm_core_utils", "tokenizers")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)  # contains cl100k under its name in the cache
    cl100k = tiktoken.get_encoding("cl100k_base")
    claude, deepseek = (
        Tokenizer.from_file(str(folder / f"{name}_tokenizer.json"))
        for name in ("anthropic", "deepseek")
    )
    return {
        "Claude": lambda text: len(claude.encode(text, add_special_tokens=False).ids),
        "cl100k": lambda text: len(cl100k.encode_ordinary(text)),
        "DeepSeek": lambda text: len(deepseek.encode(text, add_special_tokens=False).ids),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skills", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
