import json
import re
from pathlib import Path
from typing import Any

import pytest

from catalog.model.finding import Finding
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.cli.output.sarif import sarif
from pipeline.parsing.codes import YAML_TAG
from pipeline.roots.codes import SKILL_MD_TWICE
from tests.support.skills import SkillWriter


def run_of(*judged: Judgement) -> dict[str, Any]:
    """Return the one run of the log, after a check of the rest."""
    log = json.loads("\n".join(sarif(judged)))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    return dict(run)


def result_of(found: Finding, path: str = "a", text: str = "") -> dict[str, Any]:
    """Return the one result of a finding."""
    (result,) = run_of(Judgement(path, "a", False, True, (found,), "SKILL.md", text))["results"]
    return dict(result)


def test_a_log_has_what_the_standard_requires(tmp_path: Path, skill: SkillWriter) -> None:
    """Tool, rules and results are of the types and values that SARIF 2.1.0 names."""
    skill(tmp_path / "Bad_Name", more="colour: red\nshape: @round")
    skill(tmp_path / "good")
    run = run_of(*judge_paths([Path("Bad_Name"), Path("good")], profiles=["spec"]))
    driver = run["tool"]["driver"]
    assert driver["name"] == "skilldrop"
    assert run["columnKind"] == "unicodeCodePoints"
    assert len(run["results"]) >= 4
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "Bad_Name/SKILL.md", "uriBaseId": "%SRCROOT%"}
        assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
        assert place["region"]["startLine"] >= 1
        assert place["region"].get("startColumn", 1) >= 1


def test_every_rule_has_its_help() -> None:
    """Code scanning shows the meaning of a rule and the advice, with or without a finding."""
    rules = run_of()["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(REGISTRY)
    for rule in rules:
        kind = REGISTRY[rule["id"]]
        assert rule["shortDescription"]["text"] == kind.summary
        assert kind.fix in rule["help"]["text"]
        assert kind.source in rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in {"note", "warning", "error"}


def test_without_skills_the_log_has_no_results() -> None:
    """A clean run closes the open alerts."""
    assert run_of()["results"] == []


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("skills/会议", "skills/%E4%BC%9A%E8%AE%AE/SKILL.md"),
        ("a b#c?d%e", "a%20b%23c%3Fd%25e/SKILL.md"),
        ("http:x", "http%3Ax/SKILL.md"),
        (r"caf\xe9\\", "caf%E9%5C/SKILL.md"),
        ("/abs/é", "file:///abs/%C3%A9/SKILL.md"),
        (".", "SKILL.md"),
    ],
)
def test_a_path_is_a_uri(path: str, uri: str) -> None:
    """Percent-encoded bytes of the real name, relative to the run unless it was absolute."""
    location = result_of(SKILL_MD_TWICE.at(), path)["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == uri
    assert ("uriBaseId" in location["artifactLocation"]) == (not path.startswith("/"))
    assert re.fullmatch(r"[\w%./:-]+", uri, re.ASCII)
    assert "region" not in location


def test_a_fingerprint_follows_its_line() -> None:
    """It stays if lines are inserted above, and differs for another line, code or skill."""

    def fingerprint(text: str, line: int, code: str = "yaml-invalid", path: str = "a") -> str:
        found = REGISTRY[code].at(path="SKILL.md", line=line)
        return str(result_of(found, path, text)["partialFingerprints"]["primaryLocationLineHash"])

    assert fingerprint("---\nx: y\n", 2) == fingerprint("---\n\n\nx: y\n", 4)
    others = {
        fingerprint("---\nx: y\n", 2),
        fingerprint("---\nx: z\n", 2),
        fingerprint("---\nx: y\n", 2, "yaml-alias"),
        fingerprint("---\nx: y\n", 2, path="b"),
    }
    assert len(others) == 4


def test_equal_findings_have_different_fingerprints() -> None:
    """Two findings of one code on equal lines are two alerts."""
    found = tuple(YAML_TAG.at(path="SKILL.md", line=line) for line in (1, 2))
    run = run_of(Judgement("a", "a", False, True, found, "SKILL.md", "x\nx\n"))
    first, second = (
        result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]
    )
    assert first.partition(":")[0] == second.partition(":")[0]
    assert first != second
