from collections import Counter
from pathlib import Path

import pytest

from catalog.record import Acceptance
from pipeline.validate import Judgement, judge_paths

SAMPLES = Path(__file__).parent / "samples" / "apexbridge"


def judged(folder: Path, acceptance: Acceptance) -> list[Judgement]:
    """Return the judgements of the packages in a folder."""
    return list(judge_paths([folder], acceptance=acceptance, profiles=["apexbridge"]))


def codes(judgement: Judgement) -> Counter[str]:
    """Return how often each finding is made, without what every package has."""
    return Counter(f.code for f in judgement.findings if f.code != "field-not-in-specification")


@pytest.mark.parametrize("name", ["weather-query", "unit-converter"])
@pytest.mark.parametrize("acceptance", ["strict", "lenient"])
def test_a_good_package_is_loadable_and_has_no_finding(name: str, acceptance: Acceptance) -> None:
    """One of each protocol, with everything that the format has."""
    (only,) = judged(SAMPLES / "good" / name, acceptance)
    assert (only.name, only.loadable, codes(only)) == (name, True, Counter())


def test_the_documented_package_is_loadable_with_its_findings() -> None:
    """ApexBridge's own examples miss what its table requires: lenient loads them, strict not."""
    (lenient,) = judged(SAMPLES / "lenient", "lenient")
    (strict,) = judged(SAMPLES / "lenient", "strict")
    assert (lenient.loadable, strict.loadable) == (True, False)
    assert codes(lenient) == codes(strict) == {
        "required-field-missing": 6, "permissions-outdated": 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wrong-fields", {
            "required-field-missing": 1, "field-malformed": 5, "version-not-semantic": 1,
            "package-type-unknown": 1, "protocol-unknown": 1, "triggers-empty": 1,
            "schema-invalid": 1, "schema-dialect-unknown": 1, "schema-reference-outside": 1,
            "security-value-unknown": 2, "security-incomplete": 1, "permissions-outdated": 1,
            "resource-outside-folder": 1, "resource-missing": 1, "section-missing": 6,
        }),
        ("wrong-tools", {
            "field-malformed": 3, "schema-invalid": 1, "allowlist-missing": 1, "tool-twice": 1,
            "tool-incomplete": 1,
        }),
        ("wrong-files", {"entry-missing": 1, "resource-missing": 1, "code-outside-scripts": 1}),
    ],
)
def test_a_bad_package_has_all_its_findings_at_once(
    name: str, expected: dict[str, int]
) -> None:
    """Nothing that is wrong hides what else is; lenient loads it, strict does not."""
    (lenient,) = judged(SAMPLES / "bad" / name, "lenient")
    (strict,) = judged(SAMPLES / "bad" / name, "strict")
    assert codes(lenient) == expected
    assert (lenient.loadable, strict.loadable) == (True, False)
