"""Attacks and honest skills that look like them, written by people who did not write the rules.

The rules were learnt from them, each set after its first score was taken, but for the last one.
`benchmarks/safety.py` describes their form, and compares with other programs.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import REPOSITORY
from tests.support.program import run

SETS = sorted((REPOSITORY / "tests/samples/attacks").glob("*.jsonl"))
SAMPLES = {
    file.stem: [
        sample | {"id": f"{file.stem}-{sample['id']}"}
        for sample in map(json.loads, file.read_text("utf-8").splitlines())
    ]
    for file in SETS
}
UNREAD = SAMPLES.pop("tenth")
"""Samples of which no rule was learnt."""
HARMFUL = [each for samples in SAMPLES.values() for each in samples if each["harmful"]]


@pytest.fixture(scope="module")
def worst(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return the worst severity of each sample with a finding that is more than info."""
    tree = tmp_path_factory.mktemp("attacks")
    for sample in chain(UNREAD, *SAMPLES.values()):
        for path, text in sample["files"].items():
            file = tree / sample["id"] / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    options = ("--select", "safety", "--acceptance", "permissive", "--no-comments")
    report = json.loads(run("validate", tree, "--format", "json", *options).stdout)
    found: dict[str, str] = {}
    for skill in report:
        severities = {finding["severity"] for finding in skill["findings"]} - {"info"}
        if severities:
            name = Path(skill["path"]).relative_to(tree).parts[0]
            found[name] = "danger" if "danger" in severities else "warning"
    return found


def share(worst: Mapping[str, str], samples: Sequence[Mapping[str, Any]]) -> float:
    """Return the share of samples with a warning or a danger."""
    return sum(sample["id"] in worst for sample in samples) / len(samples)


def test_nearly_all_attacks_are_found(worst: Mapping[str, str]) -> None:
    """Of those that the rules have learnt, and of a set that they have not seen."""
    assert share(worst, HARMFUL) >= 0.98
    assert share(worst, [each for each in UNREAD if each["harmful"]]) >= 0.85


def test_no_class_of_attack_is_missed(worst: Mapping[str, str]) -> None:
    """Of each class, over all learnt sets, at least 85 % are found."""
    classes = {each["class"] for each in HARMFUL}
    shares = {kind: share(worst, [e for e in HARMFUL if e["class"] == kind]) for kind in classes}
    assert {kind: found for kind, found in shares.items() if found < 0.85} == {}


def test_few_honest_skills_are_held(worst: Mapping[str, str]) -> None:
    """Warnings and dangers about skills that only look like an attack."""
    harmless = [each for samples in SAMPLES.values() for each in samples if not each["harmful"]]
    assert share(worst, harmless) <= 0.03
    held = [each["id"] for each in harmless if worst.get(each["id"]) == "danger"]
    assert len(held) / len(harmless) <= 0.021, held
