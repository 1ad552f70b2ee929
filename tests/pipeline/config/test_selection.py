"""Selection of findings by code, profile, path and severity."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from catalog.model.finding import Finding
from pipeline.config.selection import (
    CodeSelection,
    ValidateConfig,
    ValidateSettings,
    comments_in,
    of_profiles,
    of_settings,
)
from pipeline.dialects.registry import FINDING_TYPES

BY_CODE = {kind.code: kind for kind in FINDING_TYPES}


def selected(folder: Path, *options: tuple[str, ...], **settings: object) -> CodeSelection:
    """Return the selection of options (select, ignore) and settings."""
    config = ValidateConfig(ValidateSettings.model_validate(settings), folder)
    keys = ("select", "ignore")
    return of_settings(config, ValidateSettings(**dict(zip(keys, options, strict=False))))


def finding(code: str, path: str | None = "SKILL.md") -> Finding:
    """Return a finding of a code."""
    return BY_CODE[code].at(path=path)


@pytest.mark.parametrize(
    ("settings", "reported", "left_out"),
    [
        ({}, {"name-not-folder", "description-short"}, {"sandbox-missing"}),
        ({"select": ["spec"]}, {"name-not-folder"}, {"description-short", "byte-order-mark"}),
        ({"select": ["name-not-folder"]}, {"name-not-folder"}, {"name-missing"}),
        ({"ignore": ["spec"]}, {"description-short"}, {"name-not-folder", "name-missing"}),
        (
            {"select": ["advice", "name-missing"], "ignore": ["spec"]},
            {"name-missing"},
            {"name-not-folder"},
        ),
        ({"select": ["all"], "ignore": ["name-missing"]}, {"name-not-folder"}, {"name-missing"}),
        ({"select": ["advice"]}, {"folder-unreadable", "yaml-invalid"}, set()),
        ({"select": ["advice"], "ignore": ["yaml-invalid"]}, set(), {"yaml-invalid"}),
    ],
)
def test_a_code_takes_precedence_over_its_profile(
    tmp_path: Path, settings: dict[str, list[str]], reported: set[str], left_out: set[str]
) -> None:
    """Rejections in every root are reported unless they are ignored."""
    codes = selected(tmp_path, **settings).codes
    assert reported <= codes
    assert codes.isdisjoint(left_out)


def test_the_command_line_replaces_the_selectors_of_the_file(tmp_path: Path) -> None:
    """`--select` takes back what the file ignores; `--ignore` alone adds to it."""
    file = {"ignore": ["name-missing"]}
    assert "name-missing" in selected(tmp_path, ("spec",), **file).codes
    codes = selected(tmp_path, (), ("name-not-folder",), **file).codes
    assert codes.isdisjoint({"name-missing", "name-not-folder"})


def test_only_profiles_with_a_selected_code_run(tmp_path: Path) -> None:
    """One code of a profile is enough."""
    assert selected(tmp_path, ("name-missing",)).profiles == ("spec",)
    assert "safety" in selected(tmp_path, ("name-missing", "instruction-override")).profiles
    assert of_profiles(["advice"]).profiles == ("spec", "advice")


def test_findings_below_a_path_can_be_left_out(tmp_path: Path) -> None:
    """Patterns are relative to the folder of the file, and match folders and files."""
    selection = selected(tmp_path, **{"per-path-ignores": {"old/": ["spec"], "*.txt": ["advice"]}})
    folder = str(tmp_path.resolve())
    some = [finding("name-missing"), finding("description-short"), finding("name-missing", None)]

    def codes(path: str) -> list[str]:
        return [f.code for f in selection.apply(some, f"{folder}/{path}", "SKILL.md")]

    assert codes("old/a") == codes("x/old/a") == ["description-short"]
    assert codes("new/a") == [f.code for f in some]


def test_a_severity_can_be_changed(tmp_path: Path) -> None:
    """That of a code takes precedence over that of its profile."""
    selection = selected(tmp_path, severity={"spec": "warning", "name-missing": "info"})
    changed = selection.apply(
        [finding("name-missing"), finding("name-not-folder"), finding("description-short")], "", ""
    )
    assert [f.severity for f in changed][:2] == ["info", "warning"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ignore": ["name-mising"]}, "ignore names 'name-mising'"),
        ({"severity": {"saftey": "info"}}, "severity names 'saftey'"),
        ({"per-path-ignores": {"a": ["spek"]}}, "per-path-ignores, \"a\", names 'spek'"),
    ],
)
def test_an_unknown_selector_is_refused_with_the_nearest(
    tmp_path: Path, settings: dict[str, object], message: str
) -> None:
    """The sentence names the key."""
    with pytest.raises(ValidationError, match=r"the nearest is (name-missing|safety|spec)") as info:
        selected(tmp_path, **settings)
    assert message in str(info.value)


TEXT = """---
# skilldrop: ignore=name-not-folder
name: other
description: x # skilldrop: ignore=description-short
---
A line. <!-- skilldrop: ignore=reference-missing, spec -->

<!-- skilldrop: ignore=instruction-override -->

The next line.
<!-- skilldrop: ignore-file=body-long -->
"""


def test_a_comment_is_about_its_line_the_next_one_or_the_skill() -> None:
    """Alone on a line, it is about the next line that is not empty."""
    ignores = comments_in(TEXT.replace("body-long", "safety"))
    assert set(ignores.by_line) == {3, 4, 6, 10}
    assert ignores.by_line[3] == {"name-not-folder"}
    assert {"reference-missing", "name-missing"} <= ignores.by_line[6]
    assert "instruction-override" in ignores.everywhere
    assert not ignores.problems


def test_an_unknown_code_in_a_comment_is_told_with_the_nearest() -> None:
    """Other codes of the comment still count."""
    ignores = comments_in("a <!-- skilldrop: ignore=name-mising,name-missing -->\n")
    assert ignores.by_line == {1: {"name-missing"}}
    (problem,) = ignores.problems
    assert problem.startswith("1: the comment names 'name-mising', which is neither a code nor")
    assert problem.endswith("; the nearest is name-missing.")
    assert comments_in("<!-- skilldrop: skip=spec -->").problems
